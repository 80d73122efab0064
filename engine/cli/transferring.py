"""``plan --transfers``: the list by which a liquid handler fills the plates of a round."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..campaign.state import Round, Status
from ..domain.plates.wells import FORMATS
from ..errors import AssayPilotError
from ..export.handlers import ENDINGS
from ..system.progress import Report
from .targets import check_place, keep_other_tables

__all__ = ["prepare"]

Handed = Callable[[Status, Round], tuple[dict[str, Any], list[str]]]


def prepare(options: argparse.Namespace, before: Status, report: Report) -> Handed:
    """Return what writes the list once a round is issued; refuse what cannot be read or written before that."""
    from ..export.transfers import COLUMNS, read_sources, read_volume, transfers, write
    from ..tables.opening import read_table

    out, handler = Path(options.transfers), options.format
    if out.suffix.casefold() != ENDINGS[handler]:
        raise AssayPilotError(
            f"the name must end in {ENDINGS[handler]}", file=str(out), option="--transfers", mend="Choose another name."
        )
    check_place(out, options.file, "--transfers")
    ours = set(COLUMNS.get(handler, ()))
    keep_other_tables(out, lambda columns: set(columns) == ours, "--transfers")
    volume = read_volume(options.volume, handler)
    sources = read_sources(read_table(options.sources, report), before, options.source_plate)

    def hand_over(now: Status, issued: Round) -> tuple[dict[str, Any], list[str]]:
        layout = issued.layout
        found, lacking = transfers(now, issued, layout, sources)
        assert layout is not None  # transfers refuses a round without plates
        write(out, found, handler, volume, FORMATS[options.source_plate], layout.use.format)
        lines = [f"Transfers: {out}, {len(found):,} of {options.volume}"]
        if lacking:
            lines.append(f"Note: the sources do not name {', '.join(lacking)}; fill their wells by hand.")
        return {"transfers_file": str(out), "transfers": len(found), "not_transferred": lacking}, lines

    return hand_over
