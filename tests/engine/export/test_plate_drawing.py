from __future__ import annotations

from io import BytesIO

import pypdfium2 as pdfium
import pytest
from reportlab.pdfgen.canvas import Canvas

from assaypilot.engine.domain.plates.layout import Layout, Placed, Plate, PlateUse, read_controls
from assaypilot.engine.domain.plates.wells import Well
from assaypilot.engine.export.pdf_pages import load_fonts
from assaypilot.engine.export.plate_drawing import draw_legend, draw_plate, legend_height, plate_height

X, TOP, WIDTH, RIM = 40.0, 800.0, 500.0, 15.0
RANKS = {5: 1, 6: 12, 7: 345}


def laid_out(size: int, wells: int, *, edge: bool = True) -> Layout:
    """Compound 5 twice, the others once, in the first places of a plate with controls at both ends."""
    last = {24: 6, 96: 12, 384: 24, 1536: 48}[size]
    use = PlateUse(size, read_controls([f"1,{last}"]), edge=edge)
    grid = use.grid(wells)
    places = [grid.at(i, j) for j in range(len(grid.lefts)) for i in range(len(grid.tops))]
    what = [(5, 1), (6, 1), (7, 1), (5, 2)]
    placed = tuple(Placed(c, (0,), r, at) for (c, r), at in zip(what, places, strict=False))
    return Layout(use, 1, (Plate("R1-P1", (0,), placed),))


def drawn(layout: Layout) -> pdfium.PdfTextPage:
    load_fonts()
    stream = BytesIO()
    canvas = Canvas(stream, pagesize=(600, 842))
    draw_plate(canvas, TOP, layout=layout, plate=layout.plates[0], ranks=RANKS, x=X, width=WIDTH)
    canvas.save()
    return pdfium.PdfDocument(stream.getvalue())[0].get_textpage()


@pytest.mark.parametrize("edge", [True, False])
@pytest.mark.parametrize(("size", "wells"), [(24, 1), (24, 2), (96, 1), (96, 6), (384, 1), (384, 10), (1536, 1)])
def test_each_well_holds_its_words_and_no_other(size: int, wells: int, edge: bool) -> None:
    layout = laid_out(size, wells, edge=edge)
    page, shape = drawn(layout), layout.use.format
    step = min(36.0, (WIDTH - RIM) / shape.columns)
    assert plate_height(layout, WIDTH) == pytest.approx(RIM + shape.rows * step)
    expected = {well: {"max": "MX", "min": "MN"}[name] for well, name in layout.use.control_wells().items()}
    for one in layout.plates[0].placed:
        words = [str(RANKS[one.compound]), *([f"r{one.replicate}"] if one.compound == 5 else [])]
        expected[one.wells[0]] = " ".join(words)
    for row in range(shape.rows):
        for column in range(shape.columns):
            left, upper = X + RIM + column * step, TOP - RIM - row * step
            words = page.get_text_bounded(left, upper - step, left + step, upper).split()
            assert " ".join(words) == expected.get(Well(row, column), ""), Well(row, column)


def test_rows_and_columns_are_named_as_on_the_plate() -> None:
    page = drawn(laid_out(96, 1))
    step = 36.0
    for row, letter in enumerate("ABCDEFGH"):
        upper = TOP - RIM - row * step
        assert page.get_text_bounded(X, upper - step, X + RIM, upper).strip() == letter
    for column in range(12):
        left = X + RIM + column * step
        assert page.get_text_bounded(left, TOP - RIM + 1, left + step, TOP).strip() == str(column + 1)


@pytest.mark.parametrize("width", [120.0, 300.0, WIDTH])
def test_the_legend_keeps_to_its_place(width: float) -> None:
    layout = laid_out(96, 6, edge=False)
    load_fonts()
    stream = BytesIO()
    canvas = Canvas(stream, pagesize=(600, 842))
    draw_legend(canvas, TOP, layout=layout, x=X, width=width)
    canvas.save()
    page = pdfium.PdfDocument(stream.getvalue())[0].get_textpage()
    inside = page.get_text_bounded(X, TOP - legend_height(layout, width), 600, TOP)
    assert inside.split() == page.get_text_range().split()
    for words in ("compound 1 of the list: its first well", "further wells of the same measurement", "max control",
                  "its second measurement", "min control", "empty", "edge, not used"):  # fmt: skip
        assert words in inside
