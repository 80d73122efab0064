"""The front between two endpoints: its staircase against a search, the band around it, and what is said and clicked."""

import itertools
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.path import Path

from assaypilot.engine.figures.front import Axis, front_plot, spread, staircase
from assaypilot.engine.figures.palette import DARK, LIGHT, MARKERS
from tests.engine.figures.drawing import IN, LOST, OUT, UNDECIDED

AXES = (Axis("pIC50"), Axis("hERG", -1.0))


def table(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    estimates = np.array([rng.normal(7.0, 0.6, n), rng.normal(5.0, 0.5, n)])
    status = np.full(n, OUT, dtype=np.int8)
    status[: n // 20] = IN
    status[n // 20 : n // 8] = UNDECIDED
    return estimates, status


def front(estimates: np.ndarray, status: np.ndarray, half: float = 0.0, axes: Any = AXES, **more: Any) -> Figure:
    """The figure of compounds whose bounds are ``half`` around their estimates."""
    low, high = estimates - half, estimates + half
    return front_plot(spread(estimates, low, high, status, marks=[axis.limit for axis in axes]), axes, **more)


def words(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def height_at(path: np.ndarray, x: float) -> float:
    """The highest y at which a path of level and upright pieces passes x (not at a corner)."""
    return max((a[1] for a, b in itertools.pairwise(path) if min(a[0], b[0]) <= x <= max(a[0], b[0])), default=-np.inf)


@given(
    st.lists(st.tuples(st.integers(-6, 6), st.integers(-6, 6)), min_size=1, max_size=12),
    st.sampled_from([(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)]),
)
def test_the_staircase_is_as_high_as_the_best_point_that_reaches(
    places: list[tuple[int, int]], signs: tuple[float, float]
) -> None:
    points = np.array(places, dtype=float).T
    path = staircase(points, signs, (-9.0, 9.0, -9.0, 9.0))
    turned = path * np.array(signs)  # larger is better
    good = np.array(signs)[:, None] * points
    for x in np.arange(-8.5, 9.0):
        reaching = good[1, good[0] >= x]
        expected = reaching.max() if reaching.size else -9.0
        assert height_at(turned, x) == (expected if reaching.size else -np.inf)


def band(figure: Figure) -> Path | None:
    found = [one for one in figure.axes[0].collections if isinstance(one, PolyCollection) and len(one.get_facecolor())]
    return found[0].get_paths()[0] if found else None


def test_the_true_front_lies_in_the_band_whenever_the_bounds_hold() -> None:
    rng = np.random.default_rng(3)
    estimates, status = table(60)
    half = np.array([[0.3], [0.25]])
    figure = front(estimates, status, half)
    path = band(figure)
    assert "the true front lies in here" in words(figure)
    signs = np.array([[1.0], [-1.0]])
    for _ in range(20):
        truth = estimates + half * rng.uniform(-1, 1, estimates.shape)
        good = signs * truth
        best = [n for n in range(60) if not (good > good[:, [n]]).all(axis=0).any()]
        assert (
            path.contains_points(truth[:, best].T, radius=1e-6).all()
            or path.contains_points(truth[:, best].T, radius=-1e-6).all()
        )
    # What is far on the better or on the worse side is not in it.
    assert not path.contains_points([[9.5, 3.0], [5.5, 6.5]]).any()


def test_every_status_has_its_shape_and_its_word_with_a_count() -> None:
    estimates, status = table(80)
    status[-3:] = LOST
    figure = front(estimates, status)
    assert {"4 in", "6 undecided", "67 out", "3 not estimable"} <= set(words(figure))
    looks = {
        (line.get_marker(), line.get_markerfacecolor() == LIGHT.background)
        for line in figure.axes[0].lines
        if line.get_marker() in MARKERS and line.get_linestyle() == "None"
    }
    assert looks == {("o", False), ("D", False), ("o", True), ("x", False)}


def test_a_place_finds_the_nearest_compound_as_it_is_seen() -> None:
    estimates = np.array([[6.0, 7.0, 8.0, np.nan], [5.0, 5.1, 5.2, 5.0]])
    status = np.zeros(4, dtype=np.int8)
    view = spread(estimates, estimates, estimates, status)
    assert view.compounds.tolist() == [0, 1, 2]
    assert view.near(7.02, 5.1, (0.05, 0.01)) == 1
    assert view.near(6.5, 5.199, (0.05, 0.01)) is None  # no compound is near
    # In a wide and low picture what is beside is far, what is above is near.
    assert view.near(8.0, 5.13, (0.02, 0.05)) == 2
    assert view.near(8.0, 5.13, (0.2, 0.005)) is None
    nothing = spread(np.full((2, 3), np.nan), np.zeros((2, 3)), np.zeros((2, 3)), np.zeros(3, dtype=np.int8))
    assert nothing.near(0.0, 0.0, (1.0, 1.0)) is None


def test_the_axes_say_which_way_is_better_and_how_many_are_missing() -> None:
    estimates, status = table(30)
    estimates[0, :4] = np.nan
    figure = front(estimates, status)
    assert figure.axes[0].get_xlabel() == "pIC50   better →   (4 of 30 compounds have no estimate)"
    assert figure.axes[0].get_ylabel() == "hERG   ← better"
    empty = front(np.full((2, 3), np.nan), status[:3], palette=DARK)
    assert any("No estimates yet" in text.get_text() for text in empty.axes[0].texts)


def test_without_a_band_compounds_are_drawn_and_no_front() -> None:
    estimates, status = table(60)
    figure = front(estimates, status, 0.2, band_text=None)
    assert [text.split()[1] for text in words(figure)] == ["in", "undecided", "out"]
