"""A difference of two endpoints in the window: named in a new campaign, shown on every page, typed nowhere."""

import itertools
import math

import numpy as np
import pytest

from assaypilot.engine.domain.endpoint import Endpoint, Limit
from assaypilot.engine.domain.library import Library
from assaypilot.engine.domain.measurements import Result
from assaypilot.gui.candidates.candidate_panel import details
from assaypilot.gui.candidates.candidate_rows import CandidatesModel
from assaypilot.gui.library.library_rows import history_means
from assaypilot.gui.round.pasting import intend_paste
from assaypilot.gui.window.export_dialog import shortlist_columns
from assaypilot.gui.window.page import PageName
from tests.gui.helpers import creation_of, idle, made, returned, status, until
from tests.gui.test_goals import box, choose_goal, opened, to_goal

LABELS = (("H", "Me", "Cl"), ("H", "OMe", "CF3"))
ROWS = list(itertools.product(*LABELS))
IDS = [f"C-{number}" for number in range(1, len(ROWS) + 1)]
LEVELS = {
    "pIC50": [6.0 + 0.8 * i + 0.3 * j for i, j in itertools.product(range(3), range(3))],
    "hERG IC50": [5.0 + 0.2 * i + 0.5 * j for i, j in itertools.product(range(3), range(3))],
}
POTENCY, HERG = Endpoint("pIC50", noise_sd=0.1), Endpoint("hERG IC50", "nM", "log", noise_sd=0.1)


def table(path):
    lines = ["ID,R1,R2,pIC50,hERG IC50 (nM)"]
    for place, (name, row) in enumerate(zip(IDS, ROWS, strict=True)):
        values = [f"{LEVELS['pIC50'][place]:.2f}", f"{10 ** (9 - LEVELS['hERG IC50'][place]):.0f}"]
        lines.append(f"{name},{','.join(row)},{','.join(values if place < 4 else ['', ''])}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def campaign_file(folder, *, rounds=30, limit="", objective="Gap"):
    whole = Endpoint("Gap", of=("pIC50", "hERG IC50"), limit=Limit.parse(limit) if limit else None)
    strategy, rounds = ("gaussian-process", min(rounds, 3)) if limit else ("proven", rounds)
    library = Library.listed(["R1", "R2"], [list(row) for row in ROWS], ids=IDS)
    rng = np.random.default_rng(2)
    scale = {one.name: one for one in (POTENCY, HERG)}
    history = [Result("C-1", 6.0, "pIC50"), Result("C-1", 1e4, "hERG IC50"), Result("C-2", 6.3, "pIC50")]
    path = folder / "gap.assaypilot"

    def value(compound, name):
        return scale[name].from_model(float(LEVELS[name][compound] + 0.1 * rng.standard_normal()))

    terms = {"objective": objective, "slack": 0.5, "per_round": 96, "strategy": strategy}
    with made(path, library, endpoints=(POTENCY, HERG, whole), history=history, **terms) as campaign:
        for _ in range(rounds):
            if campaign.plan() is None:
                break
            campaign.record(returned(campaign, value))
    return path


def pages(qtbot, window):
    for page in PageName:
        window.show_page(page)
        idle(qtbot, window)


@pytest.mark.parametrize(
    ("rounds", "limit", "objective"),
    [
        pytest.param(0, "", "Gap", marks=pytest.mark.slow),
        (30, "", "Gap"),
        pytest.param(30, ">1.2", "pIC50", marks=pytest.mark.slow),
    ],
)
def test_a_campaign_with_a_difference_is_shown_on_every_page(qtbot, window, tmp_path, rounds, limit, objective):
    opened(qtbot, window, campaign_file(tmp_path, rounds=rounds, limit=limit, objective=objective))
    now = status(window)
    pages(qtbot, window)
    model = CandidatesModel()
    model.show(now)
    keys = [column.key for column in model.columns]
    assert {"estimate", "interval", "measured"} <= set(keys)
    others = {"pIC50", "hERG IC50", "Gap"} - {objective}
    assert {f"estimate-{name}" for name in others} <= set(keys)
    assert set(shortlist_columns(now)) >= {key for key in keys if key.startswith(("estimate", "interval"))}
    rows = dict(details(now, 0))
    assert {"pIC50", "phERG IC50", "Gap"} <= set(rows)
    assert rows["Measured"]
    means = history_means(now, 2)
    assert means[0] == pytest.approx(1.0)
    assert np.isnan(means[1:]).all()


def test_a_pasted_column_of_differences_is_no_result(qtbot, window, tmp_path):
    opened(qtbot, window, campaign_file(tmp_path, rounds=0))
    window.session.plan()
    until(qtbot, lambda: status(window).open_round is not None)
    now = status(window)
    assert now.open_round is not None
    found = intend_paste("ID\tpIC50\tGap\nC-1\t6.1\t1.2", now, now.open_round, [0])
    assert [(result.endpoint, result.value) for result in found.results] == [("pIC50", 6.1)]
    found = intend_paste("C-1\t6.1\t9000\nC-2\t6.2\t8000", now, now.open_round, [0])
    assert [result.endpoint for result in found.results] == ["pIC50", "hERG IC50"] * 2


def test_a_difference_is_named_in_a_new_campaign(qtbot, window, tmp_path):
    step = to_goal(qtbot, window, table(tmp_path / "gap.csv"))
    creation = creation_of(window)
    step.endpoints.new.setText("Gap = pIC50 - CYP")
    step.endpoints.add.click()
    until(qtbot, lambda: bool(step.endpoints.add_problem.text()))
    assert step.endpoints.add_problem.text() == (
        "Gap must be one endpoint minus another, and 'pIC50 - CYP' is not; the endpoints are: pIC50, hERG IC50 (nM). "
        "For example Selectivity = pIC50 - hERG."
    )
    until(qtbot, lambda: creation.columns_pane.complete)
    step.endpoints.new.setText("Gap = pIC50 - phERG IC50")
    step.endpoints.add.click()
    until(qtbot, lambda: len(step.endpoints.boxes) == 3)
    assert "8 values" in step.history.text(), "the values of the two, not of their difference"
    choose_goal(step, "epsilon-best")
    step.objective.setCurrentIndex(step.objective.findData("Gap"))
    gap, first, second = box(step, "Gap"), box(step, "pIC50"), box(step, "hERG IC50 (nM)")
    assert gap.title.text() == "Gap = pIC50 - phERG IC50"
    assert (gap.measured, first.measured, second.measured) == (False, True, True)
    assert (gap.noise.isHidden(), first.noise.isHidden(), second.noise.isHidden()) == (True, False, False)
    first.noise.edit.setText("0.2")
    second.noise.edit.setText("0.3")
    step.epsilon.edit.setText("0.5")
    step.file.edit.setText(str(tmp_path / "gap.assaypilot"))
    until(qtbot, lambda: creation.complete)
    creation.create_button.click()
    until(qtbot, lambda: window.session.view is not None)
    now = status(window)
    assert [endpoint.name for endpoint in now.endpoints] == ["pIC50", "hERG IC50 (nM)", "Gap"]
    assert now.endpoints[2].of == ("pIC50", "hERG IC50 (nM)")
    assert now.endpoints[2].noise_sd == pytest.approx(math.hypot(*(one.noise_sd for one in now.endpoints[:2])))
    assert (now.objective, now.measured_endpoints) == (2, (0, 1))
    idle(qtbot, window)
