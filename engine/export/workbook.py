"""An Excel workbook: the shortlist with pictures, all compounds, measurements, rounds and settings, ready to print."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import AssayPilotError
from ..figures.palette import LIGHT
from ..system.places import refused, temporary_folder
from ..system.progress import Report, silent
from ..tables.raw import FORMULA
from ..text import in_letters
from .contents import Contents
from .formats import write_whole
from .plain import cell_text, in_header, length_of, number_format
from .sheet import Cell, Sheet, unique

MOST_ROWS = 1_048_576
"""Rows of a sheet, the header's included."""
MOST_PICTURES = 5_000
"""Pictures in a workbook; with more no spreadsheet scrolls any more."""
_LARGE = 12_000
"""Rows from which a workbook is written row by row, and its texts where they stand: slower to open, but it fits."""
_WIDTH, _HEIGHT = 200, 144
"""Of a picture in the sheet, in pixels; it has more of its own, for paper and sharp screens."""
_DENSITY = 1.5
_SCALED = 60
"""Structures by which the length of a bond is chosen, the same in all pictures."""
_NARROWEST, _WIDEST = 7, 42
"""Characters."""
_MARGIN = 4.0
"""Characters for the padding of a cell and the arrow of its filter."""
_LOOKED_AT = 2_000
"""Rows that determine the width of a column."""
_MOST_LINES = 8
"""Of a row; of longer texts the beginning is seen, and the rest where the cell is edited."""
_SHADE = "#eef1f5"
_LINE = {"bottom": 1, "bottom_color": LIGHT.grid}
_REPORT_EVERY = 50
_STRUCTURE = "Picture"
"""Header of the pictures; not a word our reader takes for structures, since the cells are empty."""
_WRAPPED = ("Why", "Comment", "Reason")
_STATUS_COLOURS = {
    "undecided": LIGHT.status[0],
    "in": LIGHT.status[1],
    "out": LIGHT.muted,
    "not estimable": LIGHT.muted,
}


def write(path: Path, contents: Contents, report: Report = silent) -> int:
    """Return the number of compounds in the sheet Shortlist of the workbook written.

    Texts are texts, whatever they begin with; numbers are numbers. AssayPilotError when there are more rows than a
    sheet holds, and for what the system refuses; ``report`` may raise Cancelled. Either leaves what was there before.
    """
    import xlsxwriter

    report(0.0, "Collecting the tables")
    sheets = {
        "Shortlist": contents.shortlist,
        "All compounds": contents.everything,
        "Measurements": contents.measurements,
        "Rounds": contents.picks,
    }
    for name, sheet in sheets.items():
        if len(sheet.rows) >= MOST_ROWS:
            raise AssayPilotError(
                f"the sheet {name} would have {len(sheet.rows):,} rows below its header, and a workbook holds "
                f"{MOST_ROWS - 1:,}",
                file=str(path),
                mend="Write a csv file instead.",
            )
    total = sum(len(sheet.rows) for sheet in sheets.values())
    packed = io.BytesIO()  # an archive that fails half written on a full disk would complain when it is forgotten
    with temporary_folder() as aside:
        # A large workbook is written row by row through files aside, a small one in memory.
        how = {"constant_memory": True, "tmpdir": str(aside)} if total > _LARGE else {"in_memory": True}
        book = xlsxwriter.Workbook(packed, how)
        try:
            writer = _Writer(book, contents, report, total, aside)
            for name, sheet in sheets.items():
                writer.table(name, sheet)
            writer.settings()
            report(0.95, "Packing the workbook")
            book.close()
        except BaseException as error:
            book.fileclosed = True  # what was not finished is not complained of when it is forgotten
            cause = error.args[0] if isinstance(error, xlsxwriter.exceptions.FileCreateError) and error.args else error
            if isinstance(cause, OSError):
                raise refused(cause, path) from None
            raise
    write_whole(path, packed.getvalue())
    return len(sheets["Shortlist"].rows)


