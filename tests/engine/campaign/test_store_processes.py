"""Several programs on one file, programs that are killed, folders that cannot be written and disks that are full."""

import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assaypilot.engine.campaign.file.store import Draft, Store, verify
from assaypilot.engine.errors import AssayPilotError

posix = pytest.mark.skipif(os.name == "nt", reason="signals, users and mounts as on Linux and macOS")

PYTHON = (sys.executable, "-c")
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
HEADER = """
import os, signal, sqlite3, sys, time
from assaypilot.engine.campaign.file import chain
from assaypilot.engine.campaign.file.store import Draft, Store, as_parts, part_digest, verify
from assaypilot.engine.errors import AssayPilotError
path = sys.argv[1]
def say(*words):
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())
"""

LOOP = (
    HEADER
    + """
store = Store.open(path) if os.path.exists(path) else Store.create(path, [Draft("created", {})], author="child")
say("ready", store.read_only_reason)
while True:
    n = store.n_events
    blob = os.urandom(30_000)
    draft = Draft("recorded", {"part": part_digest(blob), "pad": "x" * (n * 7919 % 9000)})
    for event in store.append([draft, Draft("decided", {"of": n})], as_parts(blob)):
        say(event.sequence, event.digest)
    time.sleep(float(sys.argv[2]))
"""
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "x.assaypilot"
    Store.create(path, [Draft("created", {})], author="Ada").close()
    return path


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    children: list[subprocess.Popen[bytes]] = []

    def start(code: str, *args: object) -> subprocess.Popen[bytes]:
        child = subprocess.Popen(
            [*PYTHON, code, *map(str, args)], env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        children.append(child)
        return child

    yield start
    for child in children:
        child.kill()
        child.communicate()


def line(child: subprocess.Popen[bytes]) -> str:
    return child.stdout.readline().decode().strip()


def test_one_writer_and_any_number_of_readers(path: Path, start: Callable[..., subprocess.Popen[bytes]]) -> None:
    child = start(HEADER + "store = Store.open(path)\nsay(store.read_only_reason)\nsys.stdin.read()", path)
    assert line(child) == "None"
    assert os.listdir(path.parent) == [path.name], "an idle writer leaves no lock file and no journal"
    begun = time.perf_counter()
    with Store.open(path) as second, Store.open(path, read_only=True) as reader:
        assert time.perf_counter() - begun < 2, "a second window does not wait for the first"
        assert second.read_only_reason == "open in another window or program"
        assert reader.read_only_reason == "opened for reading only"
        for store in (second, reader):
            assert [event.kind for event in store.events()] == ["created"]
            with pytest.raises(AssayPilotError, match="cannot be changed here") as caught:
                store.append([Draft("x", {})])
            assert caught.value.mend
        assert verify(path).ok
    child.communicate(b"")
    with Store.open(path) as store:
        assert not store.read_only
        assert store.append([Draft("x", {})])[0].sequence == 2


def test_two_stores_in_one_program(path: Path) -> None:
    with Store.open(path) as first, Store.open(path) as second:
        assert (first.read_only, second.read_only) == (False, True)
        first.append([Draft("x", {})])
        assert [event.sequence for event in second.events(after=1)] == [2]
        assert (second.n_events, second.head) == (first.n_events, first.head)
        verify(path)
        second.close()
        # Closing the second must not have dropped the lock of the first.
        with Store.open(path) as third:
            assert third.read_only


def test_reading_while_another_program_writes(path: Path, start: Callable[..., subprocess.Popen[bytes]]) -> None:
    child = start(LOOP, path, 0.005)
    assert line(child) == "ready None"
    with Store.open(path, read_only=True) as reader:
        seen = reader.events()
        deadline = time.monotonic() + 30
        while len(seen) < 61 and time.monotonic() < deadline:
            with Store.open(path, read_only=True) as other:
                assert other.n_events % 2 == 1, "both events of an append or none"
                more = reader.events(after=len(seen))
                seen += more
                assert reader.n_events == len(seen) >= other.n_events
        assert verify(path).ok
    assert len(seen) >= 61
    child.kill()
    acknowledged = [line.split() for line in child.communicate()[0].decode().splitlines(keepends=True) if "\n" in line]
    with Store.open(path) as store:
        digests = {event.sequence: event.digest for event in store.events()}
    assert all(digests[event.sequence] == event.digest for event in seen)
    assert all(digests[int(number)] == digest for number, digest in acknowledged)


def test_a_reader_that_stays_makes_a_commit_wait_and_then_refuse(path: Path) -> None:
    with Store.open(path) as store:
        store._connection.execute("PRAGMA busy_timeout = 50")
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN")
        other.execute("SELECT * FROM event").fetchall()
        with pytest.raises(AssayPilotError, match="Another program is using the file just now; nothing was written"):
            store.append([Draft("x", {})])
        other.close()
        assert not store.read_only
        assert store.append([Draft("x", {})])[0].sequence == 2
    assert verify(path).ok


def hot(journal: Path) -> bool:
    """Whether there is something to be rolled back; a journal not yet on the disk begins with zeros and is ignored."""
    return journal.exists() and journal.read_bytes()[:1] not in (b"", b"\0")


@pytest.fixture
def disk() -> Iterator[Path]:
    """Return a folder that is not in memory, where a commit takes no time to be killed in."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        yield Path(folder)


@posix
@pytest.mark.parametrize(("kills", "enough"), [(25, 1), pytest.param(200, 10, marks=pytest.mark.slow)])
def test_kill_9_at_any_instant(
    disk: Path, start: Callable[..., subprocess.Popen[bytes]], kills: int, enough: int
) -> None:
    """Programs killed while they append: nothing acknowledged is lost, no append is there by half.

    More of them until enough were killed inside a commit: how often that is depends on the disk.
    """
    draw = random.Random(2026)
    acknowledged: dict[int, str] = {}
    interrupted = appended = 0
    for run in range(400):
        if run >= kills and interrupted > enough:
            break
        path = disk / f"{run // 25}.assaypilot"
        if run % 25 == 0:
            acknowledged = {}
        child = start(LOOP, path, 0)
        if draw.random() < 0.2:
            time.sleep(draw.uniform(0, 0.1))  # perhaps before it is ready, while it creates or opens the file
        else:
            assert line(child) == "ready None"
            time.sleep(draw.uniform(0, 0.05))
        child.kill()
        for said in child.communicate()[0].decode().splitlines(keepends=True):
            if said.endswith("\n") and not said.startswith("ready"):
                number, digest = said.split()
                acknowledged[int(number)] = digest
                appended += 1
        journal = path.with_name(path.name + "-journal")
        interrupted += hot(journal)
        if not path.exists():
            assert not acknowledged
            continue
        with Store.open(path, read_only=run % 2 == 0) as store:
            digests = {event.sequence: event.digest for event in store.events()}
        assert acknowledged.items() <= digests.items()
        assert len(digests) % 2 == 1, "both events of an append or none"
        result = verify(path)
        assert result.ok, result.problems
        assert not hot(journal)
    print(f"{appended} events acknowledged, {interrupted} commits interrupted")
    assert appended > kills // 2, "hardly any append was acknowledged: this test shows nothing"
    assert interrupted > enough, "hardly any program was killed inside a commit: this test shows nothing"


# The pages of this append are written to the file before it commits, because they do not fit into the cache.
HALF_WRITTEN = (
    HEADER
    + """
store = Store.open(path)
store._connection.execute("PRAGMA cache_size = 1")
drafts = [Draft("recorded", {"pad": "x" * 50_000}) for _ in range(20)]
encoded = chain.prepare(drafts, {})
chain.insert(store._connection, drafts, encoded, {}, store.n_events, store.head, "child")
os.kill(os.getpid(), signal.SIGKILL)
"""
)


@pytest.fixture
def half_written(path: Path, start: Callable[..., subprocess.Popen[bytes]]) -> Path:
    size = path.stat().st_size
    start(HALF_WRITTEN, path).wait()
    assert path.stat().st_size > size, "some of the append is in the file"
    assert path.with_name(path.name + "-journal").stat().st_size > 0
    return path


@posix
@pytest.mark.parametrize("how", [Store.open, lambda path: Store.open(path, read_only=True)])
def test_a_half_written_append_is_rolled_back(half_written: Path, how: Callable[[Path], Store]) -> None:
    with how(half_written) as store:
        assert [event.kind for event in store.events()] == ["created"]
        assert os.listdir(half_written.parent) == [half_written.name]
    assert verify(half_written).ok


# After the imports: another user may not be able to read this Python or this project.
BECOME_NOBODY = """
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
"""


def as_nobody(code: str, path: Path) -> str:
    """What the code says when run as a user whom permissions bind."""
    done = subprocess.run(
        [*PYTHON, HEADER + BECOME_NOBODY + code, str(path)], env=ENVIRONMENT, cwd="/", capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder everybody may read, and its owner alone write."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o555)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


APPEND = """
store = Store.open(path)
say(store.n_events, verify(path).ok, store.read_only_reason)
try:
    store.append([Draft("x", {})])
except AssayPilotError as error:
    say(error)
"""


@posix
def test_a_read_only_folder_or_file(path: Path, public: Path) -> None:
    public.chmod(0o755)
    place = public / path.name
    shutil.copy(path, place)
    expected = "1 True the file or its folder is read-only"
    for folder_mode, file_mode in ((0o555, 0o666), (0o777, 0o444), (0o555, 0o444)):
        place.chmod(file_mode)
        public.chmod(folder_mode)
        first, second = as_nobody(APPEND, place).splitlines()
        assert first == expected
        assert "cannot be changed here: the file or its folder is read-only" in second
        assert "save a copy" in second
        assert os.listdir(public) == [place.name]
    place.chmod(0)
    assert "cannot be opened" in as_nobody(
        "try:\n    Store.open(path)\nexcept AssayPilotError as error:\n    say(error)", place
    )


FULL = (
    HEADER
    + """
store = Store.create(path, [Draft("created", {})])
filler = open(os.path.join(os.path.dirname(path), "filler"), "wb", buffering=0)
acknowledged, refusals = 1, set()
for room in range(0, 60_000, 5_000):
    try:
        while True:
            filler.write(bytes(4096))
    except OSError:
        pass
    filler.truncate(max(0, filler.tell() - room))
    filler.seek(0, 2)
    blob = os.urandom(20_000)
    for _ in range(4):
        try:
            acknowledged = store.append([Draft("x", {"part": part_digest(blob)})], as_parts(blob))[-1].sequence
        except AssayPilotError as error:
            refusals.add(error.message.split(";")[0].lower())
    assert len(store.events()) == store.n_events == acknowledged
    assert not store.read_only
try:
    while True:
        filler.write(bytes(4096))
except OSError:
    pass
names = os.listdir(os.path.dirname(path))
for action in (
    lambda: Store.create(path + "2", [Draft("created", {})]), lambda: store.save_copy(path + "3")
):
    try:
        action()
    except AssayPilotError as error:
        refusals.add(error.message.split(";")[0].lower())
assert os.listdir(os.path.dirname(path)) == names, names
assert verify(path).ok
filler.truncate(0)
assert store.append([Draft("x", {})])[-1].sequence == acknowledged + 1
store.close()
assert verify(path).ok
say(acknowledged > 1, refusals)
"""
)


@posix
def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    """A memory disk of 300 kB, mounted where only the child sees it."""
    if shutil.which("unshare") is None:
        pytest.skip("no unshare: a small disk cannot be mounted for the test alone")
    mount = 'mount -t tmpfs -o size=300k none "$1" || exit 77; shift; exec "$@"'
    command = ["unshare", "-rm", "sh", "-c", mount, "sh", str(tmp_path)]
    done = subprocess.run(
        [*command, *PYTHON, FULL, str(tmp_path / "x.assaypilot")], env=ENVIRONMENT, capture_output=True, text=True
    )
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip(f"this user may not mount a disk of their own: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "True {'the disk is full'}"


def test_the_lock_goes_with_the_program(path: Path, start: Callable[..., subprocess.Popen[bytes]]) -> None:
    child = start(HEADER + "store = Store.open(path)\nsay('in')\nsys.stdin.read()", path)
    assert line(child) == "in"
    child.kill()
    child.wait()
    with Store.open(path) as store:
        assert not store.read_only


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="the file that SQLite has open is not known here")
@pytest.mark.parametrize("how", ["unreadable", "read-only", "emptied"])
def test_a_share_that_goes_away_is_reported_in_plain_lines(tmp_path: Path, path: Path, how: str) -> None:
    """What SQLite has open leads elsewhere from one moment to the next, as when a network drive is gone."""
    with Store.open(path) as store:
        empty = tmp_path / "empty"
        empty.touch()
        elsewhere = os.open({"unreadable": tmp_path, "read-only": path, "emptied": empty}[how], os.O_RDONLY)
        for name in os.listdir("/proc/self/fd"):
            place = Path("/proc/self/fd", name)
            if place.exists() and int(name) != elsewhere and os.readlink(place) == str(path):
                os.dup2(elsewhere, int(name))
        os.close(elsewhere)
        with pytest.raises(AssayPilotError, match="The disk reported an error; nothing was written"):
            store.append([Draft("x", {})])
        with pytest.raises(AssayPilotError, match="cannot be changed here: the file could not be locked again"):
            store.append([Draft("x", {})])
        if how == "read-only":
            assert len(store.events()) == 1
        else:
            with pytest.raises(AssayPilotError, match=r"The disk reported|damaged"):
                store.events()
    with Store.open(path) as again:
        again.append([Draft("x", {})])
        assert [event.kind for event in again.events()] == ["created", "x"]


ACKNOWLEDGE = """
import sys
from assaypilot.engine.campaign.file.store import Draft, Store
with Store.create(sys.argv[1], [Draft("campaign_created", {})]) as store:
    print("ACK", flush=True)
    for i in range(3):
        store.append([Draft("x", {"i": i})])
        print("ACK", flush=True)
"""


def test_power_cut_cannot_undo_what_was_acknowledged(tmp_path: Path) -> None:
    """Whatever was written, or gone, before an acknowledgement was synchronised before it: the folder, too."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("strace is not here")
    trace = tmp_path / "trace"
    calls = "trace=write,pwrite64,unlink,unlinkat,link,fsync,fdatasync,ftruncate"
    command = [strace, "-y", "-e", calls, "-o", str(trace), *PYTHON, ACKNOWLEDGE, str(tmp_path / "a.db")]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False, timeout=120)
    if "ptrace" in done.stderr:
        pytest.skip("strace may not trace here")
    assert done.stdout.split() == ["ACK"] * 4, done.stderr
    dirty: set[str] = set()
    acknowledged = 0
    for line in trace.read_text().splitlines():
        name, _, rest = line.partition("(")
        at = re.search(r'<([^>]*)>|"([^"]*)"', rest)
        path = "" if at is None else at[1] or at[2]
        if '"ACK' in rest:
            assert not dirty, f"acknowledged before {dirty} was synchronised"
            acknowledged += 1
        elif name in ("unlink", "unlinkat", "link") and rest.endswith("= 0"):
            if path.endswith("-journal"):
                dirty.discard(path)
                dirty.add(str(tmp_path))
        elif name in ("fsync", "fdatasync"):
            dirty.discard(path)
        elif path.startswith(str(tmp_path)):
            dirty.add(path)
    assert acknowledged == 4
