"""Killed programs, damaged tables and rewritten logs: how many were tried, and what came of them.

``python -m tests.published.attacks`` writes REPORT-attacks.md beside this file. A try that ends otherwise than by an
answer or a refusal in one line, or that takes too long, ends the command with its traceback.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.verifying import verify
from assaypilot.engine.errors import AssayPilotError
from tests.engine.campaign import test_kill as killing
from tests.engine.campaign.making import answers, decide_phase, make
from tests.engine.campaign.rechained import changed, rewrite, rows_of, some
from tests.engine.tables import test_mutations

REPORT = Path(__file__).with_name("REPORT-attacks.md")
MEMORY = 2**30
"""Bytes that the tries may take in all."""


def kills(folder: Path, n: int) -> str:
    """Kill a program that plans, records and corrects, at any instant; see ``test_kill``."""
    seen = killing.script(folder, n)
    return f"nothing acknowledged lost; {seen['cut short']:.0f} cut short inside a commit, rolled back at the next open"


def tables(folder: Path, n: int) -> str:
    """Read damaged tables of every kind."""
    fine = 0
    for kind, (share, make_one, suffix) in test_mutations.KINDS.items():
        fine += test_mutations.run(round(n * share / 80), f"{kind} {n}", make_one, suffix, folder)
    return f"{fine:,} read, the others refused in one line; every value stands in its row of the file"


def cells(folder: Path, n: int) -> str:
    """Change one cell of a whole table."""
    rng = random.Random(n)
    for _ in range(n):
        test_mutations.one_cell(rng, folder)
    return "no other value changed"


def logs(folder: Path, n: int) -> str:
    """Change an event and chain the log again: every digest fits."""
    source, path = folder / "source.assaypilot", folder / "changed.assaypilot"
    with make(source) as campaign:
        decide_phase(campaign)
        campaign.plan()
        campaign.record(answers(campaign)[:3])
    rows, seen = rows_of(source), Counter[str]()
    for seed in range(n):
        rewrite(source, path, changed(rows, *some(rows, seed)))
        opened = False
        with contextlib.suppress(AssayPilotError), Campaign.open(path, read_only=True) as campaign:
            campaign.status()
            campaign.history()
            opened = True
        seen["opened" if opened else "refused"] += 1
        seen["named by verify"] += not verify(path, recompute=True).ok
    told = ", ".join(f"{count:,} {name}" for name, count in sorted(seen.items()))
    return f"{told}; what remains is what digests cannot show: names, notes, times, values nothing rests on"


def bytes_of_files(folder: Path, n: int) -> str:
    """Flip one byte of a campaign file."""
    source, path = folder / "whole.assaypilot", folder / "flipped.assaypilot"
    with make(source) as campaign:
        decide_phase(campaign)
        before = [m.value for m in campaign.status().measurements]
    whole, rng, seen = source.read_bytes(), random.Random(n), Counter[str]()
    for _ in range(n):
        place = rng.randrange(len(whole))
        path.write_bytes(whole[:place] + bytes([whole[place] ^ rng.randrange(1, 256)]) + whole[place + 1 :])
        try:
            with Campaign.open(path, read_only=True) as campaign:
                same = [m.value for m in campaign.status().measurements] == before
            found = verify(path, recompute=False)
            assert same or not found.ok, f"byte {place}: another value, and verify says nothing"
            seen["named by verify" if not found.ok else "of no effect"] += 1
        except AssayPilotError:
            seen["refused"] += 1
    return ", ".join(f"{count:,} {name}" for name, count in sorted(seen.items())) + "; no value changed unseen"


ATTACKS: tuple[tuple[str, Callable[[Path, int], str], int], ...] = (
    ("programs killed at any instant", kills, 750),
    ("tables with damaged text, cells and archives", tables, 10_000),
    ("tables with one cell changed", cells, 2_500),
    ("events changed, the log chained again", logs, 625),
    ("bytes of a campaign file flipped", bytes_of_files, 625),
)


def main() -> None:
    """Try all attacks and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="of the tries (default 1); 4 takes an hour")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    lines = [
        "# Attacks",
        "",
        "Made by `python -m tests.published.attacks`, within 1 GB of data. No traceback, and no table took",
        "",
    ]
    lines[-2] += f" {test_mutations.LONGEST:.0f} s."
    lines += ["| tries | of | what came of them | minutes |", "|---|---|---|---|"]
    for name, attack, n in ATTACKS:
        tries, begun = max(20, round(options.share * n)), time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            told = attack(Path(folder), tries)
        lines.append(f"| {tries:,} | {name} | {told} | {(time.monotonic() - begun) / 60:.1f} |")
        print(lines[-1], flush=True)
    lines += [
        "",
        "Full disks, power cuts by system calls, two writers, overwritten files, read-only folders, clocks that",
        "jump and files made to exhaust memory or time are tests: `test_store*.py` and `test_hostile*.py`.",
    ]
    REPORT.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
