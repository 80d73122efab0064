"""Columns that say values are of different things which are counted together: targets, cells, assays."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from . import headers
from .curves import is_dose
from .options import EndpointColumn, TableMapping
from .raw import RawTable, fold
from .values import is_missing
from .vocabulary import HEADERS

__all__ = ["counted_together", "forms_together"]

_TELLS = HEADERS["tells values apart"]
"""What columns are called that tell values apart, folded, those that say it best first."""
_FORMS = HEADERS["tells forms apart"]
"""What columns are called that tell forms of a compound apart, folded."""
_NAMED = 3


def counted_together(
    raw: RawTable, used: Collection[str], endpoints: Sequence[EndpointColumn], name_column: str | None
) -> str | None:
    """Return a warning when the values of one endpoint are of several targets, cells or the like; None when none are.

    Only columns that nothing uses can tell so, and of those that do the first by ``_TELLS`` is named.
    """
    for name in (*_TELLS, None):
        for column in raw.columns:
            if column in used or (not is_dose(column) if name is None else fold(column) != name):
                continue
            for endpoint in endpoints:
                if name is None and headers.looks_like_activity(endpoint.endpoint.name):
                    continue  # a fitted value is of all concentrations
                kinds = _kinds(raw, column, endpoint, name_column)
                if len(kinds) > 1:
                    more = ", …" if len(kinds) > _NAMED else ""
                    return (
                        f"{endpoint.endpoint.name}: its values are of {len(kinds)} different ones by column {column} "
                        f"({', '.join(kinds[:_NAMED])}{more}) and count together. If they are not the same quantity, "
                        "keep the rows of one in the table."
                    )
    return None


def _kinds(raw: RawTable, column: str, endpoint: EndpointColumn, name_column: str | None) -> list[str]:
    """Return what a column says of the rows that have a value of an endpoint."""
    if endpoint.value is None:
        return []
    names = ("",) * len(raw) if name_column is None or endpoint.only is None else raw.column(name_column)
    only = "" if name_column is None or endpoint.only is None else endpoint.only
    rows = zip(raw.column(column), raw.column(endpoint.value), names, strict=True)
    return list(dict.fromkeys(kind for kind, value, of in rows if of == only and kind and not is_missing(value)))


def forms_together(raw: RawTable, mapping: TableMapping) -> list[str]:
    """Return a question for each column of isomers or salts in which the rows of one id differ.

    They count as one compound.
    """
    said = []
    for column in raw.columns:
        if mapping.id is None or fold(column) not in _FORMS or column in mapping.columns():
            continue
        of: dict[str, dict[str, None]] = {}
        for name, form in zip(raw.column(mapping.id), raw.column(column), strict=True):
            if name and form:
                of.setdefault(name, {})[form] = None
        several = [(name, forms) for name, forms in of.items() if len(forms) > 1]
        if several:
            name, forms = several[0]
            more = f", and {len(several) - 1:,} more ids" if len(several) > 1 else ""
            said.append(
                f"{name} has rows of different {column} ({', '.join([*forms][:_NAMED])}){more}: they count as one "
                "compound. If they are not, give each an id of its own."
            )
    return said
