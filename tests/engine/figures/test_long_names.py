"""Names of endpoints that are longer than a picture is high or wide stay inside it, and keep their ends."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from assaypilot.engine.figures.front import Axis, front_plot, spread
from assaypilot.engine.figures.predictions import worst_residuals
from assaypilot.engine.figures.ranked import Spans, rank_compounds, ranked_intervals
from assaypilot.engine.models.report import Residual

NAME = "pIC50 human receptor, radioligand displacement, 10 % serum"
SIZES = [(8.0, 2.0), (4.2, 1.6)]
ESTIMATE = np.array([7.0, 6.5, 6.0])
STATUS = np.array([1, 0, 2], dtype=np.int8)


def ranked(size: tuple[float, float]) -> Figure:
    ranking = rank_compounds(ESTIMATE, STATUS)
    return ranked_intervals(ranking, Spans(ESTIMATE, ESTIMATE - 0.2, ESTIMATE + 0.2, STATUS), quantity=NAME, size=size)


def front(size: tuple[float, float]) -> Figure:
    points = np.vstack([ESTIMATE, ESTIMATE[::-1]])
    view = spread(points, points - 0.1, points + 0.1, STATUS)
    return front_plot(view, points, points - 0.1, points + 0.1, STATUS, (Axis(NAME), Axis(NAME, -1.0)), size=size)


def residuals(size: tuple[float, float]) -> Figure:
    worst = [Residual("Discovery Chemistry Northern Site benzamide 150", 7.4, 7.0, 0.4, 2.0)]
    return worst_residuals(worst, NAME, residual_sd=0.1, size=size)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("made", [ranked, front, residuals])
def test_labels_stay_in_the_picture(made: object, size: tuple[float, float]) -> None:
    figure: Figure = made(size)  # type: ignore[operator]  # one of the three above
    FigureCanvasAgg(figure).draw()
    axes, whole = figure.axes[0], figure.bbox
    for label in (axes.xaxis.label, axes.yaxis.label):
        box = label.get_window_extent()
        beyond = max(whole.x0 - box.x0, box.x1 - whole.x1, whole.y0 - box.y0, box.y1 - whole.y1)
        assert beyond <= 1, label.get_text()


def test_what_is_cut_keeps_its_ends_and_its_direction() -> None:
    axes = front((8.0, 2.0)).axes[0]
    text = axes.get_ylabel()
    assert text.startswith("pIC")
    assert "…" in text
    assert text.endswith("← better")
    assert axes.get_xlabel() == f"{NAME}   better →"
