"""A user's options for a table, and the mapping of its columns that follows from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from ..domain.endpoint import Direction, Endpoint, Kind, Limit, Transform
from ..domain.kinds import KINDS
from ..domain.noise import UNKNOWN, StatedNoise, parse_noise
from ..errors import AssayPilotError

Blank = Literal["h", "missing"]
Merge = Literal["no", "identical", "charge", "tautomer"]

_STOCK = ("stock", "cost", "lead")
ROLES = ("replicate", "date", "plate", "well", "batch", "comment")
_COLUMNS = ("id", "smiles", "endpoint_column", "assay_column", "available", "excluded", *ROLES, *_STOCK)
"""The columns of a mapping that are not of one endpoint or site."""
SIDES = ("relation", "unit", "n", "sd")
"""The columns that go with one of values, by their roles."""
_OF_PARTS = ("unit", "transform", "sd", "wells_per_measurement", "kind", "words")
"""Settings that a difference of two endpoints takes from them."""
_EXAMPLE = 'For example "IC50;unit=nM;sd=0.2".'


@dataclass(frozen=True, slots=True)
class EndpointSpec:
    """A user's specification of an endpoint; None where nothing was given."""

    name: str
    unit: str | None = None
    direction: Direction | None = None
    transform: Transform | None = None
    sd: float | None = None
    wells_per_measurement: int = 1
    epsilon: float | None = None
    """The difference that does not matter, model scale."""
    limit: Limit | None = None
    of: str | None = None
    """The two endpoints whose difference it is, as ``pIC50 - hERG``; None: it is measured."""
    sd_estimated: bool = False
    """Whether the noise is not known; ``sd`` is then a guess, or None."""
    kind: Kind | None = None
    """The kind of its measurements; None: by the column's cells."""
    words: tuple[str, str] | None = None
    """The words for yes and no, the better one first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a table is read: the options that a mapping keeps."""

    blank: Blank = "missing"
    """The meaning of an empty substituent cell: hydrogen, or not known."""
    product: bool | None = None
    """Whether every combination of substituents is a compound, not only the rows; None: if every row is measured."""
    only_listed: bool = False
    """With ``product``: only the compounds of the rows can be measured, the others are what could be made."""
    merge: Merge = "no"
    """Whether ids with the same structure, charge form or tautomer are one compound."""
    interactions: tuple[str, ...] = ()
    """Pairs of sites that the model takes as one, each text ``SITE,SITE``."""


@dataclass(frozen=True, slots=True)
class TableOptions(Reading):
    """Options for a table from the command line or the window; None or empty: found by convention."""

    id: str | None = None
    """The column of ids; "": none, they are made."""
    smiles: str | None = None
    """The column of structures; "": none."""
    sites: tuple[str, ...] = ()
    available: str | None = None
    """The column with the availability (yes or no) of a compound for measurements."""
    stock: str | None = None
    """The column of stock: in stock, to be made or cannot be made; yes or no; or an amount; "": none."""
    cost: str | None = None
    """The column of what making each compound costs; "": none."""
    lead: str | None = None
    """The column of how long that takes; "": none."""
    endpoints: tuple[EndpointSpec, ...] = ()
    sd: StatedNoise | float | None = None
    """Assay noise of every endpoint that names none, on the model scale."""
    cores: tuple[str, ...] = ()
    """SMILES or files of the cores that decompose structures; empty: substituents are in columns."""
    assays: str | None = None
    """``each``, ``pooled`` or the name of one, where a column names assays; None: as their compounds suggest."""


