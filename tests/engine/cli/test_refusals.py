"""Every refusal is one plain line with the mend, and nothing is written: ``tests/golden/refusals.txt`` lists them."""

import csv
import shlex
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing, redirect_stdout
from io import StringIO
from typing import Any

import pytest

from assaypilot.engine.cli import main
from tests import snapshots
from tests.engine.cli.helpers import R1, R2, read_sheet, truth_of, write_sheet

REFUSALS = snapshots.GOLDEN / "refusals.txt"
PAIRS = [(a, b) for a in R1 for b in R2]
IDS = [f"C-{i:02d}" for i in range(12)]
HEADER = ("ID", "R1", "R2", "pIC50")


def sections() -> list[tuple[str, list[tuple[str, str]]]]:
    """Each heading of the file with its commands and what each of them says."""
    found = []
    for section in REFUSALS.read_text(encoding="utf-8").split("\n# ")[1:]:
        heading, *blocks = section.split("\n$ ")
        pairs = [block.split("\n", 1) for block in blocks]
        found.append((heading.strip(), [(command, said.strip()) for command, said in pairs]))
    return found


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A folder with the tables and campaigns that the commands name."""
    folder = tmp_path_factory.mktemp("prepared")

    def table(name: str, header: Sequence[object], rows: Sequence[Sequence[object]], delimiter: str = ",") -> None:
        with (folder / name).open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream, delimiter=delimiter).writerows([header, *rows])

    def campaign(name: str, source: str, *words: str) -> None:
        with redirect_stdout(StringIO()):
            terms = ("--epsilon", "0.5", "--per-round", "24", "--strategy", "proven", *words)
            assert main(["new", str(folder / name), "--table", str(folder / source), *terms]) == 0

    known = list(zip(IDS, *zip(*PAIRS, strict=True), strict=True))
    values = [round(truth_of(a, b), 2) for a, b in PAIRS]
    small = [(*row, value) for row, value in zip(known, values, strict=True)]
    table("small.csv", HEADER, small)
    table("bare.csv", HEADER[:3], known)
    table("share.csv", (*HEADER[:3], "share"), [(*row, 35) for row in known])
    table("binary.csv", (*HEADER[:3], "active"), [(*row, k % 2) for k, row in enumerate(known)])
    (folder / "empty.csv").write_bytes(b"\xef\xbb\xbf\n\n")
    table("header.csv", HEADER, [])
    table("delimiter.csv", HEADER, small, "^")
    table("no-site.csv", ("ID", "Left", "pIC50"), [(row[0], row[1], row[3]) for row in small])
    table("one.csv", HEADER, small[:1])
    table("same.csv", ("ID", "R1", "pIC50"), [("C1", "H", 6), ("C2", "H", 7)])
    (folder / "damaged.xlsx").write_bytes(b"PK\x03\x04 and so on")
    (folder / "a folder").mkdir()
    columns = {"All": "yes", "Price": "2.5", "Nan": "nan", "Minus": "-1"}
    more = [("yes" if k < 11 else "no", "" if k == 2 else "1") for k in range(12)]
    table(
        "design.csv",
        (*HEADER[:3], *columns, "Most", "Gap"),
        [(*row, *columns.values(), *last) for row, last in zip(known, more, strict=True)],
    )
    table("targets.csv", ("ID", "R1"), [("A", "Me"), ("B", "H")])
    table("structures.csv", ("ID", "SMILES", "pIC50"), [(f"S{k}", f"{a}c1ccncc1", k) for k, a in enumerate(("C", "F"))])
    table("raw.csv", ("ID", "Conc (uM)", "RFU"), [("A", 10.0 / 3**k, 9000 - 1000 * k) for k in range(6)])
    table("listed.csv", (*HEADER, "Stock"), [(*row, "no" if k % 2 else "yes") for k, row in enumerate(small)])
    table("stock.csv", ("ID", "Stock"), [("nobody", "yes")])
    table("dear.csv", ("ID", "Cost"), [("C-00", "1e300")])
    campaign("small.assaypilot", "small.csv", "--sd", "0.2")
    campaign("stock.assaypilot", "listed.csv", "--sd", "0.2")
    campaign("hERG.assaypilot", "bare.csv", "--endpoint", "pIC50;sd=0.2", "--endpoint", "hERG;sd=0.3;limit=<6",
             "--strategy", "gaussian-process",
             "--objective", "pIC50")  # fmt: skip
    campaign("planned.assaypilot", "small.csv", "--sd", "0.2")
    with redirect_stdout(StringIO()):
        assert main(["plan", str(folder / "planned.assaypilot"), "--out", str(folder / "work.csv")]) == 0
    header, rows = read_sheet(folder / "work.csv")
    rows[3]["Value"] = "6.1"
    write_sheet(folder / "filled.csv", header, rows)
    shutil.copy(folder / "small.assaypilot", folder / "campaign.csv")
    shutil.copy(folder / "small.assaypilot", folder / "newer.assaypilot")
    with closing(sqlite3.connect(folder / "newer.assaypilot")) as connection:
        connection.execute("PRAGMA user_version = 99")
    with closing(sqlite3.connect(folder / "other.assaypilot")) as connection:
        connection.execute("CREATE TABLE t (x)")
    table("unknown.csv", ("ID", "Value"), [("X-99", 6.1), ("X-98", 6.2)])
    table("words.csv", ("ID", "Value"), [("C-00", "active")])
    table("infinite.csv", ("ID", "Value"), [("C-00", "1e999")])
    table("no-ids.csv", ("Foo", "Value"), [(1, 2)])
    table("no-values.csv", ("ID", "Foo"), [("C-00", 2)])
    return folder


def refusal(run: Callable[..., Any], command: str) -> str:
    """What a command says that must be refused, with and without ``--json``; wrong usage begins with (2)."""
    words = shlex.split(command)
    answer = run(*words)
    assert answer.code in (1, 2), command
    assert answer.out == ""
    assert "internal error" not in answer.err
    line = answer.err.splitlines()[-1]
    assert answer.code == 2 or answer.err == f"{line}\n", answer.err
    again = run(*words, "--json")
    assert again.code == answer.code
    assert answer.code == 2 or again.err == ""
    error = again.document["error"]
    assert set(error) == {"message", "file", "row", "column", "option", "mend"}
    assert answer.code == 2 or " ".join(error["message"].split()).rstrip(".") in line
    return f"(2) {line}" if answer.code == 2 else line


@pytest.mark.parametrize(
    ("heading", "commands"), sections(), ids=lambda given: given if isinstance(given, str) else "commands"
)
def test_command_is_refused_in_one_line_and_nothing_is_written(
    heading, commands, prepared, tmp_path, run, folder, monkeypatch
):
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    before = folder()
    found = []
    for command, _ in commands:
        found.append((command, refusal(run, command)))
        assert folder() == before, command
    if snapshots.WRITE:
        text, old = REFUSALS.read_text(encoding="utf-8"), f"# {heading}\n"
        head, rest = text.split(old)
        _, mark, following = rest.partition("\n# ")
        body = "".join(f"\n$ {command}\n{said}\n" for command, said in found)
        REFUSALS.write_text(head + old + body + mark + following, encoding="utf-8")
        return
    assert found == commands
