"""What every test stands on: its own settings, no network, no display, no unexpected warning, nothing left running."""

import gc
import itertools
import logging
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# Before anything imports Qt or matplotlib.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("MPLBACKEND", "agg")
# As the program itself does (engine/system/resources.py); pytest runs on both cores already.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# Tests start a hundred programs: each would compile the engine again, where the environment forbids to keep it.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A busy machine is no reason to fail; what fails must fail again for everybody when CI is set.
settings.register_profile("slow", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.register_profile("quick", settings.get_profile("slow"), max_examples=25)

GUI_FOLDER = Path(__file__).parent / "gui"
# Where programs look for settings and data on Linux, macOS and Windows.
HOMES = ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA")
XDG = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")
LOCAL = ("localhost", "127.0.0.1", "::1", "")
SECONDS_TO_END = 5.0
_numbers = itertools.count()


def pytest_configure(config: pytest.Config) -> None:
    """Draw fewer examples where the slow tests are left out."""
    settings.load_profile("quick" if "not slow" in config.getoption("markexpr") else "slow")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Let the garbage collector leave alone what is there before the first test: it takes a twelfth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def is_gui(item: pytest.Item) -> bool:
    """Return whether a test may start Qt."""
    return GUI_FOLDER in item.path.parents or "qapp" in getattr(item, "fixturenames", ())


@pytest.fixture
def public() -> Callable[[str], Path]:
    """Return the path of a public table by its name; it skips the test when the folder is absent."""
    from tests.public import DATA  # these fixtures are tried by themselves, too

    def path(name: str) -> Path:
        if not (DATA / name).exists():
            pytest.skip(f"the public table {name} is not here")
        return DATA / name

    return path


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder under which each test finds an empty home of its own."""
    # Its list of fonts takes three seconds to build, and is nobody's setting: one for all workers.
    shared = tmp_path_factory.getbasetemp()
    shared = shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared
    os.environ["MPLCONFIGDIR"] = str(shared / "matplotlib")
    return tmp_path_factory.mktemp("homes")


@pytest.fixture(autouse=True)
def own_settings(homes: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """Return the test's home: settings and recent files of the person at the machine are never read or written."""
    home = homes / str(next(_numbers))
    home.mkdir()
    for name in HOMES:
        monkeypatch.setenv(name, str(home))
    for name in XDG:
        monkeypatch.setenv(name, str(home / name.removeprefix("XDG_").lower()))
    if is_gui(request.node):
        from PySide6.QtCore import QSettings, QStandardPaths

        QStandardPaths.setTestModeEnabled(sys.platform != "linux")  # Linux follows the variables above
        for form in (QSettings.Format.NativeFormat, QSettings.Format.IniFormat):
            for scope in (QSettings.Scope.UserScope, QSettings.Scope.SystemScope):
                QSettings.setPath(form, scope, str(home / "settings"))
    return home


@pytest.fixture(autouse=True)
def read_here(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read files in the test's own process, which is ten times as fast, unless the test is marked ``apart``."""
    if request.node.get_closest_marker("apart") is None:
        monkeypatch.setenv("ASSAYPILOT_GUARDED", "1")
    else:
        monkeypatch.delenv("ASSAYPILOT_GUARDED", raising=False)


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write without waiting for the disk, which takes half of the time; the store's own tests wait as the program does.

    What a program writes is there for all others at once; only a power cut could tell the difference.
    """
    if request.node.path.name == "test_store_processes.py":
        return
    from assaypilot.engine.campaign.file import schema

    connect = schema.connect

    def at_once(*arguments: Any, **options: Any) -> Any:
        connection = connect(*arguments, **options)
        connection.execute("PRAGMA synchronous = OFF")
        return connection

    monkeypatch.setattr(schema, "connect", at_once)
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse every connection that would leave the machine: the program promises to make none."""
    connect, look_up = socket.socket.connect, socket.getaddrinfo

    def local_connect(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in LOCAL:
            raise AssertionError(f"a connection to {address} was tried; the program makes none")
        connect(self, address)

    def local_look_up(host: Any, *arguments: Any, **options: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if name is not None and name not in LOCAL:
            raise AssertionError(f"the address of {name} was looked up; the program makes no connection")
        return look_up(host, *arguments, **options)

    monkeypatch.setattr(socket.socket, "connect", local_connect)
    monkeypatch.setattr(socket.socket, "connect_ex", local_connect)
    monkeypatch.setattr(socket, "getaddrinfo", local_look_up)


class LoggedWarnings(logging.Handler):
    """The log records at WARNING and above of one test; what the test does not take fails it."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)

    def take(self) -> list[str]:
        """Return the messages so far, which are expected with that."""
        messages = [record.getMessage() for record in self.records]
        self.records.clear()
        return messages


@pytest.fixture(autouse=True)
def logged_warnings() -> Iterator[LoggedWarnings]:
    """Fail the test on a log record at WARNING or above, unless it says `logged_warnings.take()`."""
    handler = LoggedWarnings()
    logging.getLogger().addHandler(handler)
    yield handler
    logging.getLogger().removeHandler(handler)
    left = [f"{record.name}: {record.levelname}: {record.getMessage()}" for record in handler.records]
    if left:
        pytest.fail("unexpected in the log:\n" + "\n".join(left), pytrace=False)


@pytest.fixture(autouse=True)
def nothing_left_running(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail a GUI test that leaves a thread, a running timer or a task of the thread pool behind."""
    if not is_gui(request.node):
        yield
        return
    from PySide6.QtCore import QCoreApplication, QEvent, QThread, QThreadPool, QTimer
    from shiboken6 import isValid

    before = set(threading.enumerate())
    started: list[Any] = []
    for kind in (QTimer, QThread):

        def start(self: Any, *arguments: Any, _start: Any = kind.start) -> None:
            started.append(self)
            _start(self, *arguments)

        monkeypatch.setattr(kind, "start", start)
    yield
    left: list[str] = []
    pool = QThreadPool.globalInstance()
    if not pool.waitForDone(int(1000 * SECONDS_TO_END)):
        left.append(f"{pool.activeThreadCount()} tasks of the global thread pool")
    application = QCoreApplication.instance()
    if application is not None:
        application.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        application.processEvents()
    for one in started:
        if not isValid(one):
            continue
        if isinstance(one, QThread) and not one.wait(int(1000 * SECONDS_TO_END)):
            left.append(f"QThread {one.objectName() or one}")
        elif isinstance(one, QTimer) and one.isActive() and not one.isSingleShot():
            left.append(f"QTimer {one.objectName() or one} of {one.parent()}, every {one.interval()} ms")
        elif isinstance(one, QTimer) and one.isActive():
            left.append(f"QTimer {one.objectName() or one} of {one.parent()}, in {one.remainingTime()} ms")
    end = time.monotonic() + SECONDS_TO_END
    for thread in set(threading.enumerate()) - before:
        # A Python view of a thread of Qt's that has ended stays listed; it is no thread of ours.
        if not isinstance(thread, threading._DummyThread):
            thread.join(max(0.0, end - time.monotonic()))
            if thread.is_alive():
                left.append(f"thread {thread.name}")
    if left:
        pytest.fail("left running:\n" + "\n".join(left), pytrace=False)


@pytest.fixture
def planned_phases(monkeypatch: pytest.MonkeyPatch) -> None:
    """``auto`` takes LinFACT-G, GEGE or RAGE, as for a very large table: for what phases planned as a whole do."""
    from assaypilot.engine.strategies import registry

    monkeypatch.setattr(registry, "_LARGE", -1)