class _Exact(float):
    """A number that is written with every digit it needs to be read back the same; the library writes sixteen."""

    def __format__(self, _: str) -> str:
        return float.__repr__(self)


@dataclass(frozen=True, slots=True)
class _Look:
    """How the cells of one column look."""

    width: float
    """Characters."""
    numbers: bool
    plain: Any
    quoted: Any
    """For text that begins like a formula: it stays text when edited."""
    significant: int = 0
    """Significant digits that numbers show; 0: by ``plain``."""


class _Writer:
    """One workbook being filled."""

    def __init__(self, book: Any, contents: Contents, report: Report, total: int, aside: Path) -> None:
        self._book, self._contents, self._report, self._total = book, contents, report, max(1, total)
        self._large = total > _LARGE
        self._aside = aside
        self._done = 0
        self._notes: list[str] = []
        self._formats: dict[tuple[tuple[str, Any], ...], Any] = {}
        book.set_size(2400, 1500)
        book.set_properties(
            {
                "title": cell_text(contents.title),
                "subject": cell_text(contents.status.goal_sentence),
                "author": contents.program,
                "comments": f"Exported {contents.exported}. Campaign head {contents.status.head}, "
                f"{contents.status.events} events.",
            }
        )

    # ------------------------------------------------------------------ formats

    def _format(self, **properties: Any) -> Any:
        """Return the cell format with these properties; one for each set of them."""
        key = tuple(sorted(properties.items()))
        if key not in self._formats:
            base = {
                "valign": "vcenter",
                "align": "left",
                "indent": 1,
                "font_name": "Calibri",
                "font_size": 11,
                "font_color": LIGHT.text,
            }
            self._formats[key] = self._book.add_format(base | properties)
        return self._formats[key]

    def _top(self, *, right: bool = False) -> Any:
        """Return the format of a header, above numbers to the right as they are."""
        properties = {"bold": True, "text_wrap": True, "valign": "top", "bg_color": _SHADE, "bottom": 2}
        return self._format(**properties, bottom_color=LIGHT.muted, align="right" if right else "left")

    def _look(self, sheet: Sheet, place: int) -> _Look:
        """Return the look of a column, by its header and its cells."""
        name = sheet.header[place]
        cells = [row[place] for row in sheet.rows[:_LOOKED_AT]]
        numbers = any(isinstance(cell, (int, float)) and not isinstance(cell, bool) for cell in cells)
        digits = sheet.digits[place] if sheet.digits else None
        properties: dict[str, Any] = dict(_LINE)
        if numbers:
            if digits is not None and digits >= 0:
                properties["num_format"] = number_format(digits)
            properties["align"] = "right"
        widest = max((length_of(cell, properties.get("num_format", "")) for cell in cells), default=0)
        if name in _WRAPPED and widest <= _MOST_LINES * _WIDEST and not numbers:
            properties |= {"text_wrap": True, "valign": "top"}  # the row grows by itself
        word = max(map(len, name.split()), default=0)
        width = min(_WIDEST, max(_NARROWEST, widest + 3, word + _MARGIN))
        return _Look(
            width,
            numbers,
            self._format(**properties),
            self._format(**properties, quote_prefix=True),
            significant=-digits if digits is not None and digits < 0 else 0,
        )

    def _number(self, cell: float, look: _Look) -> Any:
        """Return the format of a number: that of its column, or the one that shows so many significant digits of it."""
        if not look.significant or not cell:
            return look.plain
        digits = look.significant - 1 - math.floor(math.log10(abs(cell)))
        return self._format(
            **_LINE, align="right", num_format=number_format(max(0, digits)) if digits < 7 else "0.00E+00"
        )

    # ------------------------------------------------------------------ sheets

    def table(self, name: str, sheet: Sheet) -> None:
        """Add a sheet with a header that stays in sight, filters, and one row per row."""
        page = self._book.add_worksheet(name)
        drawn = self._pictures(sheet) if name == "Shortlist" else {}
        if drawn and "SMILES" in sheet.header and self._contents.choice.columns is None:
            # Next to pictures the long SMILES are of little use: they come last.
            sheet = sheet.only([*(one for one in sheet.header if one != "SMILES"), "SMILES"])
        header: list[str | None] = list(sheet.header)
        frozen = 1
        if drawn:
            frozen = sheet.header.index("ID") + 1
            header.insert(frozen, None)
            frozen += 1
        looks = [None if text is None else self._look(sheet, sheet.header.index(text)) for text in header]
        for column, (text, look) in enumerate(zip(header, looks, strict=True)):
            width = look.width if look is not None else _WIDTH / 7 + 0.5
            page.set_column(column, column, width)
            shown = text if text is not None else unique([*sheet.header, _STRUCTURE])[-1]
            page.write_string(0, column, cell_text(shown), self._top(right=look is not None and look.numbers))
        ids = sheet.header.index("ID") if drawn else 0
        status = header.index("Status") if "Status" in sheet.header else None
        blank = self._format(**_LINE)
        for number, row in enumerate(sheet.rows, start=1):
            if number % _REPORT_EVERY == 1:
                share = 0.65 + 0.3 * self._done / self._total
                self._report(share, f"{name}: {number - 1:,} of {len(sheet.rows):,}")
            if drawn:
                page.set_row_pixels(number, _HEIGHT + 8)
            cells = iter(row)
            for column, look in enumerate(looks):
                if look is None:
                    picture = drawn.get(number - 1)
                    page.write_blank(number, column, None, blank)
                    if picture is not None:
                        self._picture(page, number, column, picture, cell_text(str(row[ids])))
                    continue
                cell = next(cells)
                chosen = self._status(cell) if column == status else None
                self._cell(page, number, column, cell, look, chosen)
            self._done += 1
        last = max(1, len(sheet.rows))
        page.autofilter(0, 0, last, len(header) - 1)
        page.freeze_panes(1, frozen)
        # Ids such as 0012 are texts on purpose.
        page.ignore_errors({"number_stored_as_text": f"A1:{in_letters(len(header) - 1)}{last + 1}"})
        if not sheet.rows:
            self._write_empty(page, name)
            last = 12  # so that the box is on paper, too
        self._paper(page, name, last, header)

    def settings(self) -> None:
        """Add the sheet of settings, noise and guarantee, with notes on what did not fit into the others."""
        page = self._book.add_worksheet("Settings")
        rows = [*self._contents.settings.rows, *(("Note on this workbook", text) for text in self._notes)]
        name_look = self._format(bold=True, valign="top", text_wrap=True, **_LINE)
        value_look = self._format(align="left", valign="top", text_wrap=True, **_LINE)
        look = _Look(0, False, value_look, value_look)
        page.set_column(0, 0, 34)
        page.set_column(1, 1, 100)
        for column, text in enumerate(self._contents.settings.header):
            page.write_string(0, column, text, self._top())
        for number, (name, value) in enumerate(rows, start=1):
            page.write_string(number, 0, cell_text(str(name)), name_look)
            self._cell(page, number, 1, value, look)
        page.freeze_panes(1, 0)
        self._paper(page, "Settings", len(rows), ["Setting", "Value"])

    # ------------------------------------------------------------------ cells

    def _cell(self, page: Any, row: int, column: int, cell: Cell, look: _Look, chosen: Any = None) -> None:
        if cell is None or cell == "":
            if not self._large:  # only the line below it would be seen
                page.write_blank(row, column, None, look.plain)
        elif isinstance(cell, bool):
            page.write_string(row, column, "yes" if cell else "no", look.plain)
        elif isinstance(cell, (int, float)):
            number = _Exact(cell) if isinstance(cell, float) else cell
            page.write_number(row, column, number, self._number(cell, look))
        else:
            quoted = look.quoted if cell.startswith(FORMULA) else look.plain
            page.write_string(row, column, cell_text(cell), chosen or quoted)

    def _status(self, cell: Cell) -> Any:
        """Return the format of a status; its colour repeats the word."""
        colour = _STATUS_COLOURS.get(str(cell))
        return colour and self._format(bold=cell == "in", font_color=colour, **_LINE)

    # ------------------------------------------------------------------ pictures

    def _pictures(self, sheet: Sheet) -> dict[int, Path]:
        """Return the picture of each row that has a structure, by its place.

        In files: thousands would fill the memory.
        """
        from ..figures.aligned import Aligned
        from ..figures.cores import carried

        contents = self._contents
        compounds = contents.compounds.tolist()
        shown = compounds[:MOST_PICTURES]
        smiles = [contents.structure(compound) for compound in shown]
        if not any(smiles):
            return {}
        if len(compounds) > len(shown):
            self._notes.append(f"Only the first {len(shown):,} of {len(compounds):,} compounds have their picture.")
        library = contents.status.library
        aligned = Aligned.of(library, smiles)
        drawn = [text for text in smiles if text]
        bond = aligned.bond(drawn[:: -(-len(drawn) // _SCALED)], _WIDTH, _HEIGHT)
        found: dict[int, Path] = {}
        for place, (compound, text) in enumerate(zip(shown, smiles, strict=True)):
            if place % _REPORT_EVERY == 0:
                self._report(0.05 + 0.6 * place / len(shown), f"Drawing structures: {place:,} of {len(shown):,}")
            if not text:
                continue
            has = carried(library, compound)
            picture = aligned.png(text, _WIDTH, _HEIGHT, scale=_DENSITY, carried=has, bond=bond)
            if picture is not None:
                found[place] = self._aside / f"{place + 1}.png"
                found[place].write_bytes(picture)
        return found

    def _picture(self, page: Any, row: int, column: int, picture: Path, name: str) -> None:
        look = {"x_offset": 3, "y_offset": 4, "x_scale": 1.0 / _DENSITY, "y_scale": 1.0 / _DENSITY}
        moved = 1  # hidden and sorted with its row, too
        page.insert_image(
            row, column, str(picture), {**look, "object_position": moved, "description": f"Structure of {name}"}
        )

    # ------------------------------------------------------------------ paper

    def _paper(self, page: Any, name: str, last: int, header: Sequence[str | None]) -> None:
        """Set a sheet up for printing: landscape, as wide as the paper, header and numbers on every page."""
        title = in_header(cell_text(self._contents.title))
        page.set_landscape() if name != "Settings" else page.set_portrait()
        page.set_paper(9)  # A4
        page.set_margins(left=0.4, right=0.4, top=0.75, bottom=0.6)
        page.repeat_rows(0)
        page.fit_to_pages(1, 0)
        page.hide_gridlines(1)
        # Structures stand in the pictures; their long texts would make everything else tiny on paper.
        width = len(header) - (bool(header) and header[-1] == "SMILES" and None in header)
        page.print_area(0, 0, last, max(0, width - 1))
        page.set_header(f'&L&"Calibri,Bold"{title}&R{name}')
        head = self._contents.status.head[:12]
        page.set_footer(
            f"&L{in_header(self._contents.exported)}, head {head}&C{in_header(self._contents.program)}&R&P / &N"
        )

    def _write_empty(self, page: Any, name: str) -> None:
        """Write into a box, outside the table's rows, that there is nothing to list and why."""
        status = self._contents.status
        words = {
            "Shortlist": f"There is no compound in this list ({self._contents.what}).\n\n{status.statement}",
            "Measurements": "Nothing has been measured yet.",
            "Rounds": "No round has been issued yet.",
        }
        text = cell_text(words.get(name, "There is nothing to list."))
        look = {"width": 560, "height": 120 if name == "Shortlist" else 50, "x_offset": 6, "y_offset": 10}
        page.insert_textbox(2, 0, text, {**look, "line": {"color": LIGHT.muted}, "font": {"size": 11}})
