"""The picture of what campaigns may take: every number in it, on one scale, inside it."""

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Annotation

from assaypilot.engine.figures.palette import DARK, LIGHT, Palette
from assaypilot.engine.figures.rounds import Reach, reach_plot

NOW, TRIED = Reach("now", 384, 500, 672, budget=600), Reach("with these settings", 290, 380, 480, budget=400)


def words(figure: Figure) -> list[str]:
    legend = [text for one in figure.legends for text in one.get_texts()]
    return [one.get_text() for one in (*figure.axes[0].texts, *legend)]


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_each_row_says_its_numbers_and_lies_on_one_scale(palette: Palette) -> None:
    figure = reach_plot([NOW, TRIED], used=96, palette=palette)
    assert words(figure) == [
        "now", "384 to 672", "with these settings", "290 to 480", "96 used", "budget 400 and 600",
    ]  # fmt: skip
    axes = figure.axes[0]
    bars = [(one.get_x(), one.get_width()) for one in axes.patches[-2:]]
    assert bars == [(384, 288), (290, 190)]
    dashed = sorted(line.get_xdata()[0] for line in axes.lines if line.get_linestyle() == "--")
    assert dashed == [400, 600]
    assert axes.get_xlim()[0] == 0
    assert axes.get_xlim()[1] > 672


@pytest.mark.parametrize(
    ("rows", "used"),
    [
        ([NOW, TRIED], 96),
        ([Reach("now", 2384, 5000, 9672, more=True, budget=9000)], 3000),
        ([Reach("$x_1$ and a name that is very long", 900, 950, 1000, budget=1000)], 890),
        ([Reach("now", 1, 1, 1)], 0),
    ],
)
def test_no_word_leaves_the_picture_or_lies_on_another(rows: list[Reach], used: int) -> None:
    figure = reach_plot(rows, used=used, size=(4.6, 1.64), dpi=96)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    words = [one for one in figure.axes[0].texts if isinstance(one, Annotation)]
    boxes = [one.get_window_extent(canvas.get_renderer()) for one in (*words, *figure.legends)]
    width, height = canvas.get_width_height()
    for number, box in enumerate(boxes):
        assert 0 <= box.x0 <= box.x1 <= width
        assert 0 <= box.y0 <= box.y1 <= height
        assert not any(box.overlaps(other) for other in boxes[:number])
