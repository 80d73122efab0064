import importlib.util
import time

import numpy as np
import pytest

from assaypilot.engine.domain.goals import Best
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.simulate import parallel as cluster
from assaypilot.engine.simulate.instances import get
from assaypilot.engine.simulate.instances.instance import dense
from assaypilot.engine.simulate.parallel import check, processors, simulate
from assaypilot.engine.simulate.runner import Limits, Task, summary
from assaypilot.engine.strategies.linfact.linfact import LinFactG
from assaypilot.engine.system.progress import Cancelled
from tests.engine.simulate.making import Endless, Plain, Poor, instance_of

TASK = Task(LinFactG(), get("linfact-3"), seed=11)


@pytest.fixture(scope="module")
def serial():
    return simulate(TASK, 13)


def test_the_same_runs_in_one_process_and_in_two(serial):
    told = []
    spread = simulate(TASK, 13, jobs=2, report=lambda fraction, message: told.append((fraction, message)))
    assert spread == serial
    assert [run.number for run in spread] == list(range(13))
    assert told[-1] == (1.0, "linfact-g: 13 of 13 runs")
    fractions = [fraction for fraction, _ in told]
    assert fractions == sorted(fractions)


def test_fewer_runs_are_the_first_of_more(serial):
    assert simulate(TASK, 4) == serial[:4]


def test_an_instance_drawn_from_a_file_can_be_sent(tmp_path):
    table = tmp_path / "t.csv"
    values = np.random.default_rng(0).normal(size=(30, 5))
    table.write_text("a,b,c,x,y\n" + "\n".join(",".join(map(str, row)) for row in values), encoding="utf-8")
    task = Task(Plain(), get(f"gege-noc:file={table}"))
    assert simulate(task, 3) == simulate(task, 3, jobs=2)


def test_cancelled_at_once_in_this_process():
    calls = []

    def report(fraction, message):
        calls.append(fraction)
        raise Cancelled

    endless = Task(Endless(), instance_of(dense(np.eye(2), np.array([0.0, 1.0]), Best())), limits=Limits(phases=10**8))
    with pytest.raises(Cancelled):
        simulate(endless, 5, report=report)
    assert len(calls) == 1


def test_cancelled_in_two_processes():
    def report(fraction, message):
        if fraction > 0:
            raise Cancelled

    started = time.monotonic()
    with pytest.raises(Cancelled):
        simulate(Task(LinFactG(), get("linfact-1")), 5000, jobs=2, report=report)
    assert time.monotonic() - started < 30
    # What comes after finds its processes again.
    assert simulate(TASK, 3, jobs=2) == simulate(TASK, 3)


def test_a_refusal_comes_before_any_process_is_started(monkeypatch):
    monkeypatch.setattr("assaypilot.engine.simulate.parallel._in_processes", None)
    with pytest.raises(AssayPilotError, match="does not answer the goal 'best'"):
        simulate(Task(LinFactG(), get("rage-soare")), 5, jobs=2)
    with pytest.raises(AssayPilotError, match="at least one run"):
        simulate(TASK, 0)
    with pytest.raises(AssayPilotError, match="processes must be"):
        simulate(TASK, 1, jobs=-1)
    assert check(TASK) == ()
    assert processors() >= 1


def test_the_figures_of_runs(serial):
    figures = summary(serial)
    spent = [run.measurements for run in serial]
    assert figures["measurements"]["mean"] == pytest.approx(np.mean(spent))
    assert figures["measurements"]["sd"] == pytest.approx(np.std(spent, ddof=1))
    assert figures["measurements"]["median"] == np.median(spent)
    assert figures["rounds"]["mean"] == np.mean([run.rounds for run in serial])
    assert (figures["runs"], figures["right"], figures["errors"], figures["error_rate"]) == (13, 13, 0, 0.0)
    assert figures["seconds_per_run"] > 0


def test_every_run_is_counted_once():
    two = instance_of(dense(np.eye(2), np.array([0.0, 1.0]), Best(), sd=3.0))
    parts = [
        *simulate(Task(Plain(), two), 40),
        *simulate(Task(Poor(), two), 5),
        *simulate(Task(Endless(), two, limits=Limits(phases=3)), 7),
    ]
    figures = summary(parts)
    assert (figures["undecided"], figures["unfinished"]) == (5, 7)
    assert 0 < figures["errors"] < 40
    assert figures["right"] + figures["errors"] == 40
    assert figures["error_rate"] == figures["errors"] / 52
    assert summary(parts[:1])["measurements"]["sd"] is None


def test_missing_extra_is_named_with_its_installation(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(AssayPilotError, match="pip install assaypilot"):
        simulate(TASK, 2, cluster="tcp://127.0.0.1:1")


needs_extra = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None, reason="the extra assaypilot[cluster] is not installed"
)


@needs_extra
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense://x"])
def test_nobody_at_the_address(monkeypatch, address):
    monkeypatch.setattr(cluster, "_CONNECT", 0.3)
    with pytest.raises(AssayPilotError, match="no answer from"):
        simulate(TASK, 2, cluster=address)


@needs_extra
@pytest.mark.filterwarnings("default")
def test_the_same_runs_on_a_cluster_of_two_workers(serial, logged_warnings):
    from distributed import LocalCluster

    # Everything on the loopback: no test looks for the address of this machine.
    workers = {"n_workers": 2, "threads_per_worker": 1, "processes": False}
    with LocalCluster(host="127.0.0.1", protocol="tcp://", dashboard_address="127.0.0.1:0", **workers) as local:
        address = local.scheduler_address
        assert simulate(TASK, 13, cluster=address) == serial

        def stop(fraction, message):
            if fraction > 0:
                raise Cancelled

        with pytest.raises(Cancelled):
            simulate(TASK, 200, cluster=address, report=stop)
        assert simulate(TASK, 2, cluster=address) == serial[:2]
    # Workers say in the log that a part was cancelled under their hands.
    assert all("cancelled" in text.casefold() for text in logged_warnings.take())
