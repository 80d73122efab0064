"""The commands of the how-to page run as printed, in their order."""

import csv
import itertools
import re
import shlex
from pathlib import Path

from assaypilot.engine.cli.program import main

PAGE = Path(__file__).parents[1] / "packaging" / "site" / "pages" / "how-to.md"
EFFECTS = (
    {"H": 0.0, "Me": 0.6, "Et": 0.3, "iPr": 1.1},
    {"F": 0.0, "Cl": 0.4, "OMe": -0.3, "CN": 0.9},
    {"a": 0, "b": 1},
)


def truth(labels):
    return 5.5 + sum(effects[label] for effects, label in zip(EFFECTS, labels, strict=True))


def fill_in(path):
    """Write what the lab measured into a work list."""
    with path.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert rows
    for row in rows:
        row["Value"] = f"{truth((row['R1'], row['R2'], row['R3'])):.2f}"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_commands_of_the_how_to_page_run_as_printed(tmp_path, monkeypatch, capsys):
    commands = re.findall(r"^    assaypilot (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(commands) > 10
    monkeypatch.chdir(tmp_path)
    lines = ["ID,R1,R2,R3,pIC50,hERG,Cost"]
    for number, labels in enumerate(itertools.product(*EFFECTS)):
        if number % 5:
            value = f"{truth(labels):.1f}" if number % 3 == 0 else ""
            lines.append(f"C{number},{','.join(labels)},{value},{'5.1' if value else ''},{20 * (number % 2)}")
    (tmp_path / "series.csv").write_text("\n".join(lines), encoding="utf-8")
    for command in commands:
        if command.startswith("record"):
            fill_in(tmp_path / "round1.csv")
        code = main(shlex.split(command))
        assert code == 0, (command, capsys.readouterr().err)
