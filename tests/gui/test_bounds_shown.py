"""Compounds of which only bounds are known, in the window: never empty, never a number that nothing holds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from pytestqt.qtbot import QtBot

from assaypilot.engine.campaign.reasons.reasons import Reasons
from assaypilot.engine.export.answer import FrontPicture, RankedPicture
from assaypilot.engine.export.pictures import measured
from assaypilot.engine.export.structure_activity import look
from assaypilot.engine.figures.palette import LIGHT
from assaypilot.gui.candidates.candidate_panel import details
from assaypilot.gui.candidates.candidate_rows import CandidatesModel
from assaypilot.gui.plots.candidates import CandidatesScene
from assaypilot.gui.plots.heat import HeatScene
from assaypilot.gui.plots.trust import PredictionScene
from tests.engine.campaign.making import answers, make
from tests.engine.campaign.test_bounds import WIDE


def test_a_compound_known_only_as_a_bound_is_shown_as_one_everywhere(qtbot: QtBot, tmp_path: Path) -> None:
    with make(tmp_path / "x.assaypilot", **WIDE) as campaign:
        campaign.plan()
        told = [replace(one, value=5.0, relation="<") if "R2=C" in one.compound else one for one in answers(campaign)]
        campaign.record(told, close=True)
        status = campaign.status()
        reasons = Reasons(campaign._ledger, status)
    model = CandidatesModel()
    model.show(status)
    columns = {column.key: column for column in model.columns}
    ids, made = status.library.ids, {one.compound for one in told}
    assert "R1=B|R2=C" in made
    cut = ids.index("R1=B|R2=C")
    exact = next(k for k, name in enumerate(ids) if "R2=C" not in name and name in made)
    assert (columns["estimate"].text(cut), columns["measured"].text(cut)) == ("<5.0", "<5.0")
    assert columns["measured"].kind is not None
    assert columns["measured"].kind(cut) is None
    assert float(columns["estimate"].text(exact)) > 5.0
    assert "in decisions as the bound itself" in columns["estimate"].tip
    said = dict(details(status, cut))
    assert said["Estimate"] == "<5.0 pIC50, known from bounds alone"
    assert said["95 % interval"].startswith("below ")
    assert said["95 % interval"].endswith(", informs only")
    assert said["Measured"].startswith("<5.00")
    why = reasons.of(cut)
    assert "Nothing but bounds tells of it: it lies below 5.00" in why.why
    assert "of each bound the bound itself" in why.why
    assert why.values[0].note == "a bound, counted in estimates, decided by as it is"
    assert "bounds" not in reasons.of(exact).why.split(".")[0]
    scene = HeatScene(look(status, 0), (0, 1), {}, by_effect=False, selected=None)
    row, column = (int(code) for code in status.library.codes[cut])
    words = scene.cell(row, column).text
    assert "pIC50 below 5.00" in words
    assert "1 compound, 1 of them measured, only as a bound (<5.0)" in words
    header, rows = scene.table()
    assert header[5:7] == ["only as bounds", "relation of the mean"]
    assert {tuple(line[5:7]) for line in rows} == {(0, "="), (1, "<")} | (
        {(0, "<")} if len([n for n in ids if "R2=C" in n and n not in made]) else set()
    )
    picture = RankedPicture(status, cut, lambda: LIGHT)
    figure = picture.draw((8.0, 3.0), 80.0)
    triangles = [line for line in figure.axes[0].lines if line.get_marker() == "v" and len(line.get_xdata())]
    assert sum(len(line.get_xdata()) for line in triangles) == 3
    place = picture.place(cut, 0.0)
    assert place is not None
    assert place[1] == 5.0


def test_predictions_hold_bounds_against_what_the_others_say(tmp_path: Path) -> None:
    with make(tmp_path / "x.assaypilot", **WIDE) as campaign:
        campaign.plan()
        told = answers(campaign)
        first = told[0].compound
        campaign.record(
            [replace(one, value=5.0, relation="<") if one.compound == first else one for one in told], close=True
        )
        status = campaign.status()
    found = look(status, 0)
    place = status.library.ids.index(first)
    assert found.bounds.rows.tolist() == [place]
    assert (found.bounds.limit.tolist(), found.bounds.side.tolist()) == ([5.0], [-1])
    assert place not in found.rows
    assert float(found.bounds.predicted[0]) == float(measured(status, 0).fit.means(found.bounds.rows)[0])
    scene = PredictionScene(found, place)
    last = scene.point(int(scene.order[-1]), 0)
    assert last.compound == place
    assert "measured only as <5.00" in last.text
    assert "SD" not in last.text
    header, rows = scene.table()
    assert header[3] == "relation"
    assert [row[3] for row in rows] == ["="] * found.rows.size + ["<"]
    target = scene.at(1, last.x, 5.0 - last.x, (0.01, 0.01))
    assert target is not None
    assert target.compound == place
    triangles = [line for line in scene.draw(LIGHT, (8.0, 4.0), 80.0).axes[0].lines if line.get_marker() == "v"]
    assert [line.get_ydata().tolist() for line in triangles] == [[5.0]]


def test_without_bounds_the_table_behind_predictions_has_no_relations(tmp_path: Path) -> None:
    with make(tmp_path / "x.assaypilot", **WIDE) as campaign:
        campaign.plan()
        campaign.record(answers(campaign), close=True)
        found = look(campaign.status(), 0)
    assert found.bounds.rows.size == 0
    assert "relation" not in PredictionScene(found, None).table()[0]


def test_a_compound_that_only_bounds_hold_is_a_triangle_among_trade_offs(tmp_path: Path) -> None:
    with make(tmp_path / "x.assaypilot", **WIDE) as campaign:
        campaign.plan()
        campaign.record(
            [replace(one, value=5.0, relation="<") if "R2=C" in one.compound else one for one in answers(campaign)],
            close=True,
        )
        status = campaign.status()
    name = status.endpoints[status.objective].name
    twice = replace(status, goal_endpoints=(status.objective, status.objective))
    picture = FrontPicture(twice, None, lambda: LIGHT)
    figure = picture.draw((8.0, 3.0), 80.0)
    open_ = np.flatnonzero(status.candidates.open_sides[name])
    for pointing in "<v":
        drawn = [line for line in figure.axes[0].lines if line.get_marker() == pointing and len(line.get_xdata())]
        assert sum(len(line.get_xdata()) for line in drawn) == open_.size > 0
    place = picture.place(int(open_[0]), 0.0)
    assert place is not None
    assert place[0] == status.candidates.open_ends[name][open_[0]]
    scene = CandidatesScene(status, None)
    scene.draw(LIGHT, (8.0, 3.0), 80.0)
    said = scene.target(int(open_[0]))
    assert said is not None
    assert f"{name} <" in said.text, "never a number that nothing holds"
