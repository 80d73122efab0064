"""The shortlist as rows and columns: the same for the command line, the window and every format."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from assaypilot.engine.campaign.state import STATUSES, Status
from assaypilot.engine.endpoint import Endpoint
from assaypilot.engine.export.csv_file import Cell
from assaypilot.engine.strategies.protocol import IN, NOT_ESTIMABLE, OUT, UNDECIDED

__all__ = [
    "Sheet",
    "Which",
    "chances",
    "decimals",
    "decimals_of",
    "ranked",
    "rounded",
    "shortlist",
    "unique",
]

Which = Literal["in", "undecided", "out", "all"]

_CODES = {"in": (IN,), "undecided": (UNDECIDED,), "out": (OUT,), "all": (IN, UNDECIDED, OUT, NOT_ESTIMABLE)}


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table ready to be written."""

    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


def decimals(epsilon: float) -> int:
    """How many decimals tell compounds apart that differ by a fraction of ``epsilon``."""
    return min(6, max(0, 1 - math.floor(math.log10(epsilon))))


def decimals_of(status: Status) -> int:
    """How many decimals tell the compounds of a campaign apart: by its epsilon, its margins, else its noise."""
    settings = status.settings
    finest = settings.distance or settings.softness or min((margin for margin in status.margins if margin), default=0.0)
    return decimals(finest or status.endpoints[status.objective].noise_sd or 0.1)


def ranked(status: Status, which: Which = "all") -> NDArray[np.intp]:
    """Compounds by status (in, undecided, out, not estimable), the best first, ties in library order.

    The best estimate comes first; for trade-offs the most probable one, then the best estimate of the first endpoint.
    """
    candidates = status.candidates
    place = np.empty(len(STATUSES), dtype=np.intp)
    place[list(_CODES["all"])] = np.arange(len(STATUSES))
    goodness = status.endpoints[status.objective].sign * candidates.estimate
    goodness = np.where(np.isnan(goodness), -np.inf, goodness)
    chance = candidates.probability_within_epsilon if status.margins else np.zeros(len(goodness))
    order = np.lexsort((-goodness, -np.nan_to_num(chance), place[candidates.status]))
    return order[np.isin(candidates.status[order], _CODES[which])]


def chances(status: Status) -> dict[str, NDArray[np.float64]]:
    """The probabilities of every compound by what they are of: the goal (once where both are alike), and each limit."""
    candidates = status.candidates
    of_goal = (candidates.probability_within_epsilon, candidates.probability_within_slack)
    found = dict(zip(status.probability_names, of_goal, strict=True))
    for position in status.limited_endpoints:
        endpoint = status.endpoints[position]
        found[endpoint.limit_text] = candidates.probability_meets[endpoint.name]
    return found


def shortlist(status: Status, which: Which = "in", *, program: str = "AssayPilot", exported: str = "") -> Sheet:
    """One row per compound, ranked, with what was decided and on what evidence.

    The last columns are the same in every row: goal, noise, guarantee, program, date and the campaign's head, so
    that a row copied out of the file still says where it comes from.
    """
    library, candidates = status.library, status.candidates
    digits = decimals_of(status)
    columns: list[tuple[str, Sequence[Cell]]] = [("ID", library.ids)]
    if library.smiles is not None:
        columns.append(("SMILES", library.smiles))
    for position, site in enumerate(library.sites):
        columns.append((site.name, [site.substituents[code] for code in library.codes[:, position]]))
    columns.append(("Status", [STATUSES[code] for code in candidates.status]))
    columns.append(("Decided in round", [int(number) or None for number in candidates.decided_in_round]))
    if status.limited_endpoints:
        columns.append(("Why out", [status.reason(compound) for compound in range(len(library))]))
    for endpoint in status.endpoints:
        estimate = candidates.estimates.get(endpoint.name, np.full(len(library), np.nan))
        columns.append((f"{endpoint.scale_name} estimate", rounded(estimate, digits + 1)))
        if endpoint.transform == "log":
            unit = f" ({endpoint.unit})" if endpoint.unit and endpoint.unit not in endpoint.name else ""
            columns.append((f"{endpoint.name}{unit} estimate", [_entry(endpoint, value) for value in estimate]))
        if endpoint.name in candidates.lows:
            columns.append((f"{endpoint.scale_name} low", rounded(candidates.lows[endpoint.name], digits + 1)))
            columns.append((f"{endpoint.scale_name} high", rounded(candidates.highs[endpoint.name], digits + 1)))
    for name, chance in chances(status).items():
        columns.append((f"P({name})", rounded(chance, 4)))
    columns.append(
        ("Evidence", [f"measured {n}" if n else "predicted, never measured" for n in candidates.measured.tolist()])
    )
    columns.append(("Made", [bool(made) for made in candidates.made]))
    noise = [(status.endpoints[k].scale_name, status.endpoints[k].noise_sd) for k in status.measured_endpoints]
    constants: list[tuple[str, Cell]] = [
        ("Goal", status.goal_sentence),
        *(("Assay noise (SD)" if len(noise) == 1 else f"Assay noise (SD) of {scale}", sd) for scale, sd in noise),
        ("Guarantee", "holds" if status.guarantee.holds else f"does not hold: {'; '.join(status.guarantee.void)}"),
        ("Program", program),
        ("Exported", exported),
        ("Events", status.events),
        ("Campaign head", status.head),
    ]
    header = unique([name for name, _ in columns] + [name for name, _ in constants])
    tail = tuple(cell for _, cell in constants)
    rows = tuple((*(column[compound] for _, column in columns), *tail) for compound in ranked(status, which).tolist())
    return Sheet(header, rows)


def rounded(values: Iterable[float | None], digits: int) -> list[float | None]:
    """Numbers to so many decimals; None where there is none."""
    return [None if value is None or not math.isfinite(value) else round(float(value), digits) for value in values]


def _entry(endpoint: Endpoint, value: float) -> float | None:
    """A model-scale estimate in the entry unit, to three significant digits."""
    return float(f"{endpoint.from_model(float(value)):.3g}") if math.isfinite(value) and abs(value) < 300 else None


def unique(names: Sequence[str]) -> tuple[str, ...]:
    """The names, a number behind those that repeat another one."""
    made: list[str] = []
    for name in names:
        number, unique = 2, name
        while unique.casefold() in {other.casefold() for other in made}:
            unique = f"{name} ({number})"
            number += 1
        made.append(unique)
    return tuple(made)
