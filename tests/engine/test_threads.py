import numpy as np
import pytest

from assaypilot.engine.design import g_optimal
from assaypilot.engine.domain.features import DenseFeatures, ProjectedFeatures
from assaypilot.engine.system import resources


@pytest.fixture
def two():
    """Two threads in every library of linear algebra, as on a machine of two processors."""
    libraries = resources._libraries()
    if not libraries:
        pytest.skip("numpy's linear algebra is not OpenBLAS here")
    before = [get() for get, _ in libraries]
    for _, put in libraries:
        put(2)
    yield [get for get, _ in libraries]
    for count, (_, put) in zip(before, libraries, strict=True):
        put(count)


def counts(two):
    return {get() for get in two}


def test_one_thread_inside_and_as_many_as_before_outside(two):
    with resources.algebra_on_one_thread():
        assert counts(two) == {1}
        with resources.algebra_on_one_thread():
            assert counts(two) == {1}
        assert counts(two) == {1}
    assert counts(two) == {2}
    with pytest.raises(KeyError), resources.algebra_on_one_thread():
        raise KeyError
    assert counts(two) == {2}


def test_a_design_uses_one_thread(two):
    heard = []
    candidates = ProjectedFeatures(DenseFeatures(np.random.default_rng(0).normal(size=(50, 4))))
    g_optimal(candidates, report=lambda fraction, message: heard.append(counts(two)))
    assert heard
    assert all(seen == {1} for seen in heard)
    assert counts(two) == {2}
