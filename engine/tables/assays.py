"""The assays that values come from: each an endpoint of its own or pooled, and what is counted together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace

from ..domain.endpoint import Endpoint
from ..errors import AssayPilotError
from ..text import listed
from . import headers
from .column_roles import Claims, is_condition, share_of_dates
from .endpoint_kinds import described, of_reactions
from .normalise import is_dose
from .options import EndpointColumn, EndpointSpec, TableMapping
from .raw import HEADERS, PATTERNS, RawTable, fold
from .values import is_missing

EACH, POOLED = "each", "pooled"
_ASSAYS = PATTERNS["assay or source"]
_OF_ASSAYS = re.compile(r"\b(?:run|plate|well|date|batch|lot|barcode)\b")
"""Columns of which an assay has many values: they name no assays."""
_MOST = 40
_TOGETHER = 0.2
"""The share of the compounds in two and more assays from which each assay is an endpoint of its own."""
_SHOWN = 5


def by_assay(
    claims: Claims,
    columns: Sequence[EndpointColumn],
    keys: Sequence[Hashable],
    requested: str | None,
    name_column: str | None = None,
) -> tuple[str | None, tuple[EndpointColumn, ...]]:
    """Return the column that names assays, if values come from several, and the endpoints as they are read then.

    Where assays share compounds each is an endpoint of its own; where they hardly do they are pooled, and each value
    keeps the name of its assay. ``keys``: the compound of each row; ``requested``: ``each``, ``pooled`` or the assay;
    ``name_column``: the column that names endpoints.
    """
    raw = claims.raw
    values = [column for column in columns if column.value is not None]
    column = _assay_column(claims, values, requested)
    if column is None:
        if requested is not None:
            raise AssayPilotError(
                "no column names assays or sources", file=raw.file, option="--assays", mend="Leave the option out."
            )
        return None, tuple(columns)
    claims.taken.add(column)
    texts = raw.column(column)
    names = [name for name, _ in Counter(text for text in texts if not is_missing(text)).most_common()]
    of: dict[Hashable, set[str]] = {}
    for key, text in zip(keys, texts, strict=True):
        if key and not is_missing(text):
            of.setdefault(key, set()).add(text)
    shared = sum(len(found) > 1 for found in of.values())
    reading = requested or (EACH if shared >= _TOGETHER * len(of) else POOLED)
    shown = listed(names, _SHOWN)
    head = (
        f"Column {column} names {len(names)} assays or sources ({shown}); {shared} of {len(of)} compounds are in "
        "several."
    )
    if fold(reading) == POOLED:
        claims.warnings.append(
            f"{head} They are pooled, and each value keeps its assay as its batch; each may be an endpoint, or one "
            "alone be read."
        )
        return column, tuple(columns)
    if fold(reading) == EACH:
        claims.warnings.append(f"{head} Each is an endpoint of its own; they may be pooled, or one alone be read.")
        return column, tuple(part for one in columns for part in _each(claims, one, texts, names, name_column))
    chosen = next((name for name in names if fold(name) == fold(reading)), None)
    if chosen is None:
        raise AssayPilotError(
            f"column {column} names no assay {reading!r}; it names {shown}",
            file=raw.file,
            option="--assays",
            mend="Name one of them, or give each or pooled.",
        )
    claims.notes.append(f"Only the values of {chosen} in column {column} are read.")
    return column, tuple(one if one.value is None else replace(one, assay=chosen) for one in columns)


def _assay_column(claims: Claims, values: Sequence[EndpointColumn], requested: str | None) -> str | None:
    """Return the column that names most assays, the shortest names first."""
    raw = claims.raw
    found = []
    for column in claims.free():
        folded = fold(headers.split_unit(column)[0])
        named = _ASSAYS.search(folded) is not None and _OF_ASSAYS.search(folded) is None
        if not named or headers.role_of(column) is not None or claims.numbers(column):
            continue
        texts = [text for text in raw.column(column) if not is_missing(text)]
        different = len(set(texts))
        if not 1 < different <= min(_MOST, len(texts) // 2) or share_of_dates(texts) > 0.5:
            continue
        # A column that changes with the values' own name adds nothing.
        length = sum(map(len, set(texts))) / different
        found.append((-different, length, raw.columns.index(column), column))
    return min(found)[-1] if found and values else None


def _each(
    claims: Claims, column: EndpointColumn, texts: Sequence[str], names: Sequence[str], name_column: str | None
) -> list[EndpointColumn]:
    """Return an endpoint's column once for each assay that has values of it."""
    if column.value is None:
        return [column]
    endpoint, cells = column.endpoint, _cells(claims.raw, column, name_column)
    held = {name for name, cell in zip(texts, cells, strict=True) if not is_missing(cell) and not is_missing(name)}
    if len(held) < 2 and not (held and column.only):
        return [column]
    out = []
    for name in names:
        if name not in held:
            continue
        own = [cell for cell, text in zip(cells, texts, strict=True) if text == name]
        out.append(_of_assay(column, endpoint, name, claims.values(own)))
    return out


