"""Pictures of values known only as bounds, and of the dialogs that change a campaign on its way."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.domain.plates.layout import PlateUse, read_controls
from assaypilot.gui.dialogs.begin_anew import GOAL as SECOND_GOAL
from assaypilot.gui.dialogs.begin_anew import LIMIT, EndpointDialog, TogetherDialog
from assaypilot.gui.dialogs.controls_later import ControlsDialog
from assaypilot.gui.dialogs.new_campaign import NewCampaign
from assaypilot.gui.window.main_window import CANDIDATES, GOAL, HISTORY, LIBRARY, ROUND, SAR
from screens.photographer import Photographer
from screens.tables import NOISE, benzamides, two_endpoints
from screens.wizard import at_goal, create

__all__ = ["bounds", "changed_later", "open_trade_offs"]

FLOOR = 7.2
"""Below this the assay says no more than that: every compound with the weakest substituent."""
WEAK = 6.55
WEAKEST = "tBu"
FEW = 30
NEWER = ("cPent", "SF5", "")
"""Substituents that no compound had before, and one that somebody forgot."""


def changed_later(at: Photographer) -> None:
    """Shoot a campaign changed by every dialog there is."""
    table, truth = benzamides(at.work, at.look.words)
    window = at.window
    wizard = at_goal(at, table)
    wizard.goal_step.endpoints.boxes[0].noise.edit.setText(str(NOISE))
    _create(at, wizard)
    window.show_page(GOAL)
    _compounds_later(at)
    _endpoint_later(at)
    _together(at)
    _controls_later(at)
    at.plan()
    use = PlateUse(96, read_controls(["REF-1=1"]))
    window.work_lists.keep(use, lambda: window.work_lists.to(at.work / "plates.csv", use))
    at.until(lambda: "written" in window.messages.text, "the work list")
    window.messages.clear()
    at.record(at.results(truth)[:FEW])
    window.show_page(ROUND)
    at.shoot("controls-later-round")
    window.show_page(HISTORY)
    at.shoot("controls-later-history")


def bounds(at: Photographer) -> None:
    """An assay that reaches no lower than some value: bounds in the table, the pictures and the panel."""
    table, truth = benzamides(at.work, at.look.words)
    wizard = at_goal(at, _floored(at, table))
    wizard.goal_step.endpoints.boxes[0].noise.edit.setText(str(NOISE))
    _create(at, wizard)
    window = at.window
    at.plan()
    at.record([_cut(at, one) for one in at.results(truth)])
    window.show_page(ROUND)
    line = next(k for k, values in enumerate(window.round.model.values) if any(one.relation != "=" for one in values))
    window.round.table.choose(line, "result")
    at.shoot("bounds-round")
    at.close_round()
    known = at.view.status.candidates
    alone = known.open_sides.get(at.view.status.endpoints[0].name)
    window.show_page(CANDIDATES)
    window.candidates.which.choose("all")
    if alone is not None and alone.any():
        window.candidates.select(int(alone.nonzero()[0][0]))
    at.shoot("bounds-candidates")
    window.show_page(LIBRARY)
    at.shoot("bounds-library")
    window.show_page(SAR)
    for key in ("map", "predictions", "contributions", "measurements"):
        window.sar.which.choose(key)
        at.shoot(f"bounds-sar-{key}")


def open_trade_offs(at: Photographer) -> None:
    """Trade-offs of which one endpoint is known of many compounds only as a bound."""
    table, truths = two_endpoints(at.work, at.look.words)
    wizard = at_goal(at, _floored(at, table))
    step = wizard.goal_step
    step.goal.setCurrentIndex(step.goal.findData("pareto"))
    words = at.look.words
    for name in (words.first, words.second):
        box = step.endpoints.box(name)
        assert box is not None
        box.noise.edit.setText(str(NOISE))
        box.margin.edit.setText("0.4")
        box.direction.setCurrentIndex(0 if name == words.first else 1)
    step.per_round.edit.setText("192")
    at.until(lambda: step.complete, "the goal")
    create(at, wizard)
    window = at.window
    at.plan()
    at.record([_cut(at, one) if one.endpoint == words.first else one for one in at.results(*truths)])
    at.close_round()
    status = at.view.status
    window.show_page(CANDIDATES)
    window.candidates.which.choose("all")
    sides = status.candidates.open_sides.get(words.first)
    if sides is not None and sides.any():
        window.candidates.select(int(sides.nonzero()[0][0]))
    at.shoot("bounds-trade-off")


# ------------------------------------------------------------------ the parts


def _create(at: Photographer, wizard: NewCampaign) -> None:
    step = wizard.goal_step
    step.slack.edit.setText("0.5")
    at.until(lambda: step.complete, "the goal")
    create(at, wizard)


def _compounds_later(at: Photographer) -> None:
    """More compounds from a table, one of them with no substituent at a site: what that does, before it is done."""
    window, table = at.window, at.work / "later compounds.csv"
    assert window.session.view is not None
    first, *others = window.session.view.status.library.sites
    rows = [["ID", first.name, *(site.name for site in others)]]
    rows += [[f"LATER-{k + 1}", label, *(site.substituents[k] for site in others)] for k, label in enumerate(NEWER)]
    with table.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    window.adding.read(table)
    at.until(lambda: window.adding.dialog is not None, "the table")
    dialog = window.adding.dialog
    assert dialog is not None
    at.until(dialog.go.isEnabled, "what follows")
    at.shoot("compounds-later", dialog)
    dialog.reject()


def _endpoint_later(at: Photographer) -> None:
    """One more endpoint: nothing typed, recorded, refused, with a limit, and as a second goal."""
    ways = at.window.goal.ways
    ways.ask_endpoint()
    dialog = ways.dialog
    assert isinstance(dialog, EndpointDialog)
    at.shoot("endpoint-later", dialog)
    dialog.name.setText(at.look.words.second)
    at.until(dialog.go.isEnabled, "what follows")
    at.shoot("endpoint-later-recorded", dialog)
    dialog.uses.button(LIMIT).setChecked(True)
    dialog.limit.setText("five")
    at.shoot("endpoint-later-wrong", dialog)
    dialog.limit.setText("<5")
    dialog.sd.setText(str(NOISE))
    at.until(dialog.go.isEnabled, "what follows")
    at.shoot("endpoint-later-limit", dialog)
    dialog.anew.setChecked(True)
    at.until(dialog.go.isEnabled, "what follows")
    at.shoot("endpoint-later-limit-anew", dialog)
    dialog.uses.button(SECOND_GOAL).setChecked(True)
    at.until(dialog.go.isEnabled, "what follows")
    at.shoot("endpoint-later-goal", dialog)
    dialog.reject()


def _together(at: Photographer) -> None:
    ways = at.window.goal.ways
    ways.ask_together()
    dialog = ways.dialog
    assert isinstance(dialog, TogetherDialog)
    at.until(dialog.go.isEnabled, "what follows")
    at.shoot("together", dialog)
    dialog.reject()


def _controls_later(at: Photographer) -> None:
    """Shoot one more control: as it is, refused, and applied."""
    window, ways = at.window, at.window.goal.ways
    window.show_page(GOAL)
    ways.ask_controls()
    dialog = ways.dialog
    assert isinstance(dialog, ControlsDialog)
    at.shoot("controls-later", dialog)
    dialog.controls.edit.setText("REF-1 = seven")
    at.shoot("controls-later-wrong", dialog)
    dialog.controls.edit.setText("REF-1 = 7,1")
    at.until(dialog.go.isEnabled, "what follows")
    at.shoot("controls-later-typed", dialog)
    dialog.go.click()
    at.until(lambda: "changed" in window.messages.text, "the change")
    at.shoot("controls-later-goal")
    window.messages.clear()


def _floored(at: Photographer, table: Path) -> Path:
    """The table without the earlier values of compounds with the weakest substituent."""
    with table.open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    start = head.index("R3") + 1
    weak = at.look.words.called(WEAKEST)
    path = table.with_name(f"{table.stem}, an assay that ends.csv")
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow(head)
        out.writerows([*row[:start], *([""] * len(row[start:]))] if weak in row[:start] else row for row in rows)
    return path


def _cut(at: Photographer, one: Result) -> Result:
    """A result as an assay has it that says of the weakest substituent, and of weak others, that they lie below."""
    if _first(at, one) == at.look.words.called(WEAKEST):
        return replace(one, value=FLOOR, relation="<")
    return replace(one, value=WEAK, relation="<") if one.value < WEAK else one


def _first(at: Photographer, one: Result) -> str:
    library = at.view.status.library
    place = library.ids.index(one.compound)
    return library.sites[0].substituents[int(library.codes[place, 0])]
