"""DataFrames as the engine's tables of texts, and keywords as its options."""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
import pandas as pd

from ..arrays import Ints
from ..campaign.issued_rounds import Round
from ..campaign.state import Status
from ..domain.controls import Control, parse_control
from ..domain.desirability import Curve, parse_curve
from ..errors import AssayPilotError
from ..tables.normalise import as_meant
from ..tables.opening import read_table as read_raw
from ..tables.options import EndpointSpec, TableOptions, parse_endpoint_spec
from ..tables.raw import RawTable, visible

Table = pd.DataFrame | str | Path
"""A DataFrame, or the path of a table file."""

_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
"""A text that means the same as a number: ``007`` is an id."""


def read_table(path: str | Path, *, sheet: str | None = None) -> pd.DataFrame:
    """Read a table as a campaign would: csv, tsv, workbooks, SD files, SMILES files and DataWarrior.

    Columns of nothing but numbers become numbers, empty cells NaN; all other cells stay texts, ``>10000`` and
    ``007`` too. ``frame.attrs["notes"]`` lists what was assumed while reading. ``sheet`` names one of a workbook.
    AssayPilotError for what cannot be read.
    """
    raw = read_raw(path, sheet=sheet)
    frame = pd.DataFrame({name: _values(raw.column(name), raw.decimal) for name in raw.columns})
    frame.attrs["notes"] = list(raw.warnings)
    return frame


def raw_of(table: Table, *, sheet: str | None = None) -> RawTable:
    """Return the engine's table of a DataFrame or a file; rows of a frame are called as its index calls them.

    A named index counts as a column. AssayPilotError for a frame without columns, or with two of one name.
    """
    if not isinstance(table, pd.DataFrame):
        if not isinstance(table, str | Path):
            raise AssayPilotError(
                f"a table must be a DataFrame or a path, got {type(table).__name__}",
                mend="For example pd.DataFrame(x).",
            )
        return read_raw(table, sheet=sheet)
    if table.columns.nlevels > 1:
        raise AssayPilotError(
            f"the columns have {table.columns.nlevels} levels of names",
            mend='Give each one name: table.columns = table.columns.map(" ".join).',
        )
    frame = table.reset_index() if any(name is not None for name in table.index.names) else table
    columns = tuple(visible(str(name)).strip() for name in frame.columns)
    if not columns or not len(frame):
        raise AssayPilotError("the table is empty", mend="Give a DataFrame with a row for each compound.")
    twice = next((name for name in columns if columns.count(name) > 1), None)
    if twice is not None:
        raise AssayPilotError(f"two columns are called {twice}", column=twice, mend="Give each a name of its own.")
    cells = tuple(tuple(map(text_of, frame.iloc[:, place])) for place in range(len(columns)))
    content = "\x1e".join("\x1f".join(texts) for texts in (columns, *cells))
    labels = frame.index
    named = labels.is_unique and all(isinstance(label, int | np.integer) and label >= 0 for label in labels)
    rows = tuple(int(label) for label in labels) if named else tuple(range(len(frame)))
    digest = hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()
    return as_meant(RawTable(columns, cells, rows, "text", "", ".", None, digest))


