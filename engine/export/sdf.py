"""An SD file: one record per compound of the shortlist, drawn as in every other picture, with its row as properties."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import AssayPilotError
from ..figures.aligned import Aligned
from ..figures.cores import carried
from ..system.progress import Report, silent
from .contents import Contents
from .formats import write_whole
from .sheet import Cell, plain, unique

_REPORT_EVERY = 50
_LONGEST_NAME = 80
"""Characters of the first line of a record."""
_BREAKS = re.compile(r"[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff\ufeff\ufffe\uffff]")
_EMPTY = "\n     RDKit          2D\n\n  0  0  0  0  0  0  0  0  0  0999 V2000\nM  END\n"
_REMARK = "Comment"
_UNKNOWN = "The structure is not known."


def write(path: Path, contents: Contents, report: Report = silent) -> int:
    """Return the number of records written.

    V2000, V3000 where a compound needs it (relative stereo, more than 999 atoms).

    A record's name is the compound's id, which is a property as well. Numbers are written so that they are read back
    the same; an empty cell is no property. A compound without structure is an empty molecule with a
    comment: its data are not lost. AssayPilotError when there is no compound, or none with a structure: then there is
    nothing an SD file is for; ``report`` may raise Cancelled. Either leaves what was there before.
    """
    report(0.0, "Collecting the shortlist")
    status = contents.status
    compounds: list[int] = contents.compounds.tolist()
    smiles = [contents.structure(compound) for compound in compounds]
    if not compounds:
        raise AssayPilotError(
            "there is no compound in this list, and an SD file holds nothing else",
            file=str(path),
            mend="Choose other compounds (undecided or all), or write xlsx, which says why.",
        )
    if not any(smiles):
        raise AssayPilotError(
            "no compound of the shortlist has a structure, and an SD file is a list of structures",
            file=str(path),
            mend="Write csv or xlsx; or begin the campaign with a column SMILES.",
        )
    sheet = contents.shortlist_with_provenance
    *names, remark = unique([*(_header(name) for name in sheet.header), _REMARK])
    aligned = Aligned.of(status.library, smiles)
    stream = io.StringIO(newline="")
    for place, (compound, text, row) in enumerate(zip(compounds, smiles, sheet.rows, strict=True)):
        if place % _REPORT_EVERY == 0:
            report(0.05 + 0.9 * place / len(compounds), f"Writing records: {place:,} of {len(compounds):,}")
        molecule = aligned.molecule(text, carried(status.library, compound)) if text else None
        block = mol_block(molecule, text)
        stream.write(first_line(status.library.ids[compound]) + (_EMPTY if block is None else block))
        for name, cell in zip(names, row, strict=True):
            if name != "SMILES" and (value := _value(cell)):
                stream.write(f">  <{name}>\n{value}\n\n")
        if block is None:
            stream.write(f">  <{remark}>\n{_UNKNOWN}\n\n")
        stream.write("$$$$\n")
    report(0.95, "Writing the file")
    write_whole(path, stream.getvalue().encode())
    return len(compounds)


def mol_block(molecule: Any, smiles: str) -> str | None:
    """Return the molblock below its first line; None when there is no structure.

    RDKit crosses a double bond of unknown geometry, so that it is not read as drawn.
    """
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():
        if molecule is None:  # too large to be drawn, or none at all
            molecule = Chem.MolFromSmiles(smiles) if smiles else None
            if molecule is None or not molecule.GetNumAtoms():
                return None
        if not molecule.GetStereoGroups():
            molecule.SetIntProp("_MolFileChiralFlag", 1)  # what is drawn is meant, not its mirror image as well
        block: str = Chem.MolToMolBlock(molecule, forceV3000=bool(molecule.GetStereoGroups()))
    return block[block.index("\n") :]


def _header(name: str) -> str:
    """Return the name of a property: < and > would end it, and the file knows no sign for them."""
    line = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", _BREAKS.sub(" ", name))
    line = " ".join(line.split()).replace("<=", "≤").replace(">=", "≥")
    return line.replace("<", "‹").replace(">", "›") or "property"


def first_line(text: str) -> str:
    """Return a compound's id as the first line of a record.

    Where nothing that begins the next part of a file may stand.
    """
    line = " ".join(_CONTROL.sub("\N{REPLACEMENT CHARACTER}", _BREAKS.sub(" ", text)).split())
    line = line.replace("M END", "M_END")
    if line.startswith((">", "$$$$")):
        line = f" {line}"
    return line[:_LONGEST_NAME] if line.isprintable() else line


def _value(cell: Cell) -> str:
    """Return a property's value; empty when there is none."""
    if not isinstance(cell, str):
        return plain(cell)
    lines = [line.rstrip() for line in _CONTROL.sub("\N{REPLACEMENT CHARACTER}", _BREAKS.sub("\n", cell)).split("\n")]
    # An empty line ends the value, a line that begins like the next property or the next record would be taken for it.
    return "\n".join(f" {line}" if line.startswith((">", "$$$$")) else line for line in lines if line.strip())


def molfile(smiles: str, name: str, cores: Sequence[str] = ()) -> str:
    """Return the molfile of a structure under a name, turned to one of the cores.

    AssayPilotError when it cannot be read.
    """
    block = mol_block(Aligned(cores, [smiles]).molecule(smiles), smiles) if smiles else None
    if block is None:
        raise AssayPilotError(f"the structure of {name} cannot be read", mend="Copy its SMILES instead.")
    return first_line(name) + block