@dataclass(frozen=True, slots=True)
class EndpointColumn:
    """An endpoint and where its values stand in the table."""

    endpoint: Endpoint
    value: str | None = None
    """The column of its values; None when the table has none yet."""
    only: str | None = None
    """The text in the endpoint column that marks its rows, where each row is one measurement; None: all rows."""
    relation: str | None = None
    unit: str | None = None
    n: str | None = None
    sd: str | None = None
    assay: str | None = None
    """The text in the column of assays that marks its rows; None: all rows."""
    further: tuple[str, ...] = ()
    """More columns of its values: each is a run, a measurement of its own."""
    direction_why: str = field(default="", compare=False)
    direction_known: bool = field(default=True, compare=False)
    """Whether the user or its name determines the better direction."""
    scale_why: str = field(default="", compare=False)

    @property
    def sides(self) -> dict[str, str | None]:
        """Its side columns by their roles."""
        return {role: getattr(self, role) for role in SIDES}

    def each(self) -> tuple[EndpointColumn, ...]:
        """Return the same endpoint once for each of its columns of values."""
        if not self.further:
            return (self,)
        return tuple(replace(self, value=value, further=()) for value in (self.value, *self.further))

    def as_json(self) -> dict[str, Any]:
        """All of it; ``further`` only where there is any."""
        data = asdict(self) | {"endpoint": self.endpoint.as_json()}
        for reason in ("direction_why", "direction_known", "scale_why"):
            del data[reason]
        further = data.pop("further")
        return data | ({"further": list(further)} if further else {})

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> EndpointColumn:
        """Return the mapping that ``as_json`` wrote."""
        return cls(
            **{**data, "endpoint": Endpoint.from_json(data["endpoint"]), "further": tuple(data.get("further", ()))}
        )


@dataclass(frozen=True, slots=True)
class TableMapping(Reading):
    """The resolved roles of columns; saved as JSON for tables with the same headers."""

    sites: tuple[str, ...]
    endpoints: tuple[EndpointColumn, ...] = ()
    id: str | None = None
    """None: ids are made from the substituents; decomposed structures are numbered."""
    smiles: str | None = None
    endpoint_column: str | None = None
    """The column that names what was measured, where each row is one measurement."""
    assay_column: str | None = None
    """The column that names the assay or source of each row, where values come from several."""
    available: str | None = None
    stock: str | None = None
    cost: str | None = None
    lead: str | None = None
    replicate: str | None = None
    date: str | None = None
    plate: str | None = None
    well: str | None = None
    batch: str | None = None
    comment: str | None = None
    excluded: str | None = None
    cores: tuple[str, ...] = ()
    """SMILES with or without numbered sites; when there are any, ``sites`` is empty until structures are read."""
    structures: tuple[tuple[str, str], ...] = ()
    """Sites with the column of the structures of their substituents."""
    notes: tuple[str, ...] = field(default=(), compare=False)
    """Choices made by convention, to be shown."""
    warnings: tuple[str, ...] = field(default=(), compare=False)
    """Points for the user to check."""

    def as_json(self) -> dict[str, Any]:
        """Return the mapping without its notes and warnings."""
        data = asdict(self)
        del data["notes"], data["warnings"]
        data["endpoints"] = [column.as_json() for column in self.endpoints]
        data["structures"] = [list(pair) for pair in self.structures]
        return {name: list(value) if isinstance(value, tuple) else value for name, value in data.items()}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> TableMapping:
        """Return the mapping that ``as_json`` wrote."""
        whole: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in data.items()
        }
        whole["endpoints"] = tuple(map(EndpointColumn.from_json, data["endpoints"]))
        whole["structures"] = tuple((site, column) for site, column in data.get("structures", ()))
        return cls(**whole)

    def columns(self) -> tuple[str, ...]:
        """Every column of the table that is used, in no particular order."""
        shared = (getattr(self, name) for name in _COLUMNS)
        own = [(c.value, *c.further, *c.sides.values()) for c in self.endpoints]
        drawn = [column for _, column in self.structures]
        return tuple(dict.fromkeys([*self.sites, *drawn, *filter(None, shared), *(x for c in own for x in c if x)]))

    def with_noise(self, stated: StatedNoise | float | None) -> TableMapping:
        """Return the same mapping with this assay noise (a number: its SD) at every endpoint that has none."""
        if stated is None:
            return self
        sd, estimated = (stated.sd, stated.estimated) if isinstance(stated, StatedNoise) else (stated, False)
        columns = tuple(
            column
            if column.endpoint.noise_sd is not None or column.endpoint.noise_estimated or column.endpoint.of is not None
            else replace(column, endpoint=replace(column.endpoint, noise_sd=sd, noise_estimated=estimated))
            for column in self.endpoints
        )
        return replace(self, endpoints=columns)


