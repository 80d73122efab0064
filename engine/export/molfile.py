"""A structure as a molfile, for programs that draw: laid out like every picture of its library."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import AssayPilotError
from ..figures.aligned import Aligned
from .sdf import first_line, mol_block

__all__ = ["molfile"]


def molfile(smiles: str, name: str, cores: Sequence[str] = ()) -> str:
    """Return the molfile of a structure under a name, turned to one of the cores.

    AssayPilotError when it cannot be read.
    """
    block = mol_block(Aligned(cores, [smiles]).molecule(smiles), smiles) if smiles else None
    if block is None:
        raise AssayPilotError(f"the structure of {name} cannot be read", mend="Copy its SMILES instead.")
    return first_line(name) + block
