"""``curves``: raw dose-response readings become a table of results with standard errors."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ..text import pick
from .program import Console, Reply, count, table, word
from .work_lists import check_place, check_target

_LINES = 40
_REASONS = 5
_MARKS = {"ID", "Endpoint", "Value", "Relation", "Hill slope"}
"""Columns of every table of results that this command writes."""
_POINT_MARKS = {"ID", "Normalised", "Fitted", "Outlier", "Excluded"}


def curves(options: argparse.Namespace, console: Console) -> Reply:
    """Fit the curves of a raw table and write their values; with ``--points`` and ``--plots`` what is behind them."""
    started = time.perf_counter()
    _check_targets(options)
    from ..curves.analysis import analyse
    from ..curves.points import Columns, read_points, with_map
    from ..curves.reporting import (
        RESULTS,
        document,
        endpoint_unit,
        point_header,
        point_rows,
        reported,
        result_rows,
    )
    from ..export.sheet import write_csv
    from ..tables.opening import read_table

    raw = read_table(options.raw, console.report, sheet=options.sheet, points=True)
    if options.map is not None:
        raw = with_map(raw, read_table(options.map, console.report, points=True))
    columns = Columns(
        response=options.response,
        unit=options.unit,
        neutral=options.neutral or (),
        full=options.full or (),
        scale=options.responses,
    )
    points = read_points(raw, columns)
    unit = endpoint_unit(options.endpoint, points.unit)
    found = analyse(points, plateaus=options.plateaus, report=console.report)
    write_csv(options.out, RESULTS, result_rows(found, options.endpoint, unit))
    if options.points is not None:
        write_csv(options.points, point_header(points), point_rows(points, found))
    results = [reported(curve, unit) for curve in found.curves]
    words = [
        "no value"
        if one.value is None
        else f"{options.endpoint} {'' if one.relation == '=' else one.relation}{one.value:g} {unit}".strip()
        + ("" if one.sd is None else f" ± {one.sd:.2g}")
        for one in results
    ]
    if options.plots is not None:
        from ..export.pictures import write_plots

        axis = "% effect" if found.percent else points.response
        write_plots(Path(options.plots), found.curves, words, axis, console.report)
    reply = {
        "file": str(options.out),
        "endpoint": options.endpoint,
        "unit": unit,
        "curves": [document(curve, unit) for curve in found.curves],
        "values": sum(one.relation == "=" for one in results),
        "bounds": sum(one.relation in ("<", ">") for one in results),
        "without_value": sum(one.value is None for one in results),
        "points": len(points.points),
        "excluded": found.excluded,
        "plates": [pick(plate, "plate neutral full n_neutral n_full z_prime") for plate in found.plates],
        "rejected": [{"row": row, "reason": reason} for row, reason in points.rejected],
        "points_file": options.points,
        "plots": [options.plots] if options.plots else [],
        "warnings": list(points.warnings),
        "seconds": time.perf_counter() - started,
    }
    rows = [
        (curve.compound, curve.plate, text, "; ".join(curve.flags))
        for curve, text in zip(found.curves[:_LINES], words, strict=False)
    ]
    lines = [
        f"{len(results):,} curves of {len(points.points):,} points: {reply['values']:,} values, "
        f"{reply['bounds']:,} bounds, {reply['without_value']:,} without a value",
        *(
            f"Plate {plate.plate or '(unnamed)'}: Z' "
            + ("not known (too few controls)" if plate.z_prime is None else f"{plate.z_prime:.2f}")
            for plate in found.plates
        ),
        *(f"  row {row}: {reason}" for row, reason in points.rejected[:_REASONS]),
        *count(len(points.rejected), _REASONS, "rows not used (--json lists them all)"),
        *(f"Note: {warning}" for warning in points.warnings),
        "",
        *table(("ID", "Plate", "Value", "Look at"), rows),
        *count(len(results), _LINES, f"curves, all in {options.out}"),
        "",
        f"Results: {options.out}. Then: assaypilot record FILE {word(options.out)}",
    ]
    if options.points is not None:
        lines.append(
            f"Points: {options.points}. To leave a point out, give a reason in Excluded and fit that file instead"
        )
    if options.plots is not None:
        lines.append(f"Plots: {options.plots}")
    return Reply(reply, lines)


def _check_targets(options: argparse.Namespace) -> None:
    """Refuse what cannot be written, before anything is."""
    targets: list[tuple[str | None, str | None, Sequence[str], Callable[[Sequence[str]], bool] | None]] = [
        (None, options.out, (".csv",), lambda columns: set(columns) >= _MARKS),
        ("--points", options.points, (".csv",), lambda columns: set(columns) >= _POINT_MARKS),
        ("--plots", options.plots, (".pdf",), None),
    ]
    for option, path, endings, is_ours in targets:
        if path is None:
            continue
        for source in filter(None, (options.map, options.raw)):
            check_place(Path(path), source, option)
        check_target(Path(path), options.raw, option, endings, is_ours)
