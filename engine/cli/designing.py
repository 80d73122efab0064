"""``design``: one optimal design of a table's compounds, with its certificate, and whole measurements for it."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import Flags, Floats, Ints
from ..campaign.added_compounds import extended
from ..design.apportionment import limits
from ..design.cost import Priced, Prices, cost_frontier
from ..design.criteria import Design, inverse_information
from ..design.directions import Directions, Rows
from ..design.g import g_optimal
from ..design.pairs import Pairs
from ..design.rounding import round_design
from ..design.xy import xy_optimal
from ..domain.features import ProjectedFeatures, SiteFeatures, outside_span
from ..domain.library import Library
from ..errors import AssayPilotError
from ..tables.importer import ImportedTable, import_table
from ..tables.join import read_more
from ..tables.opening import read_table
from ..tables.options import TableOptions
from ..tables.raw import Problem, RawTable
from ..tables.stock import read_stock
from ..tables.values import NO, YES, is_missing, quoted
from ..text import listed as names
from ..text import many, percent, pick
from .program import Console, Reply, count, in_file, table
from .starting import read_mapped

_GAPS = {"g": ((5_000, 1e-4), (300_000, 1e-3), (math.inf, 1e-2)), "xy": ((5_000, 1e-4), (math.inf, 1e-2))}
"""How close to the best possible a design is made, by the number of compounds: all have to be looked at, or pairs."""
_SHOWN = 40
"""Compounds listed in the terminal."""
_LISTED = 1000
"""Compounds that cannot be estimated, listed with ``--json``."""
_NAMED = 3


@dataclass(frozen=True, slots=True)
class _Task:
    """The requested design, compound by compound."""

    library: Library
    allowed: Ints
    """Compounds that may be measured, ascending; positions of the design are positions in this list."""
    forced: Flags
    """The allowed compounds that must be measured."""
    price: Floats | None
    """Of each of the allowed, when there is a budget."""
    candidates: ProjectedFeatures
    targets: ProjectedFeatures
    """The targets of the design that can be estimated, as rows."""
    not_estimable: tuple[str, ...]
    warnings: tuple[str, ...]


def design(options: argparse.Namespace, console: Console) -> Reply:
    """Return the design, its certificate, and whole measurements for it."""
    if not (math.isfinite(options.tau) and options.tau >= 0):
        raise AssayPilotError(
            "the deviation from additivity must be a number of 0 or more, in units of the assay noise (SD)",
            option="--tau",
            mend="For example 0.5.",
        )
    task = _task(options, console)
    n = options.measurements
    least = task.forced.astype(np.intp)
    limits(len(task.allowed), n, least, options.max_per_compound)
    worst = _directions(options.criterion, task)
    found = _weights(options, task, worst, None, console)
    lower, bought = found.lower_bound, None
    if task.price is None:
        rounded = round_design(
            found,
            task.candidates,
            n,
            directions=worst,
            least=least,
            most=options.max_per_compound,
            pool=None if options.max_support is None else found.support,
            ratio=options.tau**2,
            report=console.report,
        )
        support, counts, value = rounded.support, rounded.counts, rounded.value
    else:
        bought = cost_frontier(
            task.candidates,
            Prices(task.price, options.cost_per_measurement),
            options.budget,
            measurements=n,
            directions=worst,
            least=least,
            most=options.max_per_compound,
            ratio=options.tau**2,
            report=console.report,
        )
        last = bought[-1]
        support, counts, value = last.support, last.counts, last.variance * last.measurements
        found = _weights(options, task, worst, support, console)
    if options.tau:
        # The shares are optimal without it; their value counts it in, on the scale of that of the measurements.
        total = int(counts.sum())
        x = task.candidates.coordinates(found.support)
        inverse = inverse_information(x, total * found.weights, ratio=options.tau**2)
        found = replace(found, value=math.nan if inverse is None else total * float(worst.find(inverse)[1][0]))
    return Reply(*_report(options, task, found, lower, support, counts, value, bought))


def _task(options: argparse.Namespace, console: Console) -> _Task:
    """Return the compounds with the facts from the table's columns."""
    raw, mapping, _ = read_mapped(options, None, console)
    imported = import_table(raw, replace(mapping, endpoints=(), endpoint_column=None), console.report)
    library, of_row = imported.library, imported.of_row
    library.refuse_partial("design")
    own = len(library)
    problems = [(raw.file, problem) for problem in imported.not_used]
    chosen: Sequence[str] = library.ids
    if options.targets is not None:
        other = read_table(options.targets, console.report)
        more = read_more(other, library, TableOptions(blank=mapping.blank), console.report)
        console.print(*(f"{other.file}: {note}" for note in more.notes))
        with in_file(other.file):
            library, chosen = extended(library, more.library), more.library.ids
        problems += [(other.file, problem) for problem in more.not_used]
    for file, problem in problems:
        if problem.severity == "error":
            raise AssayPilotError(
                problem.reason, file=file, row=problem.row, column=problem.column, mend="Correct the table."
            )
    makeable = np.arange(len(library)) < own
    forbidden = flags(raw, of_row, library, options.forbid, "--forbid")
    forced = flags(raw, of_row, library, options.force, "--force")
    _refuse_both(library, forced, forbidden, "--forbid", "forbidden")
    _refuse_both(library, forced, ~library.measurable, "--force", "not available")
    allowed = np.flatnonzero(makeable & library.measurable & ~forbidden).astype(np.intp)
    if not len(allowed):
        raise AssayPilotError(
            "no compound is left to measure", file=raw.file, option="--forbid", mend="Forbid fewer compounds."
        )
    features = SiteFeatures.of(library)
    candidates = ProjectedFeatures(features, allowed)
    rows = np.array(sorted({place for name in chosen if (place := library.find(name)) is not None}), dtype=np.intp)
    outside = outside_span(features, candidates.basis, rows)
    if not len(rows) or outside.all():
        raise AssayPilotError(
            "none of the targets can be estimated from the compounds that may be measured",
            file=options.targets or raw.file,
            mend="Allow compounds that carry their substituents.",
        )
    price = None
    if options.cost is not None:
        every = prices(raw, of_row, library, options.cost, "--cost")
        price = every[allowed]
        if np.isnan(price).any():
            unknown = library.ids[int(allowed[np.flatnonzero(np.isnan(price))[0]])]
            raise AssayPilotError(
                f"no row gives a price for {unknown}",
                file=raw.file,
                option="--cost",
                mend="Give every compound that may be made a cost, 0 if it is there already.",
            )
    return _Task(
        library=library,
        allowed=allowed,
        forced=forced[allowed],
        price=price,
        candidates=candidates,
        targets=candidates.onto(rows[~outside]),
        not_estimable=tuple(library.ids[int(row)] for row in rows[outside]),
        warnings=_warnings(imported, problems),
    )


