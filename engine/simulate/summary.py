"""The figures of many runs: what the command line prints of them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Any

from .runner import Run
from .scores import error_limits, mean, mean_curve


def along(runs: Sequence[Run], compounds: int) -> dict[str, Any]:
    """Return the mean curve of the runs, and what became of those that said they were finished."""
    ended = [run for run in runs if run.reason == "decided"]
    return {
        "curve": mean_curve([run.curve for run in runs], compounds),
        "ended": {
            "share": len(ended) / len(runs),
            "wrong_share": sum(run.wrong for run in ended) / len(ended) if ended else None,
            "measurements_median": statistics.median([run.measurements for run in ended]) if ended else None,
        },
    }


def summary(runs: Sequence[Run]) -> dict[str, Any]:
    """Means over the runs and counts of what went wrong; every run is counted once.

    errors: a decision was false. unfinished: given up at the limit. undecided: stopped by itself (a budget) with
    compounds open and nothing false. right: the rest.
    """
    errors = sum(run.wrong for run in runs)
    unfinished = sum(run.unfinished and not run.wrong for run in runs)
    right = sum(run.right for run in runs)
    lower, upper = error_limits(errors, len(runs))
    spent = [float(run.measurements) for run in runs]
    return {
        "runs": len(runs),
        "measurements": {
            "mean": mean(spent),
            "sd": statistics.stdev(spent) if len(spent) > 1 else None,
            "median": statistics.median(spent),
        },
        "phases": {"mean": mean([float(run.phases) for run in runs])},
        "rounds": {"mean": mean([float(run.rounds) for run in runs])},
        "precision": mean([run.precision for run in runs]),
        "recall": mean([run.recall for run in runs]),
        "f1": mean([run.f1 for run in runs]),
        "errors": errors,
        "error_rate": errors / len(runs),
        "error_rate_lower": lower,
        "error_rate_upper": upper,
        "right": right,
        "undecided": len(runs) - right - errors - unfinished,
        "unfinished": unfinished,
        "seconds_per_run": math.fsum(run.seconds for run in runs) / len(runs),
    }