def plain(value: Any) -> Any:
    """Return a number of numpy as one of Python, which a file can keep; anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def text_of(value: Any) -> str:
    """Return a cell as a person would type it: no text for missing values, numbers with all their digits."""
    if isinstance(value, str):
        return visible(value).strip()
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        number = float(value)
        if not np.isfinite(number):
            return "" if np.isnan(number) else str(number)
        return np.format_float_positional(number, trim="-")
    if value is None or value is pd.NaT or value is pd.NA:
        return ""
    if isinstance(value, pd.Timestamp):
        return value.date().isoformat() if value == value.normalize() else value.isoformat()
    return visible(str(value)).strip()


def _values(texts: Iterable[str], decimal: str) -> list[Any]:
    """Return the cells of a column as numbers where all of them are, else as texts; None where empty."""
    kept = [text or None for text in texts]
    plain = [text if text is None else text.replace(decimal, ".") for text in kept]
    if not any(plain):
        return [np.nan] * len(kept)
    if not all(text is None or _NUMBER.fullmatch(text) for text in plain):
        return kept
    whole = all(text is not None and text.lstrip("-").isdigit() and len(text) < 16 for text in plain)
    return [int(text) if whole and text is not None else np.nan if text is None else float(text) for text in plain]


class Coding:
    """Substituents of some sites as codes; labels that were not seen before get codes of their own."""

    def __init__(self, labels: Sequence[Sequence[str]] = ()) -> None:
        self.labels = [list(own) for own in labels]

    def codes(self, columns: Sequence[Iterable[str]]) -> Ints:
        """Return ``(n, n_sites)`` codes of the labels in columns, one column per site."""
        coded = []
        for site, texts in enumerate(columns):
            while len(self.labels) <= site:
                self.labels.append([])
            known = {label: code for code, label in enumerate(self.labels[site])}
            coded.append([known.setdefault(text, len(known)) for text in texts])
            self.labels[site] = list(known)
        return np.array(coded, dtype=np.intp).T

    @property
    def sizes(self) -> list[int]:
        """Substituents per site."""
        return [len(own) for own in self.labels]


class EndpointTerms(TypedDict, total=False):
    """The options of one endpoint; sd, epsilon and estimates are on the model scale (log10 of a log endpoint)."""

    unit: str
    direction: str
    """``max`` or ``min``."""
    transform: str
    """``log`` or ``none``."""
    sd: float | str | None
    """SD between independent measurements of one compound; None or ``unknown``: estimated."""
    epsilon: float
    limit: str
    """``<5``: compounds have to keep to it; in the unit of the values."""
    of: str
    """``pIC50 - hERG``: the difference of two others."""
    kind: str
    """``value``, ``yes-no`` or ``count``."""
    words: str
    wells_per_measurement: int


Endpoints = Mapping[str, EndpointTerms | float | None] | Sequence[str] | str
"""Options of each by its name, or its SD alone; or names; or the texts of the option ``--endpoint``."""


class MoreOptions(TypedDict, total=False):
    """Further options of a campaign; names and meanings are those of ``assaypilot new --help``."""

    objective: str | Sequence[str]
    """Endpoints the goal is about; default: the only one, for trade-offs all."""
    profile: Mapping[str, Sequence[float] | str] | Sequence[str]
    """Desirability curves, ``{"pIC50": (6, 8), "phERG": (6, 5)}``: 0 at the first, 1 at the second; or texts such as
    ``phERG:6..5;weight=0.5``. The goal is then about the score."""
    slack: float
    """How soft the cutoff is; default: half of epsilon."""
    history: str
    """``data`` (default): values in the table count; ``shown``: they are only shown."""
    delta: float
    """1 - confidence; default 0.05."""
    parameters: Mapping[str, Any]
    """Of the strategy, by name."""
    top: int
    """Number of best compounds sought, for the goal ``top``."""
    max_replicates: int
    """Measurements of one compound in a round; default 4."""
    budget: int
    """Measurements in all; default: no limit."""
    sd: float
    """Assay noise of endpoints that name none."""
    seed: int
    """Of random choices; default 0."""
    name: str
    """Of the campaign."""
    control: Sequence[str]
    """Compounds measured on every plate, ``REF-1;value=7.1``."""
    sheet: str
    """Of a workbook."""
    id: str
    """Column of ids; default: found."""
    smiles: str
    """Column of structures."""
    core: Sequence[str]
    """SMILES with sites ``[*:1]``, or a file; structures are decomposed by it."""
    blank: str
    """What an empty substituent is: ``missing`` (default) or ``h``."""
    product: bool
    """Whether the library is every combination of the substituents."""
    only_listed: bool
    """With ``product``: only compounds of the table can be measured."""
    available: str
    """Column of whether a compound is available."""
    stock: str
    """Column of stock states: in stock, to be made, or cannot be made."""
    cost: str
    """Column of what making a compound costs."""
    lead: str
    """Column of how many days that takes."""
    merge: str
    """Ids with the same structure are one: ``no``, ``identical``, ``charge`` or ``tautomer``."""
    interaction: Sequence[str]
    """Pairs of sites to take together, ``R1,R2``."""
    assays: str
    """Where a column names assays: ``each``, ``pooled`` or one of them."""


_COLUMN_OPTIONS = ("id", "smiles", "only_listed", "available", "stock", "cost", "lead", "sd", "assays")
"""Options of a table that are taken as they are."""
_CHOICES = {"history": ("data", "shown"), "blank": ("missing", "h"), "merge": ("no", "identical", "charge", "tautomer")}


def endpoint_specs(endpoints: Endpoints | None) -> tuple[EndpointSpec, ...]:
    """Return the options of the endpoints; AssayPilotError for what is not understood."""
    if endpoints is None:
        return ()
    if isinstance(endpoints, str):
        return (parse_endpoint_spec(endpoints),)
    if not isinstance(endpoints, Mapping):
        return tuple(map(parse_endpoint_spec, endpoints))
    return tuple(parse_endpoint_spec(_spec(str(name), terms)) for name, terms in endpoints.items())


def _spec(name: str, terms: EndpointTerms | float | None) -> str:
    if terms is None:
        return name
    if not isinstance(terms, Mapping):
        return f"{name};sd={terms}"
    parts = [name]
    for key, value in terms.items():
        if value is None and key != "sd":
            continue
        if isinstance(value, tuple | list):
            value = "/".join(map(str, value))
        parts.append(f"{key}={'unknown' if value is None else value}")
    return ";".join(parts)


_OF_FROM_TABLE = ("table", "path", "sites", "endpoints", "goal", "epsilon", "per_round", "strategy")


def table_options(sites: Iterable[str], endpoints: Endpoints | None, more: MoreOptions) -> TableOptions:
    """Return how a table is to be read; AssayPilotError for an option that does not exist or a choice there is not."""
    for name in more:
        if name not in MoreOptions.__annotations__:
            near = difflib.get_close_matches(name, [*MoreOptions.__annotations__, *_OF_FROM_TABLE], n=1)
            meant = f"Did you mean {near[0]}?" if near else f"There are {', '.join(MoreOptions.__annotations__)}."
            raise AssayPilotError(f"there is no option {name!r}", mend=meant)
    for name, choices in _CHOICES.items():
        if more.get(name, choices[0]) not in choices:
            raise AssayPilotError(
                f"{name} must be one of {', '.join(choices)}, got {more.get(name)!r}", mend=f"Choose {choices[0]!r}."
            )
    if more.get("only_listed") and not more.get("product"):
        raise AssayPilotError("only the table's compounds are in the library anyway", mend="Give product=True, too.")
    blank, merge = more.get("blank", "missing"), more.get("merge", "no")
    return TableOptions(
        **{name: value for name, value in dict[str, Any](more).items() if name in _COLUMN_OPTIONS},
        product=more.get("product", False),
        sites=tuple(sites),
        blank="h" if blank == "h" else "missing",
        endpoints=endpoint_specs(endpoints),
        cores=listed(more.get("core", ())),
        merge=next(known for known in ("no", "identical", "charge", "tautomer") if known == merge),
        interactions=listed(more.get("interaction", ())),
    )


def listed(one_or_more: str | Iterable[str]) -> tuple[str, ...]:
    """Return texts as a tuple; one text is one of them."""
    return (one_or_more,) if isinstance(one_or_more, str) else tuple(one_or_more)


def profile_of(more: MoreOptions) -> tuple[Curve, ...]:
    """Return the desirability curves of the profile; empty without one."""
    given = more.get("profile", ())
    if not isinstance(given, Mapping):
        return tuple(map(parse_curve, listed(given)))
    return tuple(
        parse_curve(f"{name}:{values}") if isinstance(values, str) else Curve(name, tuple(map(float, values)))
        for name, values in given.items()
    )


def controls_of(more: MoreOptions) -> tuple[Control, ...]:
    """Return the controls that are measured with the compounds."""
    return tuple(map(parse_control, listed(more.get("control", ()))))


@contextmanager
def with_keywords() -> Iterator[None]:
    """Name keywords instead of options in what is refused inside; also a decorator."""
    try:
        yield
    except AssayPilotError as error:
        if error.option is not None:
            error.option = error.option.removeprefix("--").replace("-", "_")
        raise


def round_frame(now: Status, issued: Round | None) -> pd.DataFrame:
    """Return a round as ``Campaign.recommend`` gives it; no rows without one."""
    sites = [site.name for site in now.library.sites]
    items = () if issued is None else issued.items
    measured = [] if issued is None else [now.endpoints[k].name for k in issued.endpoints]
    differ = measured if any(item.asked for item in items) else []
    rows = [
        {
            "ID": now.library.ids[item.compound],
            **now.library.substituents(item.compound),
            "replicates": item.replicates,
            **{f"replicates {name}": item.of(place) for place, name in enumerate(differ)},
            "reason": item.reason,
            "expected": np.nan if item.expected is None else item.expected,
            "low": np.nan if item.low is None else item.low,
            "high": np.nan if item.high is None else item.high,
            "round": 0 if issued is None else issued.number,
        }
        for item in items
    ]
    more = [f"replicates {name}" for name in differ]
    columns = ["ID", *sites, "replicates", *more, "reason", "expected", "low", "high", "round"]
    kinds = {"replicates": int, "expected": float, "low": float, "high": float, "round": int}
    return pd.DataFrame(rows, columns=columns).astype(kinds)


def flat(entry: dict[str, object]) -> dict[str, object]:
    """Return an entry with objects by endpoint as keys of their own: ``estimate pIC50``."""
    found: dict[str, object] = {}
    for key, value in entry.items():
        inner = flat(value) if isinstance(value, dict) else None
        found |= {key: value} if inner is None else {f"{key} {name}": one for name, one in inner.items()}
    return found


_PLANNED = ("replicates", "reason", "expected", "low", "high")


def is_plan(column: str) -> bool:
    """Return whether a column of ``round_frame`` is no result."""
    return column in _PLANNED or column.startswith("replicates ")


@dataclass(frozen=True, eq=False, repr=False)
class Added:
    """What became of results."""

    accepted: int
    """Values kept, unrequested ones included."""
    unplanned: int
    """Unrequested values: used in estimates."""
    duplicates: int
    """Values that were there already and were not counted again."""
    censored: int
    """Values known only as a bound, such as ``>10000``."""
    rejected: pd.DataFrame
    """Rows that were not used: row, column, reason."""
    round_closed: bool
    """Whether the open round ended with them."""
    warnings: tuple[str, ...]
    """Questions about unlikely values."""

    def __repr__(self) -> str:
        counts = [
            f"{number:,} {word}"
            for number, word in (
                (self.accepted, "accepted"),
                (self.unplanned, "not asked for"),
                (self.duplicates, "there already"),
                (self.censored, "known as a bound"),
                (len(self.rejected), "rejected"),
            )
            if number or word == "accepted"
        ]
        return f"Added({', '.join(counts)}; the round is {'closed' if self.round_closed else 'as it was'})"
