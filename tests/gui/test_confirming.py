"""The confirmation round in the window: the one button, the round, what lies outside, by word and sign."""

import numpy as np
import pytest

from assaypilot.engine.domain.library import Library, Site
from tests.gui.helpers import copied, made, open_round, returned, status, wait_for

SITES = (("R1", 5), ("R2", 4), ("R3", 4))


def truth(library):
    """A sum of effects."""
    rng = np.random.default_rng((5, 0))
    effects = [rng.uniform(0.0, 1.0, n) for _, n in SITES]
    return 6.0 + sum(effect[library.codes[:, k]] for k, effect in enumerate(effects))


def finished(folder):
    """A campaign at its end, with compounds that are in and were never measured."""
    library = Library.product([Site(name, tuple(f"s{j}" for j in range(n))) for name, n in SITES])
    rng, means = np.random.default_rng(1), truth(library)
    path = folder / "done.assaypilot"
    with made(path, library, epsilon=0.8, slack=0.8, per_round=150, strategy="adaptive") as campaign:
        while campaign.plan() is not None:
            campaign.record(returned(campaign, lambda at, _: float(means[at] + 0.2 * rng.normal())), close=True)
        assert len(campaign.status().confirmation.due) > 2
    return path


@pytest.fixture
def ended(qtbot, open_window, tmp_path):
    return open_window(copied(tmp_path, finished))


def plan(qtbot, window):
    """Press the one button."""
    window.strip.primary.click()
    wait_for(qtbot, window, lambda: status(window).open_round is not None)


def enter(qtbot, window, off, lines=None):
    """Type what the assay says into the first lines of the round, through its cells."""
    page, means = window.round, truth(status(window).library)
    for line, item in enumerate(open_round(window).items[:lines]):
        page.values.enter(line, 0, f"{means[item.compound] + off.get(item.compound, 0.0):.2f}")
        wait_for(qtbot, window, lambda line=line: open_round(window).came > line)


def texts(window):
    """What the column Confirmed says, by compound; empty cells left out."""
    model = window.candidates.model
    place = model.place_of("confirmed")
    column = model.columns[place]
    return {row: column.text(row) for row in range(len(status(window).library)) if column.text(row)}


def shown(window):
    """The captions and values of the Candidates panel."""
    return dict(window.candidates.panel.details.rows)


def test_primary_button_plans_and_shows_the_confirmation_round(qtbot, ended):
    window = ended
    due = status(window).confirmation.due
    assert window.strip.primary.text() == "Plan confirmation round"
    assert f"{len(due)} to measure" in window.strip.primary.toolTip()
    assert window.actions_.confirm.isEnabled()
    assert not window.actions_.plan.isEnabled()
    assert "confirmed" not in [column.key for column in window.candidates.model.columns]
    plan(qtbot, window)
    assert window.page is window.round
    assert window.round.title.text() == f"Confirmation round {open_round(window).number}"
    assert tuple(item.compound for item in open_round(window).items) == due
    assert window.strip.primary.text() == "Enter results"
    assert not window.actions_.confirm.isEnabled()
    rows = dict(window.round.panel.details.rows)
    prediction = open_round(window).predicted[0]
    assert rows["Predicted"] == f"{prediction.low:.2f} – {prediction.high:.2f}"
    assert rows["Confirmed"] == "… not measured yet"
    assert rows["Why"] == "in, never measured"