def _of_assay(column: EndpointColumn, endpoint: Endpoint, name: str, values: Sequence[float]) -> EndpointColumn:
    if endpoint.kind != "value":
        return replace(column, endpoint=replace(endpoint, name=f"{endpoint.name} {name}"), assay=name)
    given = column.direction_why == "given"
    spec = EndpointSpec(
        f"{endpoint.name} {name}",
        endpoint.unit,
        endpoint.direction if given else None,
        endpoint.transform,
        endpoint.noise_sd,
        endpoint.wells_per_measurement,
        endpoint.epsilon,
        endpoint.limit,
        sd_estimated=endpoint.noise_estimated,
    )
    found = described(spec, f"{headers.split_unit(endpoint.name)[0]} {name}", endpoint.unit, values).column
    return replace(
        column,
        endpoint=found.endpoint,
        assay=name,
        direction_why=found.direction_why,
        direction_known=found.direction_known or column.direction_known,
    )


_DISTINGUISH_VALUES = HEADERS["tells values apart"]
"""Folded names of columns that distinguish values, the clearest first."""
_DISTINGUISH_FORMS = HEADERS["tells forms apart"]
"""Folded names of columns that distinguish forms of a compound."""
_NAMED = 3


def counted_together(
    claims: Claims, endpoints: Sequence[EndpointColumn], name_column: str | None, keys: Sequence[Hashable]
) -> None:
    """Warn when the values of one endpoint are of several targets, cells or the like, or conditions of a reaction.

    Only unused columns count, and of those that differ the first by ``_DISTINGUISH_VALUES`` is named. Conditions have
    to differ within a compound, by ``keys``.
    """
    raw = claims.raw
    called = [column for name in _DISTINGUISH_VALUES for column in raw.columns if fold(column) == name]
    doses = [column for column in raw.columns if is_dose(column) and column not in called]
    conditions = [c for c in raw.columns if is_condition(c)] if of_reactions(raw) else []
    n = len(set(keys))
    differing = [c for c in conditions if len(set(zip(keys, raw.column(c), strict=True))) > n]
    for column in (one for one in (*called, *doses, *differing) if one not in claims.taken):
        for endpoint in endpoints:
            if column in doses and headers.looks_like_activity(endpoint.endpoint.name):
                continue  # a fitted value is of all concentrations
            kinds = _kinds(raw, column, endpoint, name_column)
            if len(kinds) > 1:
                more = ", …" if len(kinds) > _NAMED else ""
                claims.reported.add(column)
                claims.warnings.append(
                    f"{endpoint.endpoint.name}: its values are of {len(kinds)} different ones by column {column} "
                    f"({', '.join(kinds[:_NAMED])}{more}) and count together. If they are not the same quantity, "
                    "keep the rows of one in the table."
                )
                return


def _kinds(raw: RawTable, column: str, endpoint: EndpointColumn, name_column: str | None) -> list[str]:
    """Return the texts of a column in the rows that have a value of an endpoint."""
    kinds = zip(raw.column(column), _cells(raw, endpoint, name_column), strict=True)
    return list(dict.fromkeys(kind for kind, value in kinds if kind and not is_missing(value)))


def _cells(raw: RawTable, endpoint: EndpointColumn, name_column: str | None) -> Sequence[str]:
    """Return the cells of an endpoint's values, "" in rows of other endpoints."""
    cells: Sequence[str] = ("",) * len(raw) if endpoint.value is None else raw.column(endpoint.value)
    if name_column is None or endpoint.only is None:
        return cells
    return [c if name == endpoint.only else "" for c, name in zip(cells, raw.column(name_column), strict=True)]


def forms_together(raw: RawTable, mapping: TableMapping) -> list[str]:
    """Return a question for each column of isomers or salts in which the rows of one id differ.

    They count as one compound.
    """
    questions = []
    for column in raw.columns:
        if mapping.id is None or fold(column) not in _DISTINGUISH_FORMS or column in mapping.columns():
            continue
        of: dict[str, dict[str, None]] = {}
        for name, form in zip(raw.column(mapping.id), raw.column(column), strict=True):
            if name and form:
                of.setdefault(name, {})[form] = None
        several = [(name, forms) for name, forms in of.items() if len(forms) > 1]
        if several:
            name, forms = several[0]
            more = f", and {len(several) - 1:,} more ids" if len(several) > 1 else ""
            questions.append(
                f"{name} has rows of different {column} ({', '.join([*forms][:_NAMED])}){more}: they count as one "
                "compound. If they are not, give each an id of its own."
            )
    return questions