def _refuse_both(library: Library, forced: Flags, ruled_out: Flags, option: str, word: str) -> None:
    both = np.flatnonzero(forced & ruled_out)
    if len(both):
        raise AssayPilotError(
            f"{names([library.ids[one] for one in both], 1)} is to be measured and {word} at once",
            option=option,
            mend="Take one of the two back.",
        )


def _warnings(imported: ImportedTable, problems: Sequence[tuple[str | None, Problem]]) -> tuple[str, ...]:
    """Return the warnings about the table, without those that concern only campaigns."""
    notes = [text for text in imported.warnings if not text.startswith("No endpoint")]
    for file, problem in problems[:_NAMED]:
        where = ", ".join(filter(None, (file, f"row {problem.row}" if problem.row else "", problem.column)))
        notes.append(f"{where}: {problem.reason}")
    notes += count(len(problems), _NAMED, "rows or values not used; see assaypilot check")
    return tuple(notes)


def _directions(criterion: str, task: _Task) -> Directions:
    """Return the contrasts to estimate: the means of the targets, or all their differences."""
    ids = [task.library.ids[int(row)] for row in task.targets.rows]
    return Pairs(task.targets, names=ids) if criterion == "xy" else Rows(task.targets, names=ids)


def _weights(
    options: argparse.Namespace, task: _Task, worst: Directions, only: Ints | None, console: Console
) -> Design:
    """Return the optimal shares; with ``only`` on these positions alone."""
    n = task.candidates.n_rows
    gap = next(gap for most, gap in _GAPS[options.criterion] if n <= most)
    each = None if options.max_per_compound is None else min(1.0, options.max_per_compound / options.measurements)
    if only is not None:
        table = task.candidates.onto(task.candidates.rows[only])
        found = xy_optimal(table, worst, gap=gap, report=console.report)
        return replace(found, support=only[found.support])
    # Forced compounds come with the whole measurements, so the design covers only the others.
    most = None if options.max_support is None else options.max_support - int(task.forced.sum())
    plain = each is None and np.array_equal(task.targets.rows, task.candidates.rows)
    if options.criterion == "g" and plain:
        return g_optimal(task.candidates, gap=gap, max_support=most, report=console.report)
    return xy_optimal(
        task.candidates,
        worst,
        gap=gap,
        upper=each,
        max_support=most,
        report=console.report,
    )


