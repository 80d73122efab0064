"""Pictures of campaigns with more to say: stock and plans, noise not known, plates, effects that do not add up."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QScrollArea, QWidget

from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.domain.plates.layout import PlateUse, read_controls
from assaypilot.gui.window.main_window import CANDIDATES, GOAL, LIBRARY, ROUND, SAR
from screens.photographer import Photographer
from screens.tables import NOISE, Truth, beside_each_other, with_stock
from screens.wizard import checked, create

__all__ = ["further"]

CONTROL = "REF-1=1"


def further(at: Photographer) -> None:
    """Both campaigns."""
    table, truth = with_stock(at.work, at.look.words)
    _stocked_wizard(at, table)
    _plans(at)
    _plates(at, truth)
    _not_additive(at, beside_each_other(at.work, at.look.words))


def _stocked_wizard(at: Photographer, table: Path) -> None:
    """The steps of a table with stock, costs and times, for an assay of unknown noise on plates."""
    wizard = checked(at, table, "wizard-2-stock")
    wizard.next.click()
    step = wizard.goal_step
    box = step.endpoints.boxes[0]
    box.unknown.setChecked(True)
    step.slack.edit.setText("0.5")
    at.until(lambda: step.complete, "the goal")
    at.shoot("wizard-4-unknown", wizard)
    step.controls.edit.setText("REF-1 = 7,1")
    _to(step.controls)
    at.until(lambda: step.complete, "the goal")
    at.shoot("wizard-4-controls", wizard)
    create(at, wizard)


def _plans(at: Photographer) -> None:
    """The Goal page before anything is measured, the three plans, and what the one chosen waits for."""
    window = at.window
    _goal(at, "goal-unknown")
    window.show_page(LIBRARY)
    at.shoot("library-stock")
    window.plan()
    choice = window.round.choice
    at.until(choice.isVisible, "the plans")
    at.shoot_now("round-choice-simulating")
    at.until(lambda: all("end: about" in c.go.accessibleName() for c in choice.cards.values()), "the plans' ends")
    at.shoot("round-choice")
    window.round.choice.cards["fastest"].go.click()
    at.until(lambda: at.view.status.open_round is not None, "the round")
    window.show_page(ROUND)
    at.shoot("round-orders")


def _plates(at: Photographer, truth: Truth) -> None:
    """The Round page with controls: empty, typed, wrong, and one value known only as a bound."""
    window, page = at.window, at.window.round
    use = PlateUse(96, read_controls([CONTROL]))
    window.work_lists.keep(use, lambda: window.work_lists.to(at.work / "wells.csv", use))
    at.until(lambda: "written" in window.messages.text, "the work list")
    window.messages.clear()
    _to(page.controls)
    at.shoot("round-controls-empty")
    for number, text in enumerate(("7.0; 7.2; 7.3; 6.9", "seven")):
        fields = list(page.controls.fields.values())
        if number < len(fields):
            fields[number].edit.setText(text)
            fields[number].edit.returnPressed.emit()
            at.settle()
    _to(page.controls)
    at.shoot("round-controls")
    first, second, *others = at.results(truth)
    at.record([Result(first.compound, 5.0, first.endpoint, "<"), second])
    page.table.choose(0, "result")
    at.shoot("round-bound")
    at.record(others)
    at.close_round()
    window.show_page(CANDIDATES)
    at.shoot("candidates-stock")
    _goal(at, "goal-noise-estimated")


def _not_additive(at: Photographer, table: Path) -> None:
    """A series of which two sites act together: taken together in the wizard, and what is said where they are not."""
    wizard = checked(at, table)
    sites = wizard.check_step.sites
    wizard.check_step.views.choose("sites")
    at.settle()
    sites.together.click()
    at.until(lambda: "(1)" in sites.heading.text(), "two sites taken together")
    at.shoot("wizard-3-together", wizard)
    wizard.reject()
    wizard._leave()
    wizard = checked(at, table)
    wizard.next.click()
    step = wizard.goal_step
    step.noise.edit.setText(str(NOISE))
    step.slack.edit.setText("0.5")
    at.until(lambda: step.complete, "the goal")
    create(at, wizard)
    window = at.window
    _goal(at, "goal-not-additive")
    _to(window.goal.offers)
    at.shoot("goal-offers")
    for page, name in ((SAR, "sar-not-additive"), (CANDIDATES, "candidates-not-additive")):
        window.show_page(page)
        at.shoot(name)
    window.strip.badge.click()
    at.shoot("statement")
    window.strip.badge.click()


def _goal(at: Photographer, name: str) -> None:
    """The Goal page, once it is known what the campaign will take."""
    page = at.window.goal
    at.window.show_page(GOAL)
    at.until(lambda: not (page.ahead.busy or page.other.busy), "the forecast")
    at.shoot(name)


def _to(widget: QWidget) -> None:
    """Bring a part of a page that scrolls into sight."""
    above = widget.parentWidget()
    while above is not None and not isinstance(above, QScrollArea):
        above = above.parentWidget()
    if isinstance(above, QScrollArea):
        QTest.qWait(60)
        above.ensureWidgetVisible(widget, 0, 20)
