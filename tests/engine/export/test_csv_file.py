"""Files written whole or not at all, and csv that spreadsheets open as it is meant."""

import errno
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.export.formats import whole_file, write_whole
from assaypilot.engine.export.sheet import write_csv
from assaypilot.engine.system.progress import Cancelled
from assaypilot.engine.tables.opening import read_table
from assaypilot.engine.tables.raw import visible
from assaypilot.engine.tables.values import parse_value

# What a table can hold: no control characters, no signs that nobody sees, and no outer spaces, which reading trims.
TEXTS = (
    st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn", "Zl", "Zp")), min_size=1, max_size=12)
    .map(lambda text: text.strip() or "x")
    .filter(lambda text: text == visible(text).strip())
)
RISKY = st.sampled_from(
    [
        "＝1+1",
        "＋x",
        "－y",
        "＠cmd",
        "'＝1",
        "=1+1",
        "+x",
        "-y",
        "@cmd",
        "'=1",
        "''+2",
        "'plain",
        "-5",
        'a"b',
        "a,b",
        "a;b",
        "two\nlines",
    ]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(TEXTS | RISKY, st.floats(allow_nan=False, allow_infinity=False)), min_size=1, max_size=6))
def test_what_is_written_is_read_back(tmp_path, rows):
    path = tmp_path / "out.csv"
    assert write_csv(path, ["ID", "Value"], rows) == len(rows)
    table = read_table(path)
    assert table.encoding == "utf-8-sig"
    assert list(table.column("ID")) == [text for text, _ in rows]
    assert [float(text) for text in table.column("Value")] == [number for _, number in rows]


def test_formulas_are_text_and_numbers_are_untouched(tmp_path):
    path = tmp_path / "out.csv"
    write_csv(path, ["a", "b", "c", "d"], [["=1+1", -5, -0.25, None], ["-x", 7, math.nan, True]])
    assert path.read_bytes() == b"\xef\xbb\xbfa,b,c,d\r\n'=1+1,-5,-0.25,\r\n'-x,7,,yes\r\n"
    assert parse_value("-0.25").value == -0.25


OLD = b"what was there before"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "list.xlsx"
    path.write_bytes(OLD)
    return path


def alone(path: Path) -> bool:
    """Whether the file is as it was, with nothing beside it."""
    return path.read_bytes() == OLD and os.listdir(path.parent) == [path.name]


def test_until_the_end_the_old_file_is_there(old: Path) -> None:
    with whole_file(old) as beside:
        beside.write_bytes(b"half")
        assert old.read_bytes() == OLD
        assert beside.parent == old.parent  # moved, never copied
        beside.write_bytes(b"whole")
    assert old.read_bytes() == b"whole"


@pytest.mark.parametrize("stop", [Cancelled(), KeyboardInterrupt(), ValueError("a bug"), AssayPilotError("no")])
def test_whatever_stops_it_leaves_the_old_file_and_nothing_else(old: Path, stop: BaseException) -> None:
    def write() -> None:
        with whole_file(old) as beside:
            beside.write_bytes(b"half")
            raise stop

    with pytest.raises(type(stop)):
        write()
    assert alone(old)


def error(number: int, winerror: int | None = None) -> OSError:
    made = OSError(number, os.strerror(number))
    if winerror is not None:
        made.winerror = winerror  # as Windows says it
    return made


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (error(errno.ENOSPC), "the disk is full. Free some space or choose another folder."),
        (error(errno.EFBIG), "the disk is full"),
        (error(errno.ENOENT), "there is no such folder. Create it or choose another one."),
        (error(errno.EACCES), "may not be written to. Choose another folder, or close the file if another program"),
        (error(errno.EROFS), "may not be written to"),
        (error(errno.EACCES, 32), "another program has the file open. Close it there"),
        (error(errno.ENAMETOOLONG), "the name of the file is too long"),
        (error(errno.EIO), r"cannot be written \(Input/output error\)"),
    ],
)
def test_what_the_system_refuses_is_reported_plainly(
    old: Path, monkeypatch: pytest.MonkeyPatch, raised: OSError, said: str
) -> None:
    def refuse(*_: object) -> None:
        raise raised

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(AssayPilotError, match=said) as caught:
        write_whole(old, b"new")
    assert caught.value.file == str(old)
    monkeypatch.undo()
    assert alone(old)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are a thing of POSIX")
@pytest.mark.parametrize(
    ("ending", "room"),
    [("csv", 1_024), ("xlsx", 100), ("xlsx", 1_024), ("xlsx", 5_000), ("sdf", 1_024), ("pdf", 1_024), ("pptx", 1_024)],
)
def test_a_disk_that_fills_up_on_the_way(
    tmp_path: Path, ending: str, room: int, play_nasty: Callable[[], object]
) -> None:
    """A process that may write less than any of these files has."""
    play_nasty()
    path = tmp_path / f"list.{ending}"
    path.write_bytes(OLD)
    code = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "from assaypilot.engine.cli import main;"
        "import assaypilot.engine.export.formats as f; import importlib;"
        "[importlib.import_module('assaypilot.engine.export.' + m) for _, m in f.FORMATS.values()];"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, resource.RLIM_INFINITY));"
        f"sys.exit(main(['export', {str(tmp_path / 'x.assaypilot')!r}, {str(path)!r}, '--only', 'all']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert "the disk is full" in done.stderr, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    assert (done.returncode, done.stdout) == (1, "")
    assert path.read_bytes() == OLD
    assert sorted(os.listdir(tmp_path)) == [path.name, "x.assaypilot"]
