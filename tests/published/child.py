"""One case in a process of its own: processor time of its first and of its later runs, and its peak memory.

``python -m tests.published.child`` reads a case as JSON from its input and prints what it measured as JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.published.cases import Case, some

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Measured:
    """Seconds of processor time, and the peak resident size in MB; None where the system does not tell it."""

    first: float
    later: float
    peak: float | None


def peak_memory() -> float | None:
    """The largest resident size of this process so far, in MB.

    Not by getrusage on Linux, where a child inherits the peak of the process that started it.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    try:
        import resource
    except ImportError:
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 * 1024)


def measure(case: Case) -> Measured:
    """The case in a fresh process, nothing else running in it."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "tests.published.child"],
        input=json.dumps(asdict(case)),
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        cwd=ROOT,
    )
    if done.returncode:
        raise RuntimeError(f"{case.instance}, {case.name}: {done.stderr.strip().splitlines()[-1]}")
    return Measured(**json.loads(done.stdout))


def main() -> None:
    """Run the case on the input."""
    given = json.loads(sys.stdin.read())
    if given["noise"] is not None:
        given["noise"] = tuple(given["noise"])
    case = Case(**given)
    # What every later run finds: modules loaded. On another table, so that no design is known.
    some(Case("gege-10-2-2", "gege-fixed-budget", 1, budget=60), range(1))
    some(Case("rage-soare", "rage", 1), range(1))
    first = some(case, range(1))[0].seconds
    rest = sorted(run.seconds for run in some(case, range(1, max(case.runs, 2))))
    print(json.dumps(asdict(Measured(first, rest[len(rest) // 2], peak_memory()))))


if __name__ == "__main__":
    main()