def parse_endpoint_spec(text: str) -> EndpointSpec:
    """Return the specification of an endpoint from a text.

    Its name, then ``;key=value`` for any of unit, direction, transform and so on.

    ``NAME[;unit=][;direction=max|min][;transform=log|none][;sd=][;epsilon=][;limit=<5][;wells_per_measurement=1]``
    (an sd may be ``unknown`` or, with a guess, ``unknown:0.2``),
    or a difference of two of the others, ``NAME;of=NAME - NAME[;direction=][;epsilon=][;limit=]``; or yes and no,
    ``NAME;kind=yes-no[;words=active/inactive]``, or counts, ``NAME;kind=count``.
    """
    name, *parts = (part.strip() for part in text.split(";"))
    if not name:
        raise _refused("an endpoint needs a name before the first semicolon")
    given: dict[str, str] = {}
    for part in parts:
        key, equals, value = (piece.strip() for piece in part.partition("="))
        key = key.lower()
        if not key and not value:
            continue
        if key not in _READERS:
            raise _refused(f"{key or part!r} is not known here; known are {', '.join(_READERS)}")
        if not equals or not value:
            raise _refused(f"{key} needs a value after =")
        if key in given:
            raise _refused(f"{key} is given twice")
        given[key] = value
    own = [key for key in _OF_PARTS if key in given]
    if "of" in given and own:
        raise AssayPilotError(
            f"{name} is a difference of two endpoints: {own[0]} belongs to them, not to it",
            option="--endpoint",
            mend=f"Leave {own[0]}= out there.",
        )
    found = {key: _READERS[key](key, text) for key, text in given.items()}
    noise = found.pop("sd", StatedNoise(None))
    if "words" in found:
        found.setdefault("kind", "yes-no")
    spec = EndpointSpec(name, sd=noise.sd, sd_estimated=noise.estimated, **found)
    # An endpoint checks its own numbers; a wrong one is refused here, before any table is read.
    Endpoint(
        name,
        noise_sd=spec.sd,
        wells_per_measurement=spec.wells_per_measurement,
        epsilon=spec.epsilon,
        kind=spec.kind or "value",
        words=spec.words,
    )
    return spec


def _refused(message: str) -> AssayPilotError:
    return AssayPilotError(message, option="--endpoint", mend=_EXAMPLE)


def _one_of(*choices: str) -> Callable[[str, str], str]:
    def read(key: str, text: str) -> str:
        if text.lower() not in choices:
            raise _refused(f"{key} must be {', '.join(choices[:-1])} or {choices[-1]}, got {text!r}")
        return text.lower()

    return read


def _words(_: str, text: str) -> tuple[str, ...]:
    words = tuple(word.strip() for word in text.split("/"))
    if len(words) != 2:
        raise _refused(f"words are two with a slash between them, the wanted one first (active/inactive), got {text!r}")
    return words


def _noise(_: str, text: str) -> StatedNoise:
    try:
        return parse_noise(text)
    except AssayPilotError:
        raise _refused(f"sd must be a number, {UNKNOWN} or {UNKNOWN}:0.2, got {text!r}") from None


def _number(key: str, text: str) -> float:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        raise _refused(f"{key} must be a number, got {text!r}") from None


def _whole(key: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise _refused(f"{key} must be a whole number, got {text!r}") from None


_READERS: dict[str, Callable[[str, str], Any]] = {
    "unit": lambda _, text: text,
    "direction": _one_of("max", "min"),
    "transform": _one_of("log", "none"),
    "sd": _noise,
    "epsilon": _number,
    "limit": lambda _, text: Limit.parse(text),
    "wells_per_measurement": _whole,
    "of": lambda _, text: text,
    "kind": _one_of(*KINDS),
    "words": _words,
}
"""The settings of an endpoint, and their readers."""
