"""How the cells of a workbook look: which of them have a style that means something."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any
from xml.etree import ElementTree

from .zipped import Archive, column_number, read_xml, sheet_path

__all__ = ["cells_with", "say_struck", "styles_of"]

_NAMED = 5


def styles_of(archive: Archive) -> ElementTree.Element | None:
    """Return the part of the workbook with its styles; None where it has none that can be read."""
    return read_xml(archive.book, "xl/styles.xml")


def cells_with(archive: Archive, place: int, styles: Sequence[int]) -> Iterator[tuple[str, int, int]]:
    """Yield the letters, row and column (from 0) of the cells of the sheet at ``place`` that have one of the styles."""
    path = sheet_path(archive.book, place) if styles else None
    if path is None:
        return
    numbers = b"|".join(str(style).encode() for style in styles)
    for attributes in re.findall(rb"<(?:\w+:)?c\b([^>]*\ss=[\"'](?:%b)[\"'][^>]*)>" % numbers, archive.book.read(path)):
        at = re.search(rb"\sr\s*=\s*[\"']([A-Za-z]+)(\d+)", attributes)
        if at is not None:
            yield at[1].decode(), int(at[2]) - 1, column_number(at[1]) - 1


def say_struck(
    archive: Archive, place: int, rows: Sequence[int], lines: Sequence[Sequence[Any]], warnings: list[str]
) -> None:
    """Say which cells of the table are struck through: labs do so for values that are not to be used.

    ``rows``: those of the table; ``lines``: the cells of the sheet, from its first row and column on.
    """
    root = styles_of(archive)
    struck = [] if root is None else _struck(root)
    inside = {row - 1 for row in rows}
    found = [
        f"{letters}{row + 1}"
        for letters, row, column in cells_with(archive, place, struck)
        if row in inside and column < len(lines[row]) and lines[row][column] != ""
    ]
    if found:
        many = len(found) > 1
        more = f" and {len(found) - _NAMED:,} more" if len(found) > _NAMED else ""
        warnings.append(
            f"Cell{'s' if many else ''} {', '.join(found[:_NAMED])}{more} of the sheet {'are' if many else 'is'} struck"
            f" through and {'were' if many else 'was'} read like all others. Empty what is not to be used."
        )


def _struck(root: ElementTree.Element) -> list[int]:
    """Return the numbers of the styles of cells whose font is struck through."""
    fonts = next((node for node in root.iter() if node.tag.endswith("}fonts")), None)
    lines = [] if fonts is None else [next((n for n in font if n.tag.endswith("}strike")), None) for font in fonts]
    own = {str(place) for place, line in enumerate(lines) if line is not None and line.get("val") not in ("0", "false")}
    formats = next((node for node in root.iter() if node.tag.endswith("}cellXfs")), None)
    return [place for place, node in enumerate(() if formats is None else formats) if node.get("fontId") in own]
