"""Contributions in blocks by site, and measured against predicted."""

import io

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text

from assaypilot.engine.figures.blocks import (
    Block,
    forest_plot,
    row_places,
)
from assaypilot.engine.figures.predictions import agreement_plot

NAN = float("nan")
BLOCKS = [Block("R1 $x$", ("Me", "H")), Block("R2", ("Cl", "[*:1]$a$<b>", "F"), left_out=7)]


def _texts_of(one: Axes | Legend) -> list[Text]:
    return one.get_texts() if isinstance(one, Legend) else one.texts


def texts(figure: Figure) -> list[str]:
    FigureCanvasAgg(figure).print_png(io.BytesIO())
    found = [*figure.texts, *(text for one in (*figure.axes, *figure.legends) for text in _texts_of(one))]
    assert not any(one.get_parse_math() for one in found if "$" in one.get_text())
    return [one.get_text() for one in found]


def test_contributions_of_all_sites_share_a_scale() -> None:
    value = [np.array([0.5, -0.1]), np.array([0.3, NAN, NAN])]
    half = [np.array([0.2, 0.3]), np.array([0.1, NAN, NAN])]
    values = [(v, v - h, v + h, n) for v, h, n in zip(value, half, ([9, 4], [7, 0, 3]), strict=True)]
    figure = forest_plot(
        BLOCKS, [(v, a, b, np.array(n)) for v, a, b, n in values], quantity="pIC50 $q$", selected=(1, 0)
    )
    axes = figure.axes[0]
    at = {float(y): (float(x), line.get_markerfacecolor()) for line in axes.lines if line.get_marker() == "o"
          for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)}  # fmt: skip
    first, second = row_places(BLOCKS)
    assert {y: x for y, (x, _) in at.items()} == {first[0]: 0.5, first[1]: -0.1, second[0]: 0.3}
    assert at[first[0]][1] != at[first[1]][1]  # the second may be the average: hollow
    assert at[first[0]][1] == at[second[0]][1]
    said = texts(figure)
    assert {
        "+0.50",
        "\u22120.10",
        "9",
        "4",
        "never measured",
        "cannot be distinguished from another site",
        "[*:1]$a$<b>",
    } <= set(said)
    assert "R2   7 in the middle not shown" in said
    assert axes.get_xlabel().endswith("better →")
    assert (
        forest_plot(BLOCKS, [(v, a, b, np.array(n)) for v, a, b, n in values], sign=-1.0)
        .axes[0]
        .get_xlabel()
        .endswith("← better")
    )
    spans = [one.get_y() for one in axes.patches if hasattr(one, "get_y")]
    assert len(spans) == 2


def test_axis_of_a_long_quantity_is_not_cut_in_a_narrow_figure() -> None:
    status, values = np.array([0, 0], dtype=np.int8), np.array([6.0, 7.0])
    figure = agreement_plot(values, values, status, quantity="log10 Solubility (uM)", noise_sd=0.2, size=(3.2, 3.2))
    box = figure.axes[0].xaxis.label.get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.x1


def test_measured_against_predicted() -> None:
    predicted, measured = np.array([6.0, 7.0, NAN, 6.5]), np.array([6.1, 6.9, 8.0, 6.6])
    status = np.array([1, 2, 1, 0], dtype=np.int8)
    figure = agreement_plot(
        predicted, measured, status, named=[(0, "CPD_$1_$2%"), (1, "B")], selected=3, quantity="pIC50 $x$", noise_sd=0.2
    )
    axes = figure.axes[0]
    points = [line for line in axes.lines if line.get_linestyle() == "None" and line.get_markersize() < 10]
    drawn = sorted((float(x), float(y)) for line in points
                   for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True))  # fmt: skip
    assert drawn == [(6.0, 6.1), (6.5, 6.6), (7.0, 6.9)]
    assert axes.get_xlim() == axes.get_ylim()
    assert axes.get_xlabel().endswith("(not shown: 1 that the others cannot predict)")
    assert axes.get_ylabel() == "pIC50 $x$ measured"
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["1 in", "1 undecided", "1 out", "assay noise"]
    assert {"CPD_$1_$2%", "B"} <= set(texts(figure))
    (ring,) = (line for line in axes.lines if line.get_markersize() > 10)
    assert (float(ring.get_xdata()[0]), float(ring.get_ydata()[0])) == (6.5, 6.6)