def _report(
    options: argparse.Namespace,
    task: _Task,
    found: Design,
    lower: float,
    support: Ints,
    counts: Ints,
    value: float,
    bought: tuple[Priced, ...] | None,
) -> tuple[dict[str, Any], list[str]]:
    """Return the answer as JSON and as text."""
    ids = [task.library.ids[int(row)] for row in task.allowed]
    order = np.argsort(-counts, kind="stable")
    total = int(counts.sum())
    document = {
        "criterion": options.criterion,
        "weights": [
            {"id": ids[p], "weight": w} for p, w in zip(found.support.tolist(), found.weights.tolist(), strict=True)
        ],
        "value": found.value,
        "lower_bound": lower,
        "allocation": [{"id": ids[int(support[k])], "measurements": int(counts[k])} for k in order],
        "allocation_value": value,
        "measurements": total,
        "support": len(support),
        "weights_support": len(found.support),
        "rank": task.candidates.rank,
        "compounds": len(task.allowed),
        "targets": task.targets.n_rows,
        "not_estimable": list(task.not_estimable[:_LISTED]),
        "not_estimable_count": len(task.not_estimable),
        "tau": options.tau,
        **pick(found, "converged seconds"),
        "warnings": list(task.warnings),
    }
    what = "difference of two means" if options.criterion == "xy" else "mean"
    about = found.value / lower - 1.0 if lower > 0 else math.inf
    lines = [
        f"{options.criterion.upper()}-optimal design of {many(len(ids), 'compound')}, "
        f"{many(task.candidates.rank, 'effect')}: value {found.value:.6g}"
        f"{', best possible' if about < 1e-4 else f', at most {percent(about, 2)} above the best possible,'} "
        f"on {many(len(found.support), 'compound')}",
        f"{many(total, 'measurement')} on {many(len(support), 'compound')}: value {value:.6g}; "
        f"the SD of every estimated {what} is at most {math.sqrt(value / total):.3g} x the assay noise (SD)",
    ]
    if options.tau:
        lines.append(
            f"Counted in: each compound's own deviation from additivity, with an SD of {options.tau:g} x the assay "
            "noise (SD), which no number of its replicates averages out; the shares and the best possible leave it out"
        )
    if not found.converged:
        lines.append("Note: the search ended before the design was as close to the best possible as usual")
    if bought is not None:
        document |= _money(options, bought)
        lines += [
            f"Cost {bought[-1].cost:g} of {options.budget:g}",
            "",
            "What less would buy:",
            *_frontier_lines(bought),
        ]
    if task.not_estimable:
        lines.append(f"Not estimable from what may be measured: {names(task.not_estimable, _NAMED)}")
    lines += [f"Note: {text}" for text in task.warnings]
    weight = dict(zip(found.support.tolist(), found.weights.tolist(), strict=True))
    rows = [(ids[int(support[k])], int(counts[k]), f"{weight.get(int(support[k]), 0.0):.4f}") for k in order[:_SHOWN]]
    lines += ["", *table(["Compound", "Measurements", "Weight"], rows)]
    lines += count(len(support), _SHOWN, "(--json lists them all)")
    return document, lines


def _money(options: argparse.Namespace, bought: tuple[Priced, ...]) -> dict[str, Any]:
    return {
        "cost": bought[-1].cost,
        "budget": options.budget,
        "frontier": [
            pick(point, "cost measurements to_make=made variance") | {"compounds": len(point.support)}
            for point in bought
        ],
    }


def _frontier_lines(bought: tuple[Priced, ...]) -> list[str]:
    rows = [
        (f"{point.cost:g}", point.measurements, len(point.support), point.made, f"{math.sqrt(point.variance):.3g}")
        for point in bought
    ]
    return table(["Cost", "Measurements", "Compounds", "To make", "Largest SD / noise"], rows, indent="  ")


def flags(raw: RawTable, of_row: Sequence[str | None], library: Library, column: str | None, option: str) -> Flags:
    """Return the compounds that a yes-or-no column marks, ``(n,)``; all False without a column, blank is no.

    A compound of several rows is marked when one of them is. AssayPilotError for any other word.
    """
    marked = np.zeros(len(library), dtype=bool)
    if column is None:
        return marked
    name = raw.named(column, option)
    for row, text, compound in zip(raw.rows, raw.column(name), of_row, strict=True):
        word = text.casefold()
        if word not in YES and word not in NO and not is_missing(text):
            raise AssayPilotError(
                f"{quoted(text)} is neither yes nor no", file=raw.file, row=row, column=name, mend="Write yes or no."
            )
        place = None if compound is None else library.find(compound)
        if place is not None and word in YES:
            marked[place] = True
    return marked


def prices(raw: RawTable, of_row: Sequence[str | None], library: Library, column: str, option: str) -> Floats:
    """Return the cost of each compound, ``(n,)``; NaN where no row has one.

    AssayPilotError for a cell that is no cost, and for a compound with two costs.
    """
    places = [None if name is None else library.find(name) for name in of_row]
    stock = read_stock(raw, places, {"cost": raw.named(column, option)})
    if stock.not_used:
        one = stock.not_used[0]
        mend = "Write what it costs to make this compound, 0 if it is there already."
        raise AssayPilotError(one.reason, file=raw.file, row=one.row, column=one.column, mend=mend)
    found = np.full(len(library), math.nan)
    for line in stock.lines:
        found[line.compound] = math.nan if line.cost is None else line.cost
    return found
