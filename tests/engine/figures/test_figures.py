"""Figures without a window: which compounds are drawn, what is said, and that texts of tables are only texts."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from rdkit.Chem import MolFromSmarts

from assaypilot.engine.figures.aligned import Aligned
from assaypilot.engine.figures.canvas import blank, legend
from assaypilot.engine.figures.front import Axis, front_plot, spread
from assaypilot.engine.figures.palette import LIGHT, MARKERS
from assaypilot.engine.figures.ranked import MOST_DRAWN, Cutoff, Spans, rank_compounds, ranked_intervals
from assaypilot.engine.figures.rounds import set_by_round
from tests.engine.figures.drawing import IN, LOST, OUT, UNDECIDED


def shown(estimate: np.ndarray, status: np.ndarray, half: float = 1.0, *more: Cutoff, **how: Any) -> Figure:
    """The figure of compounds whose bounds are ``half`` around their estimates."""
    spans = Spans(estimate, estimate - half, estimate + half, status)
    return ranked_intervals(rank_compounds(estimate, status), spans, *more, **how)


def table(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    estimate = np.random.default_rng(seed).normal(7.0, 0.6, n)
    status = np.full(n, OUT, dtype=np.int8)
    order = np.argsort(-estimate)
    status[order[: n // 20]] = IN
    status[order[n // 20 : n // 10]] = UNDECIDED
    return estimate, status


def test_the_best_are_drawn_and_the_axis_says_how_many_of_how_many() -> None:
    estimate, status = table(960)
    ranking = rank_compounds(estimate, status)
    assert ranking.compounds.tolist() == np.argsort(-estimate)[: ranking.compounds.size].tolist()
    assert ranking.compounds.size == MOST_DRAWN if MOST_DRAWN < 96 + 15 else 96 + 15
    figure = ranked_intervals(ranking, Spans(estimate, estimate - 0.2, estimate + 0.2, status))
    assert f"the {ranking.compounds.size} best of 960 compounds" in figure.axes[0].get_xlabel()


def test_a_selected_compound_is_always_drawn_and_ringed() -> None:
    estimate, status = table(960)
    far = int(np.argsort(-estimate)[700])
    ranking = rank_compounds(estimate, status, selected=far)
    assert ranking.place(far) == (701, estimate[far])
    assert ranking.near(701.3, 0.0, (1.0, 1.0)) == far
    figure = ranked_intervals(ranking, Spans(estimate, estimate - 1, estimate + 1, status), selected=far)
    assert "of 960" in figure.axes[0].get_xlabel()
    rings = [line for line in figure.axes[0].lines if line.get_markerfacecolor() == "none"]
    assert [line.get_xdata()[0] for line in rings] == [701]


def test_every_status_has_a_shape_of_its_own() -> None:
    estimate = np.array([8.0, 7.5, 7.0, 6.0])
    status = np.array([IN, UNDECIDED, OUT, LOST], dtype=np.int8)
    figure = shown(estimate, status)
    looks = {
        (line.get_marker(), line.get_markerfacecolor() == LIGHT.background)
        for line in figure.axes[0].lines
        if line.get_marker() in MARKERS
    }
    assert looks == {("o", False), ("D", False), ("o", True), ("x", False)}


def test_the_set_by_round_is_drawn_with_its_last_numbers() -> None:
    assert named(set_by_round([(0, 5), (1, 3), (2, 1)])) == ["1 undecided", "2 in"]
    empty = set_by_round([(0, 5)])
    assert "Nothing has been decided yet." in [text.get_text() for text in empty.axes[0].texts]


def test_legend_of_a_narrow_figure_is_not_cut() -> None:
    figure = blank((3.2, 3.0), 100.0, LIGHT, (0.5, 0.1, 0.4, 0.3))
    labels = ("16 in", "27 undecided", "128 out", "assay noise")
    legend(figure, [Line2D([], [], label=label) for label in labels], LIGHT)
    assert figure.legends[0].get_window_extent().x1 <= figure.bbox.x1


def test_what_structures_have_in_common_lies_alike_in_all_of_them() -> None:
    series = ["O=C(NC1CC1)c1ccc(C(F)(F)F)c(C#N)c1", "CNC(=O)c1ccccc1", "CC(C)NC(=O)c1ccc(OC)cc1"]
    aligned, amide = Aligned((), series), MolFromSmarts("NC(=O)c")
    places = []
    for smiles in series:
        molecule = aligned.molecule(smiles)
        places.append(molecule.GetConformer().GetPositions()[list(molecule.GetSubstructMatch(amide))])
    assert np.allclose(places[0], places[1], atol=1e-3)
    assert np.allclose(places[0], places[2], atol=1e-3)


def test_importing_figures_loads_no_pyplot() -> None:
    code = (
        "import sys, assaypilot.engine.figures.ranked, assaypilot.engine.figures.rounds; "
        "sys.exit(any(n == 'matplotlib.pyplot' or n.startswith(('PySide6', 'rdkit')) for n in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


def named(figure: Figure) -> list[str]:
    """What the legend names."""
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def test_measured_means_are_dashes_at_their_ranks() -> None:
    estimate, status = np.array([8.0, 7.5, 7.0]), np.array([IN, UNDECIDED, OUT], dtype=np.int8)
    measured = np.array([np.nan, 7.9, np.nan])
    spans = Spans(estimate, estimate - 0.5, estimate + 0.5, status, measured=measured)
    figure = ranked_intervals(rank_compounds(estimate, status), spans)
    axes = figure.axes[0]
    dashes = [line for line in axes.lines if line.get_marker() == "_"]
    assert [(x, y) for line in dashes for x, y in line.get_xydata() if np.isfinite(y)] == [(2.0, 7.9)]
    assert named(figure) == ["measured"]
    assert "measured" not in named(shown(estimate, status))


def test_censored_values_have_triangles_at_their_points() -> None:
    estimate = np.array([7.0, 6.0, 5.0])
    nan = np.full(3, np.nan)
    status = np.zeros(3, dtype=np.int8)
    spans = Spans(
        estimate, nan, nan, status,
        posterior=(np.array([6.8, 5.5, 4.6]), np.array([7.2, 6.5, 5.4])), bounds=(np.array([np.nan, 6.2, 5.0]), nan),
    )  # fmt: skip
    figure = ranked_intervals(rank_compounds(estimate, status), spans)
    axes = figure.axes[0]
    marks = {line.get_marker(): line for line in axes.lines if len(line.get_xdata())}
    assert marks["v"].get_xdata().tolist() == [2, 3]
    assert marks["v"].get_ydata().tolist() == [6.2, 5.0]
    dots = [line for line in axes.lines if line.get_marker() not in ("v", "^", "None", "") and len(line.get_xdata())]
    assert [line.get_xdata().tolist() for line in dots] == [[1, 2, 3]]
    (segments,) = [c.get_segments() for c in axes.collections if hasattr(c, "get_segments")]
    assert [segment[0][1] for segment in segments] == pytest.approx([6.8, 5.5, 4.6])
    assert named(figure) == ["known only to lie below (above)", "thin: 95 % posterior interval, nothing decided yet"]


NAME = "pIC50 human receptor, radioligand displacement, 10 % serum"
ESTIMATE = np.array([7.0, 6.5, 6.0])
STATUS = np.array([1, 0, 2], dtype=np.int8)


def ranked(size: tuple[float, float]) -> Figure:
    return shown(ESTIMATE, STATUS, 0.2, quantity=NAME, size=size)


def front(size: tuple[float, float]) -> Figure:
    points = np.vstack([ESTIMATE, ESTIMATE[::-1]])
    view = spread(points, points - 0.1, points + 0.1, STATUS)
    return front_plot(view, (Axis(NAME), Axis(NAME, -1.0)), size=size)
