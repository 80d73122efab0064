"""Tables as PubChem and DataWarrior write them: what stands around their rows, and what their own words mean."""

from __future__ import annotations

import re

from ..errors import AssayPilotError
from . import headers
from .raw import fold, rows_named

_TAG = "PUBCHEM_RESULT_TAG"
_ABOUT = re.compile(r"RESULT_[A-Z_]+")
_UNITS = {
    "MOLAR": "M",
    "MILLIMOLAR": "mM",
    "MICROMOLAR": "µM",
    "NANOMOLAR": "nM",
    "PICOMOLAR": "pM",
    "PERCENT": "%",
    "MICROGRAMS PER MILLILITER": "µg/mL",
    "MILLIGRAMS PER MILLILITER": "mg/mL",
}
"""Units of PubChem's BioAssay data dictionary, of those that tables hold."""

_START, _PROPERTIES, _PROPERTIES_END = "<datawarrior-fileinfo>", "<column properties>", "</column properties>"
_BEHIND = re.compile(r"<(?:datawarrior properties|hitlist data|detail data|datawarrior explanation|data)\b")
_NAME = re.compile(r'<columnName="(.*)">')
_SPECIAL = re.compile(r'<columnProperty="specialType\t(.*)">')
_OF_STRUCTURES = ("idcode", "idcoordinates", "FragFp", "atomColorInfo", "reaction", "rxncode")


def pubchem_rows(numbered: list[tuple[int, list[str]]], warnings: list[str]) -> list[tuple[int, list[str]]]:
    """Return the rows of a table with its header.

    In a bioassay of PubChem without those that only describe its columns.

    The units they give are joined to the headers. Any other table stays as it is.
    """
    if not numbered or not numbered[0][1] or numbered[0][1][0].strip() != _TAG:
        return numbered
    row, header = numbered[0]
    about = {}
    for at, record in numbered[1:]:
        if not _ABOUT.fullmatch(record[0].strip()):
            break
        about[record[0].strip()] = (at, record)
    if not about:
        return numbered
    units = about.get("RESULT_UNIT", (0, []))[1]
    names = [
        f"{name} ({_UNITS[unit]})" if (unit := text.strip().upper()) in _UNITS else name
        for name, text in zip(header, [*units, *[""] * len(header)], strict=False)
    ]
    places = [at for at, _ in about.values()]
    warnings.append(
        f"{rows_named(places)} {'describe' if len(places) > 1 else 'describes'} the columns, as PubChem does; "
        "their units were joined to the headers."
    )
    return [(row, names), *((at, record) for at, record in numbered[1:] if at not in places)]


def is_datawarrior(text: str) -> bool:
    """Whether a text is a file of DataWarrior."""
    return text.startswith(_START)


def datawarrior_table(text: str, name: str | None, warnings: list[str]) -> str:
    """Return the table in a file of DataWarrior, tab-separated, each line where it stood; lines of settings are blank.

    Structures in DataWarrior's own code are left out and that is said. AssayPilotError when they are all there is to
    make sites of, or no row follows the settings.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    top = next((place for place, line in enumerate(lines) if line == "</datawarrior-fileinfo>"), 0) + 1
    coded = set()
    if _PROPERTIES in lines and _PROPERTIES_END in lines:
        first, last = lines.index(_PROPERTIES), lines.index(_PROPERTIES_END)
        coded = _coded(lines[first:last])
        top = max(top, last + 1)
    # What comes before the table can have several parts (such as <datawarrior explanation>), each with its end.
    while (
        top < len(lines) and (opened := re.fullmatch(r"<([a-z ]+)>", lines[top])) and f"</{opened[1]}>" in lines[top:]
    ):
        top = lines.index(f"</{opened[1]}>", top) + 1
    end = next((place for place in range(top, len(lines)) if _BEHIND.match(lines[place])), len(lines))
    table = [line.split("\t") for line in lines[top:end]]
    if len(table) < 2:
        raise AssayPilotError("there is no table in this file of DataWarrior", file=name, mend=_SAVE)
    kept = [place for place, column in enumerate(table[0]) if column not in coded]
    lost = [column for column in table[0] if column in coded]
    rest = [fold(table[0][place]) for place in kept]
    if lost:
        if not any(column in headers.STRUCTURES or headers.SITE.fullmatch(column) for column in rest):
            raise AssayPilotError(
                "the structures in this file are in DataWarrior's own code, which is not read", file=name, mend=_SAVE
            )
        warnings.append(f"In DataWarrior's own code, which is not read: {', '.join(lost)}.")
    rows = ["\t".join(line[place] for place in kept if place < len(line)) for line in table]
    return "\n" * top + "\n".join(rows).replace("<NL>", "; ")


_SAVE = "In DataWarrior: File, Save Special, SD-File (or Textfile with SMILES); read that."


def _coded(lines: list[str]) -> set[str]:
    """Return the columns that hold structures, or what belongs to them, in a code of the program's own."""
    found = set()
    column = ""
    for line in lines:
        if (named := _NAME.fullmatch(line)) is not None:
            column = named[1]
        elif (special := _SPECIAL.fullmatch(line)) is not None and special[1].startswith(_OF_STRUCTURES):
            found.add(column)
    return found
