"""Large text: pictures and columns grow with it."""

import pytest
from matplotlib.figure import Figure

from assaypilot.gui.plots.canvas import Canvas
from assaypilot.gui.resources.theme import theme
from assaypilot.gui.tables.rows import Column, RowsModel
from assaypilot.gui.tables.table import Table
from tests.gui.helpers import until

pytestmark = pytest.mark.usefixtures("dressed")


@pytest.fixture(autouse=True)
def as_before(settings):
    yield
    theme().enlarge(100)


def test_a_pictures_letters_grow_with_the_text(qtbot):
    asked = []

    def draw(size, dpi):
        asked.append((size, dpi))
        return Figure(figsize=size, dpi=dpi)

    canvas = Canvas("Picture")
    qtbot.addWidget(canvas)
    canvas.resize(480, 240)
    canvas.show_figure(draw)
    canvas.show()
    until(qtbot, lambda: canvas.shown)
    theme().enlarge(200)
    until(qtbot, lambda: len(asked) > 1 and canvas.shown)
    (before, fine), (after, finer) = asked[0], asked[-1]
    # The same pixels are half as many inches: letters of so many points are twice as large.
    assert after == pytest.approx((before[0] / 2, before[1] / 2))
    assert finer == pytest.approx(2 * fine)


def test_columns_of_a_set_width_grow_with_the_text(qtbot):
    theme().enlarge(200)
    model = RowsModel()
    table = Table(model, name="Rows")
    qtbot.addWidget(table)
    table.resize(220, 200)  # without room to spread
    columns = [Column("status", "Status", lambda row: "undecided", width=99), Column("id", "ID", str)]
    model.fill(columns, 3)
    assert table.columnWidth(0) == 198
