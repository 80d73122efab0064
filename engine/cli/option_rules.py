"""Options of one command that do not go together, and those that need each other."""

from __future__ import annotations

import argparse

__all__ = ["wrong_together"]


def wrong_together(options: argparse.Namespace) -> str | None:
    """Return what is wrong with the options of a command as a whole; None where nothing is."""
    of_command = {"plan": _plan, "record": _record, "curves": _curves, "simulate": _simulate, "design": _design}
    return of_command[options.command](options) if options.command in of_command else None


def _plan(options: argparse.Namespace) -> str | None:
    if options.plate is None:
        of_plates = [("--control-columns", options.control_columns), ("--no-edge", options.no_edge)]
        for name, given in [*of_plates, ("--same-wells", options.same_wells)]:
            if given:
                return f"argument {name}: give --plate with it"
    elif options.no_plates:
        return "argument --no-plates: give it or --plate"
    issuing = next((name for name in ("--options", "--withdraw") if getattr(options, name[2:])), None)
    if issuing is not None:
        for name, given in (("--choose", options.choose), ("--out", options.out), ("--confirm", options.confirm),
                            ("--orders", options.orders), ("--plate", options.plate),
                            ("--no-plates", options.no_plates), ("--transfers", options.transfers),
                            ("--withdraw", options.withdraw and options.options)):  # fmt: skip
            if given:
                return f"argument {name}: {issuing} issues nothing; give one of the two"
    robots = {
        "--transfers": options.transfers,
        "--format": options.format,
        "--sources": options.sources,
        "--volume": options.volume,
        "--source-plate": options.source_plate,
    }
    lacking = [name for name, given in robots.items() if given is None]
    if lacking and len(lacking) < len(robots):
        return f"argument {lacking[0]}: a list of transfers needs {', '.join(robots)}"
    if options.choose and options.confirm:
        return "argument --choose: a confirmation round leaves no choice"
    return None


def _record(options: argparse.Namespace) -> str | None:
    if options.results is None and not options.close and options.unavailable is None:
        return "name a table of results, or say --close or --unavailable ID,..."
    if options.missing is not None and not options.close:
        return "argument --missing: it says what --close does; give both"
    return None


def _curves(options: argparse.Namespace) -> str | None:
    if (options.highest is None) != (options.dilution is None):
        return "argument --highest: give it and --dilution, or neither"
    if options.highest is not None and options.map is None:
        return "argument --highest: it is of a plate map; give --map"
    if options.dilution is not None and not options.dilution > 1.0:
        return "argument --dilution: it must be above 1, such as 3"
    return None


def _simulate(options: argparse.Namespace) -> str | None:
    if options.list:
        return None
    sources = [options.dataset, options.table, options.instance]
    if sum(source is not None for source in sources) != 1:
        return "give one of --dataset NAME, --table TABLE, --instance NAME; or --list"
    if options.strategy is None:
        return "argument --strategy: name one or several; see assaypilot strategies"
    if options.truth is not None and options.instance is not None:
        return "argument --truth: an instance has its own truth"
    return None


def _design(options: argparse.Namespace) -> str | None:
    if (options.cost is None) != (options.budget is None):
        given, lacks = ("--cost", "--budget") if options.budget is None else ("--budget", "--cost")
        return f"argument {given}: give {lacks} with it"
    if options.cost is None and options.cost_per_measurement:
        return "argument --cost-per-measurement: it is part of a budget; give --cost and --budget with it"
    if options.budget is not None and options.max_support is not None:
        return "argument --max-support: a budget decides how many compounds are made; give one of the two"
    return None
