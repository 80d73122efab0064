"""The picture of the worst residuals: its marks at the values, its texts as they are."""

import matplotlib.colors
import pytest

from assaypilot.engine.figures.palette import LIGHT
from assaypilot.engine.figures.predictions import worst_residuals
from assaypilot.engine.models.report import Residual

WORST = (
    Residual("CPD_$1_$2%", 7.0, 6.0, 1.0, 3.1),
    Residual("R1 $width x <$energy", 5.0, 5.8, -0.8, -2.5),
    Residual("<img src=//host/x>" * 3, 6.0, 6.5, -0.5, -1.6),
)


def texts(figure):
    return [one.get_text() for one in figure.axes[0].texts]


def test_marks_stand_at_the_values_the_worst_on_top():
    figure = worst_residuals(WORST, "pIC50", residual_sd=0.25)
    figure.canvas.draw()
    axes = figure.axes[0]
    discs = [line for line in axes.lines if line.get_marker() == "o"]
    accent = matplotlib.colors.to_rgba(LIGHT.accent)
    measured = [line for line in discs if matplotlib.colors.to_rgba(line.get_markerfacecolor()) == accent]
    assert [line.get_xdata()[0] for line in measured] == [7.0, 5.0, 6.0]
    assert [line.get_xdata()[0] for line in discs if line not in measured] == [6.0, 5.8, 6.5]
    bands = [(bar.get_x(), bar.get_width()) for bar in axes.patches]
    assert bands == [pytest.approx((5.5, 1.0)), pytest.approx((5.3, 1.0)), pytest.approx((6.0, 1.0))]
    top, bottom = axes.transData.transform([(6.0, 0), (6.0, 2)])[:, 1]
    assert top > bottom


def test_texts_are_as_they_are_and_long_ones_lose_their_middle():
    figure = worst_residuals(WORST, "pIC50 $x", palette=LIGHT)
    figure.canvas.draw()
    shown = texts(figure)
    assert "CPD_$1_$2%" in shown
    assert "R1 $width x <$energy" in shown
    assert "+1.00" in shown
    assert "\u22120.80" in shown
    assert any("…" in text for text in shown)
    assert "band" not in figure.axes[0].get_xlabel()
    assert "pIC50 $x" in figure.axes[0].get_xlabel()
