"""The printed page of a round, and its plates."""

from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pypdfium2 as pdfium
import pytest
from reportlab.pdfgen.canvas import Canvas

from assaypilot.engine.campaign.issued_rounds import Round
from assaypilot.engine.campaign.plating import plate_layout
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.plates import Layout, Placed, Plate, PlateUse, Well, read_controls
from assaypilot.engine.export.pdf_pages import load_fonts
from assaypilot.engine.export.work_page import plate_table, work_page
from assaypilot.engine.system.progress import Report, silent
from tests.engine.export.making import plain_library, planned

CURVE = Endpoint("IC50", unit="nM", transform="log", noise_sd=0.2, wells_per_measurement=10)
ENDS = PlateUse(96, read_controls(["1,12"]), edge=False)


def page(now: Status, issued: Round, use: PlateUse | None = None, report: Report = silent) -> bytes:
    layout = None if use is None else plate_layout(now, issued, use)
    return work_page(now, issued, layout, program="AssayPilot 9.9", printed="2030-01-02 03:04", report=report)


def texts(data: bytes) -> list[str]:
    """The words of each page, line by line."""
    with pdfium.PdfDocument(data) as document:
        return [document[k].get_textpage().get_text_range().replace("\r\n", "\n") for k in range(len(document))]


def test_it_states_what_round_of_what_campaign_it_is(tmp_path: Path) -> None:
    now, issued = planned(tmp_path)
    data = page(now, issued, ENDS)
    document = pdfium.PdfDocument(data)
    assert [tuple(round(side) for side in document[k].get_size()) for k in range(len(document))] == [(595, 842)] * len(
        document
    )
    pages = texts(data)
    first = pages[0]
    count = f"{issued.measurements} measurements of {len(issued.items)} compounds, issued {issued.issued[:10]}"
    plates = "1 plate of 96 wells: R1-P1"
    for words in (now.name, "Work list, round 1", count, plates, now.goal_sentence, "Tested on", "Barcode"):
        assert words in first, words
    for number, words in enumerate((" ".join(one.split()) for one in pages), start=1):
        assert f"Page {number} of {len(pages)}" in words
        assert f"campaign head {now.head} after {now.events} events" in words
        assert "AssayPilot 9.9, 2030-01-02 03:04" in words


def test_every_measurement_has_its_plate_its_well_and_a_line(tmp_path: Path) -> None:
    now, issued = planned(tmp_path, plain_library(), max_replicates=3)
    layout = plate_layout(now, issued, ENDS)
    listed = "\n".join(texts(page(now, issued, ENDS))).split("Compounds in order of rank", 1)[1]
    lines = [line for line in listed.splitlines() if "R1-P1" in line]
    assert len(lines) == issued.measurements
    at = -1
    for item in issued.items:
        name = now.library.ids[item.compound]
        assert name in listed
        for replicate in range(1, item.replicates + 1):
            _, placed = layout.find(item.compound, replicate, 0)
            place = listed.index(f"R1-P1 {placed.range}", at + 1)
            assert place > at, "in the order of the round"
            at = place


def test_wells_carry_ranks_and_the_legend_states_what_there_is(tmp_path: Path) -> None:
    now, issued = planned(tmp_path, max_replicates=3)
    first = texts(page(now, issued, ENDS))[0]
    for words in (
        "compound 1 of the list",
        "its second measurement",
        "max control",
        "min control",
        "edge, not used",
        "empty",
    ):
        assert words in first
    assert first.count("MX") == first.count("MN") == 8 + 1, "sixteen controls, and one of each in the legend"
    plain = texts(page(now, issued, PlateUse(96)))[0]
    for words in ("control", "edge, not used", "MX", "further wells"):
        assert words not in plain
    curves = replace(now, endpoints=(CURVE,))
    assert "further wells of the same measurement" in texts(page(curves, issued, PlateUse(96)))[0]


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
    table = plate_table(layout, layout.plates[0], RANKS, WIDTH)
    table.drawOn(canvas, X, TOP - table.wrap(WIDTH, 800.0)[1])
    canvas.save()
    return pdfium.PdfDocument(stream.getvalue())[0].get_textpage()


@pytest.mark.parametrize("edge", [True, False])
@pytest.mark.parametrize(("size", "wells"), [(24, 1), (24, 2), (96, 1), (96, 6), (384, 1), (384, 10), (1536, 1)])
def test_each_well_holds_its_words_and_no_other(size: int, wells: int, edge: bool) -> None:
    layout = laid_out(size, wells, edge=edge)
    page, shape = drawn(layout), layout.use.format
    step = min(36.0, (WIDTH - RIM) / shape.columns)
    height = plate_table(layout, layout.plates[0], RANKS, WIDTH).wrap(WIDTH, 800.0)[1]
    assert height == pytest.approx(RIM + shape.rows * step)
    expected = {well: {"max": "MX", "min": "MN"}[name] for well, name in layout.use.control_wells().items()}
    for one in layout.plates[0].placed:
        words = [str(RANKS[one.compound]), *([f"r{one.replicate}"] if one.compound == 5 else [])]
        expected[one.wells[0]] = " ".join(words)
    for row in range(shape.rows):
        for column in range(shape.columns):
            left, upper = X + RIM + column * step, TOP - RIM - row * step
            words = page.get_text_bounded(left, upper - step, left + step, upper).split()
            assert " ".join(words) == expected.get(Well(row, column), ""), Well(row, column)
