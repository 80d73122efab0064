"""Classes of noise that a column of the table names, such as how soluble each compound is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assaypilot.engine.endpoint import Endpoint
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.values import is_missing

if TYPE_CHECKING:
    from assaypilot.engine.tables.importer import ImportedTable
    from assaypilot.engine.tables.raw import RawTable

__all__ = ["with_classes_of"]

_SHOWN = 12


def with_classes_of(endpoint: Endpoint, raw: RawTable, imported: ImportedTable) -> Endpoint:
    """The endpoint, whose classes of noise are the compounds' in the column they name; as it is where that is a site.

    AssayPilotError for a name that is neither, for a class that no compound has, and for a compound with two.
    """
    own = endpoint.noise_classes
    if own is None or any(site.name == own.site for site in imported.library.sites):
        return endpoint
    column = raw.find(own.site)
    if column is None:
        raise AssayPilotError(
            f"there is no site or column {own.site!r} that the noise of {endpoint.name} could differ by",
            option="--noise-class",
            mend=f"Name a site ({', '.join(site.name for site in imported.library.sites)}) or a column of the table.",
        )
    found: dict[str, str] = {}
    for row, name, text in zip(raw.rows, imported.of_row, raw.column(column), strict=True):
        if name is not None and not is_missing(text) and found.setdefault(name, text) != text:
            raise AssayPilotError(
                f"{name} is {found[name]} and {text}", row=row, column=column, mend="Give each compound one class."
            )
    if not found:
        raise AssayPilotError(
            f"{column} is empty, and says nothing of whose noise differs", option="--noise-class", mend="Leave it out."
        )
    if not own.sds:
        # Each of its words is a class.
        own = replace(own, sds=tuple((name, None) for name in dict.fromkeys(found.values())))
    missing = next((name for name, _ in own.sds if name not in found.values()), None)
    if missing is not None:
        shown = list(dict.fromkeys(found.values()))
        listed = ", ".join(shown[:_SHOWN]) + (", ..." if len(shown) > _SHOWN else "")
        raise AssayPilotError(
            f"no compound is {missing} in {column}",
            option="--noise-class",
            mend=f"Name one of: {listed}.",
        )
    named = {name for name, _ in own.sds}
    compounds = tuple((name, one) for name, one in found.items() if one in named)
    return replace(endpoint, noise_classes=replace(own, site=column, compounds=compounds))
