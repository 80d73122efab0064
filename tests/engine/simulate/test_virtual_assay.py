"""The simulated assay: the truth plus noise of the stated size, the same whenever it is asked."""

import numpy as np
from scipy import stats

from assaypilot.engine.campaign.issued_rounds import Round, RoundItem
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.simulate.practice import VirtualAssay

IDS = [f"C{k}" for k in range(50)]
TRUTH = np.linspace(5.0, 8.0, 50)


def issued(number: int, replicates: int = 2) -> Round:
    items = tuple(RoundItem(c, replicates, "", None, None, None) for c in range(50))
    return Round(number, 1, items, "open", "", None, ((0,),) * 50)


def values(assay: VirtualAssay, number: int, endpoint: Endpoint, replicates: int = 2) -> np.ndarray:
    results = assay.measure(issued(number, replicates), endpoint, IDS)
    assert [r.compound for r in results] == [name for name in IDS for _ in range(replicates)]
    assert all(r.n == 1 and r.relation == "=" and r.endpoint == endpoint.name for r in results)
    return np.array([endpoint.to_model(r.value) for r in results])


def test_a_round_asked_twice_gives_the_same_and_another_round_does_not() -> None:
    endpoint = Endpoint("pIC50", noise_sd=0.2)
    assay, twin, other = VirtualAssay(TRUTH, 0.2, 5), VirtualAssay(TRUTH, 0.2, 5), VirtualAssay(TRUTH, 0.2, 6)
    first = values(assay, 1, endpoint)
    assert np.array_equal(first, values(twin, 1, endpoint))
    assert not np.allclose(first, values(assay, 2, endpoint))
    assert not np.allclose(first, values(other, 1, endpoint))


def test_the_noise_is_normal_of_the_stated_size() -> None:
    assay = VirtualAssay(TRUTH, 0.2, 0)
    measured = values(assay, 1, Endpoint("pIC50", noise_sd=0.2), replicates=40)
    errors = (measured - np.repeat(TRUTH, 40)) / 0.2
    assert stats.kstest(errors, "norm").pvalue > 0.01
    assert stats.kstest(errors / 1.3, "norm").pvalue < 1e-4, "the test would notice noise 1.3 times too large"


def test_values_are_in_the_entry_unit() -> None:
    plain = values(VirtualAssay(TRUTH, 0.2, 5), 1, Endpoint("activity"))
    potency = values(VirtualAssay(TRUTH, 0.2, 5), 1, Endpoint("activity", "nM", transform="log"))
    assert np.allclose(plain, potency)
    results = VirtualAssay(TRUTH, 0.0, 5).measure(issued(1, 1), Endpoint("IC50", "uM", transform="log"), IDS)
    assert np.isclose(results[0].value, 10.0), "a pIC50 of 5 is 10 uM"


def test_the_noise_of_one_endpoint_says_nothing_of_that_of_another() -> None:
    assay = VirtualAssay(TRUTH, 0.2, 5)
    errors = [values(assay, 1, Endpoint(name), replicates=40) - np.repeat(TRUTH, 40) for name in ("pIC50", "Sol")]
    assert stats.pearsonr(*errors).pvalue > 0.01
    assert abs(np.corrcoef(errors)[0, 1]) < 0.1, "the same noise twice would be 1"
