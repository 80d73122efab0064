"""An audit round from the Round menu to the statement of what was missed."""

import numpy as np

from assaypilot.engine.domain.library import Library, Site
from assaypilot.engine.domain.measurements import Result
from tests.gui.helpers import made, status, wait_for


def measured(path):
    """A campaign under the series model after its first round."""
    library = Library.product([Site("R1", tuple("ABCDEF")), Site("R2", tuple("KLMNO"))])
    rng = np.random.default_rng(2)
    with made(path, library, slack=0.25, per_round=12, strategy="gaussian-process") as campaign:
        issued = campaign.plan()
        names = [library.ids[item.compound] for item in issued.items]
        campaign.record([Result(name, 6.0 + float(rng.standard_normal())) for name in names], close=True)
    return path


def test_audit_round_is_planned_with_the_size_chosen_and_stated_on_the_goal_page(qtbot, open_window, tmp_path):
    window = open_window(measured(tmp_path / "a.assaypilot"))
    assert window.actions_.audit.isEnabled()
    window.actions_.audit.trigger()
    dialog = window.round_commands.auditing
    dialog.size_box.setValue(3)
    few = dialog.bound.text()
    dialog.size_box.setValue(10)
    assert "at most" in few
    assert dialog.bound.text() != few
    dialog.go.click()
    wait_for(qtbot, window, lambda: status(window).open_round is not None)
    issued = status(window).open_round
    assert (issued.title, len(issued.items)) == ("Audit round 2", 10)
    assert not window.actions_.audit.isEnabled()
    names = [status(window).library.ids[item.compound] for item in issued.items]
    window.session.record([Result(name, 5.0) for name in names], lambda _: window.session.close_round())
    wait_for(qtbot, window, lambda: status(window).open_round is None)
    audit = status(window).claim.audit
    assert audit.sentence in window.statement.words.text()
    assert not window.statement.words.text().startswith("Guarantee")  # calibrated, not proven
