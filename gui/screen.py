"""What the Candidates page shows, in the words of an export: which compounds, which columns, in which order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt

from assaypilot.engine.campaign.state import Status
from assaypilot.engine.export.measured import measured_means
from assaypilot.engine.export.sheet import Column as Written
from assaypilot.engine.export.sheet import unique
from assaypilot.engine.export.shortlist import AVAILABILITY, CONFIRMED, EVIDENCE, chances, table_of

from .dialogs.export import Screen
from .models.base import Column, RowsModel

__all__ = ["screen_of", "shortlist_columns"]


def shortlist_columns(status: Status) -> dict[str, tuple[str, ...]]:
    """The headers of the shortlist that say what a column of the page says, by the column's key.

    Headers are unique ("Status (2)" where a site is called Status), so they are found by their place.
    """
    header = iter(table_of(status, ()).header)
    found: dict[str, tuple[str, ...]] = {"id": (next(header),)}
    if status.library.smiles is not None:
        found["structure"] = (next(header),)
    for place in range(len(status.library.sites)):
        found[f"site{place}"] = (next(header),)
    found["status"], found["decided"] = (next(header),), (next(header),)
    if status.limited_endpoints:
        found["why"] = (next(header),)
    goal = [status.endpoints[place].name for place in status.goal_endpoints]
    shown = [*goal, *(name for k in status.limited_endpoints if (name := status.endpoints[k].name) not in goal)]
    for position, endpoint in enumerate(status.endpoints):
        first = bool(shown) and endpoint.name == shown[0]
        of_estimate = [next(header)]
        if endpoint.transform == "log":
            of_estimate.append(next(header))
        found["estimate" if first else f"estimate-{endpoint.name}"] = tuple(of_estimate)
        if measured_means(status, position):
            key = "mean" if position == status.objective else f"mean-{endpoint.name}"
            found[key] = (next(header), next(header))
        if endpoint.name in status.candidates.lows:
            found["interval" if first else f"interval-{endpoint.name}"] = (next(header), next(header))
    keys = ["near", "far"] if len(set(status.probability_names)) == 2 else ["near"]
    keys += [f"meets-{status.endpoints[place].name}" for place in status.limited_endpoints]
    for key, _ in zip(keys, chances(status), strict=True):
        found[key] = (next(header),)
    found["measured"] = (next(name for name in header if name.startswith(EVIDENCE)),)
    found["available"] = (next(name for name in header if name.startswith(AVAILABILITY)),)
    if status.confirmation.rounds:
        found["confirmed"] = (next(name for name in header if name.startswith(CONFIRMED)),)
    return found


def screen_of(
    status: Status, model: RowsModel, columns: Sequence[Column], beside: Mapping[str, Written], *, choice: str,
    words: str, arranged: bool,
) -> Screen:  # fmt: skip
    """The page as an export takes it; ``choice``: what the buttons say, ``words``: the filter's text.

    ``beside``: what was calculated, by the keys of the page's columns.
    """
    headers = shortlist_columns(status)
    own = table_of(status, ()).header
    names = unique([*own, *(column.name for column in beside.values())])[len(own) :]
    headers |= {key: (name,) for key, name in zip(beside, names, strict=True)}
    wanted = tuple(header for column in columns for header in headers.get(column.key, ()))
    said = [choice]
    if words:
        said.append(f"filter “{words}”")
    order = model.sorted_by
    if order is not None:
        column = model.columns[model.place_of(order[0])]
        name = " ".join((column.name or column.title).split())
        down = order[1] == Qt.SortOrder.DescendingOrder
        said.append(f"sorted by {name}{', falling' if down else ''}")
    if arranged:
        said.append("columns as arranged")
    return Screen(tuple(model.rows.tolist()), wanted, " · ".join(said), tuple(beside.values()))
