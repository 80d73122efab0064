"""The columns of a table while it is found out which is what: each is taken once, and what is to be said is kept."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import AssayPilotError
from . import headers
from .raw import RawTable
from .values import is_missing, parse_value, plain_number

__all__ = ["SAMPLED", "Claims"]

SAMPLED = 2000
"""Cells by which a column is judged."""


class Claims:
    """Which columns are taken, and what there is to say about them."""

    def __init__(self, raw: RawTable) -> None:
        self.raw = raw
        self.taken: set[str] = set()
        self.notes: list[str] = []
        self.warnings: list[str] = []

    def free(self) -> list[str]:
        """Return the columns that nothing has taken."""
        return [column for column in self.raw.columns if column not in self.taken]

    def named(self, name: str | None, option: str) -> str | None:
        """Return the column that a user names, which is taken.

        None without a name, AssayPilotError when there is none.
        """
        if name is None:
            return None
        column = self.raw.find(name.strip())
        if column is None:
            raise AssayPilotError(
                f"there is no column {name!r}; the columns are {', '.join(self.raw.columns)}",
                file=self.raw.file,
                option=option,
                mend="Name one of them.",
            )
        self.taken.add(column)
        return column

    def first(self, names: tuple[str, ...]) -> str | None:
        """Return the first free column with one of the names, the surest name first; it is taken."""
        column = self.raw.called(names, self.taken)
        if column is not None:
            self.taken.add(column)
        return column

    def role(self, role: str) -> str | None:
        """Return the first free column with a name of a role; it is taken."""
        return self.first(headers.ROLES[role])

    def any_of(self, names: tuple[str, ...]) -> str | None:
        """Return the first free column with one of the names, which stays free."""
        return self.raw.called(names, self.taken)

    def numbers(self, column: str) -> list[str]:
        """Return the texts of a column that are numbers, when at least half of its filled cells are."""
        texts = [text for text in self.raw.column(column)[:SAMPLED] if not is_missing(text)]
        numbers = [text for text in texts if self.is_number(text)]
        if not texts and len(self.raw) > SAMPLED:
            rest = self.raw.column(column)[SAMPLED:]
            numbers = [text for text in rest if not is_missing(text) and self.is_number(text)][:SAMPLED]
            texts = numbers
        return numbers if numbers and 2 * len(numbers) >= len(texts) else []

    def values(self, texts: Sequence[str]) -> list[float]:
        """Return the exact numbers among the first cells of a column."""
        found = []
        for text in texts[:SAMPLED]:
            number = plain_number(text)
            if number is None and not is_missing(text):
                try:
                    read = parse_value(text, self.raw.decimal)
                except ValueError:
                    continue
                number = read.value if read.relation == "=" else None
            if number is not None:
                found.append(number)
        return found

    def is_number(self, text: str) -> bool:
        """Whether a text is a measured number."""
        try:
            unit = parse_value(text, self.raw.decimal).unit
        except ValueError:
            return False
        # "3 Me" is a label; a column of numbers has a unit of concentration or none, or per cent.
        return unit is None or unit.startswith("%") or headers.looks_like_concentration(unit)
