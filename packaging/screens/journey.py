"""The order in which the pages are photographed: one campaign to its confirmed shortlist, and one for trade-offs."""

from __future__ import annotations

from assaypilot.gui.window.main_window import CANDIDATES, ROUND, SAR
from screens import answers, goal, rounds, wizard
from screens.photographer import Photographer
from screens.tables import benzamides, two_endpoints

__all__ = ["journey", "tour", "trade_offs"]

MOST_ROUNDS = 16


def journey(at: Photographer) -> None:
    """Every page and dialog, from the start to the confirmed shortlist."""
    window = at.window
    at.shoot("start")
    table, truth = benzamides(at.work, at.look.words)
    wizard.one_endpoint(at, table)
    at.shoot("library")
    goal.other_settings(at)
    for page, name in ((ROUND, "round-none"), (CANDIDATES, "candidates-before"), (SAR, "sar-before")):
        window.show_page(page)
        at.shoot(name)
    rounds.first_round(at, truth)
    at.close_round()
    window.show_page(CANDIDATES)
    at.shoot("candidates-mid")
    for number in range(MOST_ROUNDS):
        if not at.plan():
            break
        if number == 0:
            rounds.questioned(at, truth)
        else:
            at.record(at.results(truth))
        at.close_round()
    answers.decided(at)
    answers.replay(at)
    goal.seen(at, "goal-decided")
    answers.relations(at)
    answers.confirmation(at, truth)
    answers.read_only(at)
    answers.help_and_about(at)
    wizard.bad_tables(at)
    tour(at)


def tour(at: Photographer) -> None:
    """The first steps of the guided tour, in a window of their own."""
    first = at.window
    at.window = at.open()
    at.window.tour.start()
    at.until(lambda: at.window.session.view is not None, "the practice campaign")
    for step in range(5):
        at.window.tour.show_step(step)
        at.shoot(f"tour-{step + 1}")
    at.window.close()
    at.window = first


def trade_offs(at: Photographer) -> None:
    """A campaign for trade-offs with a limit, from its wizard to its front."""
    table, truths = two_endpoints(at.work, at.look.words)
    wizard.trade_off(at, table)
    window = at.window
    goal.seen(at, "trade-off-goal")
    window.show_page(CANDIDATES)
    at.shoot("trade-off-candidates-before")
    at.plan()
    window.show_page(ROUND)
    first = 7
    at.record(at.results(*truths)[:first])
    at.shoot("trade-off-round")
    window.close_round()
    at.shoot("trade-off-close-round")
    window.closing.reject()
    at.record(at.results(*truths)[first:])
    at.close_round()
    window.show_page(CANDIDATES)
    at.shoot("trade-off-candidates-first")
    for _ in range(MOST_ROUNDS):
        if not at.plan():
            break
        at.record(at.results(*truths))
        at.close_round()
    window.show_page(CANDIDATES)
    window.candidates.which.choose("all")
    at.shoot("trade-off-candidates")
    answers.relations(at, "trade-off-sar")
