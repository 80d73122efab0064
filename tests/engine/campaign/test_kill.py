"""A program killed at any instant of its work loses nothing it has acknowledged, and leaves a file that is whole.

Run as a script it is the warmed parent: it forks workers, kills them at random instants and looks at what is left.
``python -m tests.engine.campaign.test_kill FOLDER KILLS`` prints what it saw as JSON.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assaypilot.engine.campaign import verifying
from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.domain.measurements import Result
from tests.engine.campaign.making import answers, make

KILLS = 200
KILLS_PER_FILE = 20
LONGEST = 100
"""Openings of the file, of about 0.003 seconds each, that a worker lives at most; a command takes two to ten."""
JOURNAL = bytes.fromhex("d9d505f920a163d7")
"""How SQLite's rollback journal begins while a transaction is being written."""


def work(path: Path, run: int, say: int) -> None:
    """Rounds without end; every command that has returned is acknowledged with one line."""
    campaign = Campaign.open(path)
    rng = np.random.default_rng(run)
    for step in range(10_000):
        issued = campaign.plan()
        if issued is None:
            ids = campaign.status().library.ids
            results = [Result(ids[step % len(ids)], 6.0)]
        else:
            os.write(say, f"round {issued.number}\n".encode())
            missing = answers(campaign)[sum(issued.returned) :]
            results = missing[: int(rng.integers(1, 6))]
        batch = f"{run}.{step}"
        campaign.record([replace(r, comment=f"{batch}/{len(results)}") for r in results])
        os.write(say, f"results {batch}\n".encode())
        if rng.random() < 0.15:
            campaign.correct(len(campaign.status().measurements), 5.9, reason="typing error")
            os.write(say, b"corrected\n")


def killed(path: Path, run: int, after: float) -> list[str]:
    """The lines of a worker that was killed so many seconds after it began."""
    listen, say = os.pipe()
    child = os.fork()
    if not child:
        os.close(listen)
        try:
            work(path, run, say)
        finally:
            os._exit(1)
    os.close(say)
    time.sleep(after)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "the worker ended by itself"
    said = b""
    while chunk := os.read(listen, 65536):
        said += chunk
    os.close(listen)
    return said.decode().splitlines()


def is_being_written(path: Path) -> bool:
    """Whether the kill came in the middle of a transaction, so that the next to open has to roll it back."""
    journal = path.with_name(path.name + "-journal")
    return journal.exists() and journal.read_bytes()[:8] == JOURNAL


def check(path: Path, acknowledged: list[str]) -> None:
    """The file opens for writing, is whole, and has everything acknowledged, each batch complete or absent."""
    with Campaign.open(path) as campaign:
        assert not campaign.read_only, campaign.read_only_reason
        now = campaign.status()
    batches = Counter(m.entered.comment for m in now.measurements)
    assert all(n == int(comment.split("/")[1]) for comment, n in batches.items()), "half of a batch"
    there = {comment.split("/")[0] for comment in batches}
    rounds = {issued.number for issued in now.rounds}
    for kind, _, what in (line.partition(" ") for line in acknowledged):
        if kind == "results":
            assert what in there, f"batch {what} is lost"
        elif kind == "round":
            assert int(what) in rounds, f"round {what} is lost"
    corrections = sum(m.corrected is not None for m in now.measurements)
    assert corrections >= acknowledged.count("corrected")
    found = verifying.verify(path, recompute=True)
    assert found.ok, found.problems


def script(folder: Path, kills: int) -> dict[str, float]:
    """What came of so many kills."""
    rng = random.Random(2070)
    seen: Counter[str] = Counter()
    path, opening = folder / "none", 0.0
    acknowledged: list[str] = []
    start = time.monotonic()
    for run in range(kills):
        if run % KILLS_PER_FILE == 0:
            path, acknowledged = folder / f"{run}.assaypilot", []
            make(path, per_round=8, max_replicates=2, slack=0.2).close()
            begun = time.monotonic()
            Campaign.open(path).close()
            opening = time.monotonic() - begun
        lines = killed(path, run, rng.uniform(0.0, LONGEST) * opening)
        seen["cut short"] += is_being_written(path)
        acknowledged += lines
        seen.update(line.partition(" ")[0] for line in lines)
        seen["before the first"] += not lines
        check(path, acknowledged)
    return {"kills": kills, "seconds": round(time.monotonic() - start, 1), **seen}


@pytest.fixture
def forks() -> None:
    if not hasattr(os, "fork"):
        pytest.skip("workers are forked, which this system cannot do; the store's tests kill whole programs")


@pytest.mark.parametrize(("kills", "at_least"), [(10, 1), pytest.param(KILLS, KILLS, marks=pytest.mark.slow)])
@pytest.mark.usefixtures("forks")
def test_killed_programs_lose_nothing(tmp_path: Path, kills: int, at_least: int, record_property) -> None:
    root = Path(__file__).resolve().parents[3]
    command = [sys.executable, "-W", "error", "-m", "tests.engine.campaign.test_kill", str(tmp_path), str(kills)]
    # One thread, so that forking is sound.
    one = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=root, env=os.environ | one, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr[-4000:]
    seen = json.loads(done.stdout)
    for name, value in seen.items():
        record_property(name, value)
    assert seen["kills"] == kills
    assert seen["results"] > at_least, "the workers must get to work before they are killed"


if __name__ == "__main__":
    print(json.dumps(script(Path(sys.argv[1]), int(sys.argv[2]))))
