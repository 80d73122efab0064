"""Where an estimate comes from: the nearest sum of site effects, beside least squares on dummy columns."""

import re
from pathlib import Path

import numpy as np
import pytest

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.reasons import origin_of
from assaypilot.engine.campaign.settings import Settings
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library, Site
from assaypilot.engine.domain.measurements import Result


def test_effects_are_those_of_least_squares_on_a_table_with_gaps():
    rng, sizes = np.random.default_rng(3), (6, 5, 4)
    codes = np.array(list(np.ndindex(*sizes)))[rng.permutation(120)[:70]]
    estimates = rng.normal(6.0, 1.0, len(codes))
    estimates[:5] = np.nan
    origin = origin_of(estimates, codes)
    known = np.isfinite(estimates)
    dummies = np.hstack([np.eye(size)[codes[:, site]] for site, size in enumerate(sizes)])
    fitted = dummies[known] @ np.linalg.lstsq(dummies[known], estimates[known], rcond=None)[0]
    np.testing.assert_allclose(estimates[known] - origin.rest[known], fitted, atol=2e-3)
    whole = origin.mean + sum(effects[codes[:, site]] for site, effects in enumerate(origin.effects)) + origin.rest
    np.testing.assert_allclose(whole[known], estimates[known])
    assert np.isnan(origin.rest[:5]).all()


def test_a_pair_that_acts_together_is_in_the_rest():
    codes = np.array(list(np.ndindex(4, 4)))
    estimates = 6.0 + 0.5 * codes[:, 0] - 0.2 * codes[:, 1]
    estimates[5] += 1.6  # the compound 1, 1
    origin = origin_of(estimates, codes)
    assert origin.rest[5] == pytest.approx(1.6 * 9 / 16)


def test_the_reason_of_a_compound_is_a_sum_that_comes_to_its_estimate(tmp_path: Path):
    library = Library.product([Site("R1", tuple("ABCDE")), Site("R2", tuple("KLMN"))])
    rng = np.random.default_rng(1)
    truth = 6.0 + rng.normal(0, 0.6, 5)[library.codes[:, 0]] + rng.normal(0, 0.4, 4)[library.codes[:, 1]]
    truth[6] += 2.0  # no sum of effects
    history = [Result(library.ids[k], float(truth[k])) for k in range(0, 20, 2)]
    settings = Settings("pIC50", epsilon=0.5, slack=0.25, per_round=6, strategy="gaussian-process")
    endpoints = [Endpoint("pIC50", noise_sd=0.2)]
    path = tmp_path / "a.assaypilot"
    with Campaign.create(path, library=library, endpoints=endpoints, settings=settings, history=history) as campaign:
        status, reasons = campaign.status(), campaign.reasons()
        for compound in range(20):
            why = reasons.of(compound).why.replace("\u00a0", " ")
            parts = re.findall(r"[+\N{MINUS SIGN}]?\d+\.\d\d", why)
            total = sum(float(part.replace("\N{MINUS SIGN}", "-")) for part in parts)
            assert total == pytest.approx(status.candidates.estimates["pIC50"][compound], abs=0.025)
            assert f"R1 {'ABCDE'[library.codes[compound, 0]]} " in why


def test_reason_of_many_sites_names_the_largest_effects_and_sums_the_others(tmp_path: Path):
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 3, (60, 20))
    sites = [f"R{k}" for k in range(1, 21)]
    library = Library.listed(sites, [["ABC"[code] for code in row] for row in codes.tolist()])
    history = [Result(name, 6.0 + rng.normal()) for name in library.ids]
    settings = Settings("pIC50", epsilon=0.5, slack=0.25, per_round=6, strategy="gaussian-process")
    path, endpoints = tmp_path / "a.assaypilot", [Endpoint("pIC50", noise_sd=0.2)]
    with Campaign.create(path, library=library, endpoints=endpoints, settings=settings, history=history) as campaign:
        why = campaign.reasons().of(0).why.replace("\u00a0", " ")
        estimate = campaign.status().candidates.estimates["pIC50"][0]
    assert why.count("; R") == 8
    assert "12 other sites" in why
    numbers = re.findall(r"[+\N{MINUS SIGN}]?\d+\.\d\d", why)
    assert sum(float(one.replace("\N{MINUS SIGN}", "-")) for one in numbers) == pytest.approx(estimate, abs=0.06)
