"""Contributions, and measured against predicted: what is drawn where, and said."""

from __future__ import annotations

import io

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Annotation

from assaypilot.engine.figures.contributions import contribution_ends, contribution_height, contribution_plot
from assaypilot.engine.figures.predictions import agreement_plot

NAN = float("nan")


def texts(figure: Figure) -> list[str]:
    FigureCanvasAgg(figure).print_png(io.BytesIO())
    return [one.get_text() for one in figure.axes[0].texts if isinstance(one, Annotation)]


def plot(names: list[str], value: list[float], half: float = 0.1, **more: object) -> Figure:
    numbers = np.array(value)
    given = {"ends": contribution_ends(numbers, numbers - half, numbers + half)} | more
    return contribution_plot(
        "R1",
        names,
        numbers,
        numbers - half,
        numbers + half,
        np.arange(len(names)) + 3,
        **given,  # type: ignore[arg-type]  # what a test asks for
    )


def test_each_substituent_has_a_row_from_the_top_with_interval_and_count() -> None:
    figure = plot(["Me", "H", "Cl"], [0.5, 0.0, -0.5])
    axes = figure.axes[0]
    (points,) = [line for line in axes.lines if line.get_marker() == "o"]
    assert points.get_xdata().tolist() == [0.5, 0.0, -0.5]
    assert points.get_ydata().tolist() == [0, 1, 2]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the first on top
    ends = [segment[:, 0].tolist() for segment in axes.collections[0].get_segments()]
    assert ends == [pytest.approx(pair) for pair in ([0.4, 0.6], [-0.1, 0.1], [-0.6, -0.4])]
    assert {"R1", "n", "Me", "H", "Cl", "3", "4", "5"} <= set(texts(figure))


def test_what_is_not_known_says_why() -> None:
    figure = contribution_plot(
        "R1",
        ["A", "B"],
        np.array([NAN, NAN]),
        np.array([NAN, NAN]),
        np.array([NAN, NAN]),
        np.array([0, 4]),
        ends=(-1, 1),
    )
    assert {"never measured", "cannot be distinguished from another site"} <= set(texts(figure))


def test_texts_of_tables_are_only_texts_and_long_ones_lose_their_middle() -> None:
    figure = plot(["CPD_$1_$2%", "R1 $width x <$energy", "[*:1]" + "C" * 60], [0.1, 0.2, 0.3])
    said = texts(figure)
    assert {"CPD_$1_$2%", "R1 $width x <$energy"} <= set(said)
    (cut,) = [text for text in said if "…" in text]
    assert cut.startswith("[*:1]C")
    assert len(cut) <= 24


def test_the_height_follows_the_rows_and_the_direction_is_said() -> None:
    assert plot(["A"] * 30, [0.0] * 30).get_figheight() == pytest.approx(contribution_height(30))
    assert contribution_height(30) > contribution_height(10) > contribution_height(3)
    assert plot(["A", "B"], [0.0, 1.0], sign=-1.0).axes[0].get_xlabel().endswith("← better")
    assert plot(["A", "B"], [0.0, 1.0]).axes[0].get_xlabel().endswith("better →")


def test_one_wide_interval_does_not_squeeze_the_others() -> None:
    value, half = np.array([0.0, 0.5, 1.0]), np.array([0.1, 0.1, 50.0])
    ends = contribution_ends(value, value - half, value + half)
    assert ends[1] - ends[0] < 2.5
    assert ends[0] < 0.0 < 1.0 < ends[1]
    assert contribution_ends(np.array([NAN]), np.array([NAN]), np.array([NAN])) == (-1.0, 1.0)


def test_measured_against_predicted() -> None:
    predicted, measured = np.array([6.0, 7.0, NAN, 6.5]), np.array([6.1, 6.9, 8.0, 6.6])
    status = np.array([1, 2, 1, 0], dtype=np.int8)
    figure = agreement_plot(predicted, measured, status, quantity="pIC50 $x$", noise_sd=0.2)
    axes = figure.axes[0]
    drawn = sorted((float(x), float(y)) for line in axes.lines if line.get_linestyle() == "None"
                   for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True))  # fmt: skip
    assert drawn == [(6.0, 6.1), (6.5, 6.6), (7.0, 6.9)]
    assert axes.get_xlim() == axes.get_ylim()
    assert "1 measured compounds that the others say nothing of" in axes.get_xlabel().replace("\n", " ")
    assert axes.get_ylabel() == "pIC50 $x$ measured"
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["in", "undecided", "out", "assay noise"]
    texts(figure)


def test_nothing_to_compare_is_said() -> None:
    figure = agreement_plot(np.array([NAN]), np.array([6.0]), np.array([1], dtype=np.int8))
    assert "No compound can be predicted" in figure.axes[0].texts[0].get_text()
