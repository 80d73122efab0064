"""What Windows and macOS do differently with files, as far as another system can play it."""

import errno
import os
import sys
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from assaypilot.engine.campaign.file import disk
from assaypilot.engine.campaign.file.disk import new_file
from assaypilot.engine.campaign.file.schema import connect
from assaypilot.engine.cli.work_lists import check_place
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.export.formats import write_whole
from assaypilot.engine.system import places, processes
from assaypilot.engine.system.places import refuse_name
from assaypilot.engine.tables.opening import parse_text, read_table


class HeldOpen:
    """A function of ``os`` on Windows while somebody has the file open: refuses some times, then works."""

    def __init__(self, times, number, really=os.replace):
        self.left, self.number, self.really = times, number, really

    def __call__(self, *arguments):
        if not self.left:
            return self.really(*arguments)
        self.left -= 1
        refusal = PermissionError(errno.EACCES, "Access is denied")
        refusal.winerror = self.number
        raise refusal


@pytest.fixture
def at_once(monkeypatch):
    """The seconds waited, in no time."""
    waited = []
    monkeypatch.setattr(places.time, "sleep", waited.append)
    return waited


@pytest.fixture
def windows(monkeypatch):
    monkeypatch.setattr(places, "WINDOWS", True)


@pytest.mark.parametrize("number", [5, 32, 33])
def test_short_lock_by_another_program_is_waited_for(tmp_path, monkeypatch, at_once, number):
    path = tmp_path / "list.csv"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "replace", HeldOpen(3, number))
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert len(at_once) == 3
    assert sum(at_once) < 0.2


def test_file_locked_for_long_is_refused_within_seconds(tmp_path, monkeypatch, at_once):
    path = tmp_path / "list.xlsx"
    path.write_bytes(b"in the spreadsheet")
    monkeypatch.setattr(os, "replace", HeldOpen(1000, 5))  # what MoveFileEx says of a target that is open
    with pytest.raises(AssayPilotError, match=r"another program has the file open. Close it there"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"in the spreadsheet"
    assert os.listdir(tmp_path) == [path.name]
    assert 0.9 < sum(at_once) < 1.5


def test_a_campaign_is_put_in_place_patiently(tmp_path, monkeypatch, at_once):
    path = tmp_path / "a.assaypilot"
    monkeypatch.setattr(disk, "WINDOWS", True)
    monkeypatch.setattr(os, "rename", HeldOpen(2, 32))
    with new_file(path) as temporary:
        temporary.write_bytes(b"all of it")
    assert path.read_bytes() == b"all of it"
    path.unlink()
    monkeypatch.setattr(os, "rename", HeldOpen(1000, 32))
    with (
        pytest.raises(AssayPilotError, match="another program has the file open"),
        new_file(path) as temporary,
    ):
        temporary.write_bytes(b"other")
    assert os.listdir(tmp_path) == []


def test_files_are_fully_synchronised_on_macos(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    asked = []
    knows = [True]

    def control(descriptor, what):
        if not knows[0]:
            raise OSError(errno.ENOTSUP, "Operation not supported")
        asked.append(what)

    monkeypatch.setattr(os, "fsync", lambda descriptor: asked.append("fsync"))
    monkeypatch.setitem(sys.modules, "fcntl", SimpleNamespace(F_FULLFSYNC="full", fcntl=control))
    write_whole(path, b"here")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "platform", "darwin")
        write_whole(path, b"on a Mac")
        knows[0] = False
        write_whole(path, b"on its network drive")
    assert asked == ["fsync", "full", "fsync"]
    assert path.read_bytes() == b"on its network drive"


def test_commits_reach_the_disk_on_a_mac(tmp_path):
    with closing(connect(tmp_path / "a.assaypilot", existing=False)) as connection:
        assert connection.execute("PRAGMA fullfsync").fetchone()[0] == 1
        assert connection.execute("PRAGMA synchronous").fetchone()[0] == 3  # EXTRA: the folder is synchronised, too


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("aux.csv", "aux is the name of a device"),
        ("Con.assaypilot", "Con is the name of a device"),
        ("LPT1 .tar.csv", "LPT1 is the name of a device"),
        ("com¹.csv", "is the name of a device"),
        ("round:1.csv", "Windows takes no : in the name"),
        ("what?.xlsx", "takes no ?"),
        ("a\tb.csv", "takes no a control character"),
        ("list.csv.", "does not end in a blank or a point"),
        ("list.csv ", "does not end in a blank or a point"),
    ],
)
@pytest.mark.usefixtures("windows")
def test_names_that_windows_does_not_take(tmp_path, name, said):
    for use in (lambda path: write_whole(path, b""), lambda path: check_place(path, "c.assaypilot"), _campaign):
        with pytest.raises(AssayPilotError) as refused:
            use(tmp_path / name)
        assert said in str(refused.value)
        assert "Choose another name." in str(refused.value)
    assert not os.listdir(tmp_path)


def _campaign(path):
    with new_file(path):
        pass


@pytest.mark.parametrize("name", ["auxiliary.csv", "console.xlsx", "O'Brien µ (2).csv", ".csv", "com10.csv", "lpt.csv"])
@pytest.mark.usefixtures("windows")
def test_names_that_windows_takes(name):
    refuse_name(Path(name))


def test_path_that_is_too_long_is_reported(tmp_path, monkeypatch):
    path = tmp_path / f"{'n' * max(1, 255 - len(str(tmp_path)))}.csv"

    def refuse(*_):
        raise FileNotFoundError(errno.ENOENT, "The system cannot find the path specified")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(AssayPilotError, match=r"too long together. Choose a shorter name"):
        write_whole(path, b"x")
    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(AssayPilotError, match="too long together"), new_file(path):
        pass


def test_a_pasted_block_may_end_in_a_zero():
    # Excel on Windows ends it so, and other programs with a blank line before.
    for end in ("\0", "\r\n\0", ""):
        raw = parse_text(f"ID\tpIC50\r\nA\t5,5\r\nB\t6,25{end}")
        assert raw.cells == (("A", "B"), ("5,5", "6,25"))
        assert not raw.warnings
    assert parse_text("ID\tpIC50\rA\t5\rB\t6\r").cells == (("A", "B"), ("5", "6"))  # Excel on a Mac


@pytest.mark.parametrize("number", [errno.EINVAL, errno.EDEADLK])
def test_file_its_cloud_service_cannot_fetch_is_refused(tmp_path, monkeypatch, number):
    path = tmp_path / "series.csv"
    path.write_text("ID,pIC50\nA,5\n", encoding="utf-8")

    def away(self):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "read_bytes", away)
    with pytest.raises(AssayPilotError, match=r"series.csv: the file is kept elsewhere .* could not be fetched"):
        read_table(path)


def test_process_killed_by_the_system_is_reported_as_lack_of_memory():
    if not hasattr(os, "fork"):
        pytest.skip("a process is ended another way here")
    with pytest.raises(AssayPilotError, match=r"there is not enough memory. Close other programs"):
        processes.in_another_process(_killed)


def test_lack_of_memory_in_a_process_is_reported():
    with pytest.raises(AssayPilotError, match="there is not enough memory"):
        processes.in_another_process(_greedy)


def _killed(report):
    import signal

    os.kill(os.getpid(), signal.SIGKILL)


def _greedy(report):
    raise MemoryError
