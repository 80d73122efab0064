"""Whether some compounds scatter more than others: false alarms, power, and what a few gross errors do."""

import numpy as np
import pytest

from assaypilot.engine.models.uneven import louder


def alarms(ratio: float, runs: int, n: int = 60, *, gross: float = 0.0) -> tuple[float, float]:
    """How often anything is said at any of many looks, and of anybody but the louder group."""
    rng, said, wrong = np.random.default_rng(1), 0, 0
    for _ in range(runs):
        codes = rng.integers(0, 4, (n, 3))
        x = rng.standard_normal((n, 2)) * np.where(codes[:, 0] == 0, ratio, 1.0)[:, None]
        x = np.where(rng.random(x.shape) < gross, 10.0 * x, x)
        squares = (x[:, 0] - x[:, 1]) ** 2 / 2.0
        groups = [codes[:, site] == code for site in range(3) for code in range(4)]
        who = None
        for k in (18, 27, 40, n):
            found = louder(squares[:k], np.ones(k, dtype=np.intp), [group[:k] for group in groups])
            who = found[0].group if found else who
        said += who is not None
        wrong += who not in (None, 0)
    return said / runs, wrong / runs


def test_false_alarms_are_rare_and_a_louder_class_is_found():
    assert alarms(1.0, 300)[0] <= 0.02
    assert alarms(1.0, 100, gross=0.02)[0] <= 0.12
    found, wrong = alarms(4.0, 60)
    assert found > 0.7
    assert wrong <= 0.05


def test_too_little_says_nothing():
    one = np.ones(5, dtype=bool)
    assert louder(np.ones(5), np.ones(5, dtype=np.intp), [one]) == []
    assert louder(np.zeros(0), np.zeros(0, dtype=np.intp), []) == []
    assert louder(np.zeros(40), np.ones(40, dtype=np.intp), [np.arange(40) < 20]) == []
    loud = np.where(np.arange(60) < 20, 30.0, 1.0) * np.random.default_rng(2).standard_normal(60) ** 2
    (found,) = louder(loud, np.ones(60, dtype=np.intp), [np.arange(60) < 20])
    # The first 41 cells are asked.
    assert found.sd == pytest.approx(np.sqrt(loud[:20].mean()))
    assert (found.freedom, found.other_freedom) == (20, 21)
