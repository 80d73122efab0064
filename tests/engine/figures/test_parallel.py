"""Lines across three endpoints: better is up, who is drawn, and what a click finds."""

import numpy as np
import pytest
from matplotlib.collections import LineCollection

from assaypilot.engine.figures.front import Axis
from assaypilot.engine.figures.parallel import MOST_FAINT, MOST_LINES, bundle, parallel_plot
from tests.engine.figures.drawing import IN, LOST, OUT, UNDECIDED

AXES = (Axis("pIC50"), Axis("hERG", -1.0, 5.0, "hERG < 5", True), Axis("logD", -1.0))


def table(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    estimates = np.array([rng.normal(7.0, 0.6, n), rng.normal(5.0, 0.5, n), rng.normal(2.0, 0.5, n)])
    status = np.full(n, OUT, dtype=np.int8)
    status[: n // 20] = IN
    status[n // 20 : n // 4] = UNDECIDED
    return estimates, status, rng.random(n)


def test_better_is_up_on_every_axis() -> None:
    estimates, status, chance = table(60)
    view = bundle(estimates, status, chance, AXES)
    where = {int(compound): row for row, compound in enumerate(view.compounds)}
    best = [int(np.argmax(estimates[0])), int(np.argmin(estimates[1])), int(np.argmin(estimates[2]))]
    for axis, compound in enumerate(best):
        assert view.heights[where[compound], axis] == view.heights[:, axis].max()
        worst, top = view.ends[axis]
        height = view.heights[where[compound], axis]
        assert worst + height * (top - worst) == pytest.approx(estimates[axis, compound])
    assert view.heights.min() > 0
    assert view.heights.max() < 1


def test_of_many_the_most_probable_are_drawn_and_a_share_of_the_others() -> None:
    estimates, status, chance = table(4_000)
    view = bundle(estimates, status, chance, AXES)
    inside, open_, out, _ = view.shown[IN], view.shown[UNDECIDED], view.shown[OUT], view.shown[LOST]
    assert inside == MOST_LINES
    assert open_ == 0
    assert 0 < out <= MOST_FAINT
    assert view.total == (800, 200, 3000, 0)
    bright = view.compounds[-MOST_LINES:]
    likely = np.flatnonzero(status == IN)
    assert set(bright.tolist()) == set(likely[np.argsort(-chance[likely])][:MOST_LINES].tolist())
    figure = parallel_plot(view, estimates, estimates, status, AXES)
    said = [text.get_text() for text in figure.legends[0].get_texts()]
    assert said == [f"200 in ({MOST_LINES} drawn)", f"3,000 out ({out:,} drawn)"]


def test_the_selected_one_is_always_drawn_with_its_bounds() -> None:
    estimates, status, chance = table(4_000)
    hidden = next(n for n in range(3_999, 0, -1) if n not in set(bundle(estimates, status, chance, AXES).compounds))
    view = bundle(estimates, status, chance, AXES, selected=hidden)
    assert hidden in set(view.compounds.tolist())
    figure = parallel_plot(view, estimates - 0.2, estimates + 0.2, status, AXES, selected=hidden)
    thick = [line for line in figure.axes[0].lines if line.get_linewidth() == 2.4]
    assert len(thick) == 1
    row = int(np.flatnonzero(view.compounds == hidden)[0])
    assert thick[0].get_ydata() == pytest.approx(view.heights[row])
    uprights = [one for one in figure.axes[0].collections if isinstance(one, LineCollection)]
    assert sum(np.ravel(one.get_linewidth())[0] == 4.5 for one in uprights) == 3


def test_a_place_finds_the_line_that_passes_there() -> None:
    estimates = np.array([[6.0, 8.0], [5.0, 4.0], [2.0, 3.0]])
    status = np.array([UNDECIDED, IN], dtype=np.int8)
    view = bundle(estimates, status, np.ones(2), AXES)
    row = int(np.flatnonzero(view.compounds == 0)[0])
    heights = view.heights[row]
    assert view.near(0.25, float(0.75 * heights[0] + 0.25 * heights[1]), (0.1, 0.1)) == 0
    assert view.near(0.0, float(heights[0]), (0.1, 0.1)) == 0
    assert view.near(-3.0, float(heights[0]), (0.1, 0.1)) == 0  # beside the first axis
    assert view.near(0.0, 0.5, (0.1, 0.1)) is None
    assert bundle(np.full((3, 2), np.nan), status, np.ones(2), AXES).near(0.0, 0.5, (0.1, 0.1)) is None
