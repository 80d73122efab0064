"""``demo``: a whole practice campaign with a simulated assay, until the set is decided."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Floats
from ..campaign.from_table import refuse_taken
from ..campaign.phrases import many
from ..campaign.state import Status
from ..export.formats import refused
from ..simulate.practice import create_practice, practice_results, practice_truth
from ..strategies.protocol import IN
from ..system.places import temporary_folder
from ..text.percentages import percent
from ..text.statements import tally
from .files import export_shortlist
from .program import Console, Reply, table
from .standing import status_document

_CAMPAIGN, _SHORTLIST = "practice.assaypilot", "shortlist.csv"
_SHOWN = 25
"""Compounds of the answer shown in the terminal."""


def demo(options: argparse.Namespace, console: Console) -> Reply:
    """Return a practice campaign from the first round to the decided set, compared with the truth."""
    if options.out is None:
        with temporary_folder() as place:
            return _run(place / _CAMPAIGN, None, options.seed, console)
    folder = Path(options.out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise refused(error, folder) from None
    refuse_taken(folder / _SHORTLIST)
    return _run(folder / _CAMPAIGN, folder / _SHORTLIST, options.seed, console)


def _run(path: Path, shortlist: Path | None, seed: int, console: Console) -> Reply:
    started = time.perf_counter()
    with create_practice(path, seed=seed) as campaign:
        now = campaign.status()
        console.say(
            f"Practice campaign: {many(len(now.library), 'compound')}, synthetic, with a simulated assay "
            f"(noise SD {now.endpoints[now.objective].noise_sd:g}), seed {seed}",
            f"Goal: {now.goal_sentence}",
            "",
        )
        while (issued := campaign.plan(console.report)) is not None:
            campaign.record(practice_results(campaign, issued))
            now = campaign.status()
            console.say(_round_line(now, issued.number, issued.measurements, len(issued.items)))
        now = campaign.status()
    if shortlist is not None:
        export_shortlist(now, shortlist, "in")
    truth = practice_truth()
    score = _score(now, truth)
    document = status_document(now) | score | {"seed": seed, "seconds": time.perf_counter() - started}
    if shortlist is not None:
        document |= {"file": str(path), "shortlist": str(shortlist)}
    return Reply(document, _lines(now, truth, document, None if shortlist is None else path.parent))


def _round_line(now: Status, number: int, measurements: int, compounds: int) -> str:
    return f"Round {number}: {measurements:,} measurements of {compounds:,} compounds -> {tally(now.counts)}"


def _score(now: Status, truth: Floats) -> dict[str, Any]:
    """Return the answer against the truth.

    precision: share of the returned that are truly within epsilon + slack. recall: share of those truly within
    epsilon that are returned. Both 1 is what the guarantee promises.
    """
    goodness = now.endpoints[now.objective].sign * truth
    behind = goodness.max() - goodness
    within = behind <= now.settings.distance
    acceptable = behind <= now.settings.distance + now.settings.softness
    returned = now.candidates.status == IN
    ids = now.library.ids
    return {
        "truth": {
            "within_epsilon": [ids[compound] for compound in np.flatnonzero(within).tolist()],
            "within_epsilon_plus_slack": [ids[compound] for compound in np.flatnonzero(acceptable).tolist()],
        },
        "precision": float((returned & acceptable).sum() / returned.sum()) if returned.any() else None,
        "recall": float((returned & within).sum() / within.sum()),
        "correct": bool(np.all(returned[within]) and not np.any(returned & ~acceptable)),
    }


def _lines(now: Status, truth: Floats, document: dict[str, Any], folder: Path | None) -> list[str]:
    settings = now.settings
    wide = settings.distance + settings.softness
    precision = document["precision"]
    lines = [
        "",
        now.statement,
        now.promise,
        "",
        f"The truth, known here: {len(document['truth']['within_epsilon'])} compounds within {settings.distance:g} of "
        f"the best; {percent(document['recall'])} of them returned",
        f"Of the {now.counts['in']} returned, "
        f"{'none' if precision is None else percent(precision)} are truly within {wide:g} of the best",
        f"{now.measurements_used:,} measurements in {many(now.rounds_made, 'round')}, {document['seconds']:.1f} s",
    ]
    rank = {name: compound for compound, name in enumerate(now.library.ids)}
    shown = [rank[name] for name in document["in"][:_SHOWN]]
    rows = [
        (now.library.ids[c], f"{now.candidates.estimate[c]:.2f}", f"{truth[c]:.2f}", int(now.candidates.measured[c]))
        for c in shown
    ]
    lines += ["", *table(["Best of those in", "Estimate", "Truth", "Measured"], rows)]
    if folder is not None:
        lines += ["", f"Left in {folder}: {_CAMPAIGN}, {_SHORTLIST}"]
    return lines
