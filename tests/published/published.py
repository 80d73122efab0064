"""Every published number beside ours: ``python3 packaging/dev.py published``.

Writes REPORT.md and pictures/ beside this file. ``--only SECTION`` runs some sections and rewrites those alone;
``--runs-factor X`` makes more or fewer runs; ``--jobs N`` processes. Seeds are fixed: the numbers of measurements, of
right and of wrong answers are the same whenever it is run on one kind of processor; on another, rounding may choose
other ones of equally good designs. Seconds are those of the machine. Every run is written down in papers-runs.jsonl (or
``--kept FILE``) as it is made, so that a cut loses nothing; the file goes when all is made.
"""

from __future__ import annotations

import argparse
import platform
import re
import sys
import time
from pathlib import Path

from tests.published import gege, gse, linfact, lingame, machine, rage
from tests.published.cases import Kept, processes
from tests.published.pictures import draw
from tests.published.section import Section

REPORT = Path(__file__).with_name("REPORT.md")
KEPT = Path(__file__).with_name("papers-runs.jsonl")
SECTIONS = (
    *linfact.SECTIONS,
    *gege.SECTIONS,
    *lingame.SECTIONS,
    *rage.SECTIONS,
    *gse.SECTIONS,
    *machine.SECTIONS,
)
HEAD = """# The published numbers beside ours

Made by `python3 packaging/dev.py published`. Seeds are fixed; where designs are equally good, rounding chooses, and a
processor with other linear algebra may choose otherwise. Every run is a whole campaign against a simulated assay; run i
of every strategy is on the same draw of the instance. Means are with 95 % intervals (Student); ratios of measurements
are geometric means over the same draws. "Wrong": a decision was made that no right answer agrees with; "open": the run
ended, at its budget or limit, without a complete answer. Milliseconds are processor time, medians; where two processes
run at once they are longer than in the sections on seconds.

Under each table is what its paper says. **holds**: on every instance, beyond the 95 % intervals; **DOES NOT HOLD**: on
one at least, beyond them; **not told apart**: neither.

How often the strategies are wrong is in [REPORT-calibration.md](REPORT-calibration.md).
"""


def mark(name: str) -> str:
    return f"<!-- section {name} -->\n"


_VERDICT = re.compile(r"^- (.+?) \*\*(holds|DOES NOT HOLD|not told apart)\*\*: ", re.MULTILINE)


_ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \| (\d+) \| ", re.MULTILINE)


def outdated(parts: dict[str, str]) -> list[str]:
    """Sections that were made before their cases were changed: rows are missing, or have another number of runs."""
    out = []
    for one in SECTIONS:
        if isinstance(one, Section) and one.name in parts:
            rows = {(instance, name, int(runs)) for instance, name, runs in _ROW.findall(parts[one.name])}
            asked = {(case.instance, case.name, case.runs) for case in one.cases}
            if rows and not asked <= rows:
                out.append(one.name)
    return out


def summary(parts: dict[str, str]) -> str:
    """What was found, in a line for each paper: how many of its claims hold, which do not, and by how many runs."""
    titles = {"linfact": "LinFACT", "gege": "GEGE", "lingame": "LinGame", "rage": "RAGE", "gse": "GSE", "ours": "ours"}
    claims: dict[str, list[tuple[str, str]]] = {name: [] for name in titles}
    runs: dict[str, list[int]] = {name: [] for name in titles}
    for name, text in parts.items():
        paper = name.partition("-")[0]
        if paper not in titles:
            continue
        same = ""
        for claim, verdict in _VERDICT.findall(text):
            if claim.startswith("The same"):
                claim = f"{same} ({claim})"
            else:
                same = claim
            claims["ours" if claim.startswith("Ours: ") else paper].append((claim, verdict))
        runs[paper] += [int(cell) for _, _, cell in _ROW.findall(text)]
    lines = []
    for name, title in titles.items():
        verdicts = [verdict for _, verdict in claims[name]]
        counts = [verdicts.count(word) for word in ("holds", "DOES NOT HOLD", "not told apart")]
        against = " ".join(claim for claim, verdict in claims[name] if verdict == "DOES NOT HOLD")
        if verdicts:
            least = f"{min(runs[name])}" if runs[name] else "-"
            lines.append(f"| {title} | {' | '.join(map(str, counts))} | {least} | {against or '-'} |")
    old = outdated(parts)
    note = (
        "\nMade before their rows or numbers of runs were changed, so that the tables below are of the cases then: "
        f"{', '.join(old)}.\n"
    )
    return (
        "\n## What was found\n\n| claims of | hold | do not | not told apart | fewest runs of a row | which do not |\n"
        "|---|---|---|---|---|---|\n" + "\n".join(lines) + "\n" + (note if old else "")
    )


def write(made: dict[str, str]) -> None:
    """Write the report: sections made now, the others as they were."""
    kept: dict[str, str] = {}
    if REPORT.exists():
        for part in REPORT.read_text(encoding="utf-8").split("<!-- section ")[1:]:
            name, _, text = part.partition(" -->\n")
            kept[name] = text.rstrip() + "\n"
    known = {one.name: (kept | made)[one.name] for one in SECTIONS if one.name in (kept | made)}
    parts = [mark(name) + text for name, text in known.items()]
    REPORT.write_text(HEAD + summary(known) + "\n" + "\n".join(parts), encoding="utf-8", newline="\n")


def main(arguments: list[str] | None = None) -> int:
    names = [one.name for one in SECTIONS]
    parser = argparse.ArgumentParser(prog="published", description="Every published number beside ours.")
    parser.add_argument("--only", action="append", choices=names, metavar="SECTION", help=", ".join(names))
    parser.add_argument("--runs-factor", type=float, default=1.0, help="1: as in the report")
    parser.add_argument("--jobs", type=int, default=2, help="processes at once; 2")
    parser.add_argument("--kept", type=Path, default=KEPT, help="where runs are written down")
    options = parser.parse_args(arguments)
    if options.runs_factor <= 0 or options.jobs < 1:
        parser.error("--runs-factor must be above 0 and --jobs at least 1")
    made, kept = {}, Kept(options.kept)
    if len(kept):
        print(f"{len(kept):,} runs are taken from {options.kept.name}")
    with processes(options.jobs) as pool:
        for one in SECTIONS:
            if options.only and one.name not in options.only:
                continue
            begun = time.monotonic()
            if isinstance(one, Section):
                text, found = one.markdown(options.runs_factor, pool, kept)
                picture = draw(one, found)
                if picture is not None:
                    text += f"\n![{one.title}]({picture.parent.name}/{picture.name})\n"
            else:
                text = one.markdown(options.runs_factor)
            seconds = time.monotonic() - begun
            made[one.name] = text + f"\nMade in {seconds:.0f} s with Python {platform.python_version()}.\n"
            print(f"{one.name:<16} {seconds:7.1f} s", flush=True)
            # After every section, so that a stopped run leaves what it made.
            write(made)
    options.kept.unlink(missing_ok=True)
    print(REPORT.name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
