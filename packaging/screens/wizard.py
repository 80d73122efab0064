"""Pictures of the wizard: every step, what it refuses, and the goals there are."""

from __future__ import annotations

from pathlib import Path

from assaypilot.gui.dialogs.new_campaign import NewCampaign
from screens.photographer import Photographer
from screens.tables import NOISE

__all__ = ["at_goal", "bad_tables", "checked", "create", "one_endpoint", "trade_off"]

HOSTILE = (
    "Name;R1;R2;IC50 (nM)\n<b>CPD_$1_$2%</b>;Me;H;35\nB-2;;Cl;n.d.\nB-3;Et;Cl;>10000\nB-3;Me;Cl;12\n"
    "B-4;Et;H;abc\n=SUM(A1);Et;Cl;7,5\n"
)


def _open(at: Photographer) -> NewCampaign:
    at.window.new_campaign()
    wizard = at.window.wizard
    assert wizard is not None
    return wizard


def checked(at: Photographer, table: Path, name: str = "") -> NewCampaign:
    """The wizard at its check of a table, photographed with its columns when a name is given."""
    wizard = _open(at)
    wizard.start_with(table)
    at.until(lambda: wizard.table_step.complete, "the table")
    wizard.next.click()
    at.until(lambda: wizard.columns_step.complete, "the check")
    if name:
        at.shoot(name, wizard)
    wizard.next.click()
    at.settle()
    return wizard


def at_goal(at: Photographer, table: Path) -> NewCampaign:
    """The wizard at its last step."""
    wizard = checked(at, table)
    wizard.next.click()
    return wizard


def create(at: Photographer, wizard: NewCampaign) -> None:
    """Make the campaign that the wizard stands for."""
    before = at.window.session.view
    wizard.next.click()
    at.until(lambda: at.window.session.view is not before, "the campaign")
    at.settle()


def one_endpoint(at: Photographer, table: Path) -> None:
    """Pictures of the steps, and a campaign for all compounds within 0.5 of the best."""
    wizard = _open(at)
    at.shoot("wizard-0-empty", wizard)
    wizard.start_with(table)
    at.until(lambda: wizard.table_step.complete, "the table")
    at.shoot("wizard-1-table", wizard)
    wizard.next.click()
    at.until(lambda: wizard.columns_step.complete, "the check")
    at.shoot("wizard-2-columns", wizard)
    wizard.next.click()
    for view, name in (("findings", "check"), ("sites", "sites"), ("model", "model")):
        wizard.check_step.views.choose(view)
        at.shoot(f"wizard-3-{name}", wizard)
    wizard.next.click()
    at.shoot("wizard-4-missing", wizard)
    step = wizard.goal_step
    step.noise.edit.setText("a fifth")
    at.until(lambda: "number" in step.noise.note.text(), "the refusal")
    at.shoot("wizard-4-wrong", wizard)
    step.noise.edit.setText(str(NOISE))
    step.slack.edit.setText("0.5")
    step.per_round.edit.setText("96")
    step.budget.edit.setText("1200")
    at.until(lambda: step.complete, "the outlook")
    at.until(lambda: step.simulated.now is not None and not step.ahead.busy, "the forecast")
    at.shoot("wizard-4-goal", wizard)
    wizard.next.click()
    at.until(lambda: at.window.session.view is not None, "the campaign")


def trade_off(at: Photographer, table: Path) -> None:
    """Pictures of the last step for each goal, and a campaign for trade-offs with a limit."""
    wizard = at_goal(at, table)
    step = wizard.goal_step
    for key in ("best", "pareto"):
        step.goal.setCurrentIndex(step.goal.findData(key))
        at.shoot(f"wizard-4-{key}-missing", wizard)
    words = at.look.words
    for name, limit in ((words.first, ""), (words.second, "<5.5")):
        box = step.endpoints.box(name)
        assert box is not None
        box.noise.edit.setText(str(NOISE))
        box.margin.edit.setText("0.4")
        box.limit.edit.setText(limit)
        box.direction.setCurrentIndex(0 if name == words.first else 1)
    step.per_round.edit.setText("192")
    at.until(lambda: step.complete, "the goal")
    at.shoot("wizard-4-pareto", wizard)
    create(at, wizard)


def bad_tables(at: Photographer) -> None:
    """Pictures of a table that needs a decision, and of one that cannot be read."""
    path = at.work / "hostile.csv"
    path.write_text(HOSTILE, encoding="utf-8")
    wizard = NewCampaign(at.window.session, at.settings, at.window)
    wizard.open()
    wizard.start_with(path)
    at.until(lambda: wizard.table_step.complete, "the table")
    wizard.next.click()
    at.until(lambda: wizard.columns_step.result is not None, "the check")
    at.shoot("wizard-2-problems", wizard)
    wizard.reject()
    wizard = NewCampaign(at.window.session, at.settings, at.window)
    wizard.open()
    wizard.start_with(at.work / "missing.csv")
    at.until(lambda: not wizard.table_step.problem.isHidden(), "the refusal")
    at.shoot("wizard-0-error", wizard)
    wizard.reject()
