"""Workbooks, read with openpyxl: not the library that writes them, and not our own reader."""

import dataclasses
import io
import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pypdfium2
import pytest
from PIL import Image

from assaypilot.engine.campaign.state import Status
from assaypilot.engine.export.contents import Choice, contents
from assaypilot.engine.export.formats import write
from assaypilot.engine.export.sheet import Sheet
from tests.engine.export.making import NASTY, begin

SHEETS = ["Shortlist", "All compounds", "Measurements", "Rounds", "Settings"]


def written(path: Path, status: Status, choice: Choice | None = None, **texts: str) -> Any:
    """The workbook of a campaign as openpyxl sees it."""
    write(path, contents(status, choice or Choice("all"), **texts))
    return openpyxl.load_workbook(path)


def cells(page: Any) -> list[list[Any]]:
    return [[cell.value for cell in row] for row in page.iter_rows()]


def same(sheet: Sheet, read: list[list[Any]]) -> bool:
    """Whether a sheet holds a table, cell for cell, whatever the order of its columns."""
    header, *rows = read
    for name in sheet.header:
        place = header.index(name)
        want = [None if cell == "" else cell for cell in sheet.column(name)]
        if [row[place] for row in rows] != want:
            return False
    return True


def test_every_sheet_holds_its_table_with_real_numbers_and_text_as_text(tmp_path: Path, nasty: Status) -> None:
    book = written(tmp_path / "x.xlsx", nasty, file="x.assaypilot")
    now = contents(nasty, Choice("all"))
    assert book.sheetnames == SHEETS
    for name, sheet in zip(SHEETS, [now.shortlist, now.everything, now.measurements, now.picks], strict=False):
        assert same(sheet, cells(book[name])), name
    page = book["Shortlist"]
    assert {cell.data_type for cell in page["A"]} == {"s"}  # an id is a text, =1+1 and 0012 as well
    assert {row[0] for row in cells(page)[1:]} == set(NASTY)
    for page in book:
        assert all(cell.data_type != "f" and cell.hyperlink is None for row in page.iter_rows() for cell in row)
    settings = dict(row[:2] for row in cells(book["Settings"])[1:])
    assert settings["Campaign head"] == nasty.head
    assert settings["Assay noise (SD) of pIC50"] == 0.2
    assert settings["Campaign file"] == "x.assaypilot"


def test_numbers_show_the_decimals_that_matter(tmp_path: Path, nasty: Status) -> None:
    page = written(tmp_path / "x.xlsx", nasty)["All compounds"]
    place = {cell.value: cell.column for cell in page[1]}
    shown = {name: page.cell(2, column).number_format for name, column in place.items()}
    assert shown["pIC50 estimate"] == shown["pIC50 low"] == "0.00"
    assert shown["P(within 0.5)"] == "0.00"  # not per cent, which readers of tables take for another number
    assert shown["ID"] == "General"
    for row in range(2, 11):  # three significant digits, whatever the size
        cell = page.cell(row, place["IC50 (nM) estimate"])
        decimals = len(cell.number_format.partition(".")[2])
        assert decimals == max(0, 2 - int(np.floor(np.log10(cell.value))))


def test_pictures_lie_in_the_rows_of_their_compounds_and_are_not_blank(tmp_path: Path, nasty: Status) -> None:
    path = tmp_path / "x.xlsx"
    choice = Choice("all", (4, 0, 8))
    page = written(path, nasty, choice)["Shortlist"]
    assert [cell.value for cell in page[1]][:2] == ["ID", "Picture"]
    assert [picture.anchor._from.row for picture in page._images] == [1, 2, 3]
    assert {picture.anchor._from.col for picture in page._images} == {1}
    assert {picture.anchor.editAs for picture in page._images} <= {None, "twoCell"}  # hidden and sorted with the row
    sizes = []
    for picture in page._images:
        image = Image.open(io.BytesIO(picture._data())).convert("L")
        sizes.append(np.count_nonzero(np.asarray(image) < 128))
    assert min(sizes) > 100
    assert sizes[2] > sizes[1]  # the benzene has less ink than its chloro acrylic acid
    assert page.row_dimensions[2].height > 60
    assert page["A1"].value == "ID"
    assert page.cell(1, page.max_column).value == "SMILES"  # last, where it is not printed
    assert re.fullmatch(r"'Shortlist'!\$A\$1:\$\w\$4", page.print_area)


def test_an_empty_list_states_why_and_has_no_row(tmp_path: Path) -> None:
    with begin(tmp_path / "x.assaypilot") as campaign:
        path = tmp_path / "x.xlsx"
        book = written(path, campaign.status(), Choice("in"))
    assert book["Shortlist"].max_row == 1
    with zipfile.ZipFile(path) as parts:
        drawing = parts.read("xl/drawings/drawing1.xml").decode()
    assert "There is no compound in this list (0 of 9 compounds: compounds that are in)." in drawing
    assert "Nothing is decided yet" in drawing


@pytest.mark.parametrize(
    ("comment", "read"),
    [
        ("=cmd|' /C calc'!A0", "=cmd|' /C calc'!A0"),
        ("bell \x07 and null \x00", "bell \N{REPLACEMENT CHARACTER} and null \N{REPLACEMENT CHARACTER}"),
        ("half \ud800 pair \ufffe", "half \N{REPLACEMENT CHARACTER} pair \N{REPLACEMENT CHARACTER}"),
        ("line\r\nbreak\ttab", "line\nbreak\ttab"),
        ("_x0000_ stays", "_x0000_ stays"),
        ("  outer spaces  ", "  outer spaces  "),
        ("https://host/x <b>&amp;</b>", "https://host/x <b>&amp;</b>"),
        ("x" * 33_000, "x" * 32_757 + " ... (cut)"),
        ("\N{GRINNING FACE}" * 17_000, "\N{GRINNING FACE}" * 16_378 + " ... (cut)"),
    ],
)
def test_texts_that_a_workbook_cannot_take_as_they_are(tmp_path: Path, nasty: Status, comment: str, read: str) -> None:
    first = nasty.measurements[0]
    entered = dataclasses.replace(first, entered=dataclasses.replace(first.entered, comment=comment))
    status = dataclasses.replace(nasty, measurements=(entered,))
    book = written(tmp_path / "x.xlsx", status)
    page = book["Measurements"]
    cell = page.cell(2, [c.value for c in page[1]].index("Comment") + 1)
    assert (cell.value, cell.data_type) == (read, "s")
    assert cell.quotePrefix == comment.startswith("=")


@pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is not installed here")
def test_libreoffice_opens_it_and_prints_every_sheet(tmp_path: Path, nasty: Status) -> None:
    write(tmp_path / "x.xlsx", contents(nasty, Choice("all")))
    home = (tmp_path / "home").as_uri()
    command = ["soffice", f"-env:UserInstallation={home}", "--headless", "--convert-to", "pdf"]
    subprocess.run(
        [*command, "--outdir", str(tmp_path), str(tmp_path / "x.xlsx")], check=True, capture_output=True, timeout=120
    )
    with pypdfium2.PdfDocument(tmp_path / "x.pdf") as printed:
        texts = [page.get_textpage().get_text_bounded() for page in printed]
        ink = np.asarray(printed[0].render(scale=1).to_pil().convert("L"))
    for name in SHEETS:
        assert any(name in text.splitlines()[0] for text in texts), name
    for identity in ("CPD_$1_$2%", "=1+1", "<img src=//host/x>", "@SUM(A1:A9)", "0012"):
        assert identity in texts[0]
    assert "Err:" not in "".join(texts)
    assert (ink < 200).mean() > 0.01
