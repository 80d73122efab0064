"""Tables as programs and labs export them, written after real ones, and the reading that is right.

The tables stand in the folder ``exports``, what is right of each in ``exports/expected.json``.
"""

import json
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "exports"


@dataclass(frozen=True)
class Export:
    """One table and what must be understood of it without any option."""

    name: str
    file: str
    about: str
    compounds: int
    endpoints: dict[str, tuple[str, str, str, int, int]]
    """By name: direction on the model scale, transform, unit, exact values, bounds."""
    sites: tuple[str, ...] | int
    """Their names, or how many come of a core."""
    id: str | None = None
    smiles: str | None = None
    said: tuple[str, ...] = ()
    """Parts of what must be told."""
    slow: bool = False
    """Whether quicker tables ask the same of it."""

    @property
    def path(self) -> Path:
        """Where the table is."""
        return FOLDER / self.file


def _read(case: dict) -> Export:
    sites = case.pop("sites")
    endpoints = {name: tuple(values) for name, values in case.pop("endpoints").items()}
    return Export(**case, endpoints=endpoints, sites=sites if isinstance(sites, int) else tuple(sites))


EXPORTS = [_read(case) for case in json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))]
