"""The part of a decision: what is kept comes back, and bytes from anyone are looked at before they are believed."""

import io
import zipfile
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.campaign.codec import Numbers, from_bytes, to_bytes

TYPES = ["f8", "f4", "i8", "i4", "u8", "u1", "i1", "bool"]
NAMES = st.from_regex(r"[a-z][a-z0-9_.]{0,11}", fullmatch=True)


@st.composite
def arrays(draw: st.DrawFn) -> np.ndarray[Any, Any]:
    shape = draw(st.lists(st.integers(0, 4), max_size=3))
    rng = np.random.default_rng(draw(st.integers(0, 9999)))
    return (100 * rng.standard_normal(shape)).astype(draw(st.sampled_from(TYPES)))


def tables(seed: int, n_endpoints: int, n_arms: int) -> np.ndarray[Any, Any]:
    values = np.random.default_rng(seed).standard_normal((3, n_endpoints, n_arms))
    values[0, 0, 0] = np.nan
    values[1, 0, 0], values[2, 0, 0] = -np.inf, np.inf
    return values


@given(
    seed=st.integers(0, 99),
    shape=st.tuples(st.integers(1, 3), st.integers(1, 6)),
    memory=st.dictionaries(NAMES, arrays(), max_size=4),
)
def test_what_is_kept_comes_back(seed: int, shape: tuple[int, int], memory: dict[str, Any]) -> None:
    values = tables(seed, *shape)
    blob = to_bytes(Numbers(*values, memory))
    back = from_bytes(blob)
    for one, other in zip(values, (back.estimate, back.low, back.high), strict=True):
        assert np.array_equal(one, other, equal_nan=True)
    assert list(back.memory) == list(memory)
    for name, array in memory.items():
        assert back.memory[name].dtype == array.dtype
        assert back.memory[name].shape == array.shape
        assert np.array_equal(back.memory[name], array)
    assert blob == to_bytes(back)


def forged(**arrays: Any) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def renamed(blob: bytes, header: bytes) -> bytes:
    """The same with another header of the first array, of the same length, and a check sum that fits."""
    with zipfile.ZipFile(io.BytesIO(blob)) as packed:
        named = {name: packed.read(name) for name in packed.namelist()}
    first = next(iter(named))
    named[first] = named[first][:10] + header.ljust(len(named[first]) - 10 - 8) + bytes(8)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as packed:
        for name, content in named.items():
            packed.writestr(name, content)
    return stream.getvalue()


ONE = np.zeros((1, 1))
WHOLE = forged(estimate=ONE, low=ONE, high=ONE)


@pytest.mark.parametrize(
    ("blob", "says"),
    [
        (b"something else", "not the estimates of a phase"),
        (to_bytes(Numbers(*tables(1, 1, 9), {"a": np.arange(99.0)}))[:-40], "not the estimates of a phase"),
        (forged(estimate=ONE), "lack 'low'"),
        (forged(estimate=ONE, low=ONE, high=np.zeros((1, 1), dtype=int)), "not tables of numbers"),
        (forged(estimate=ONE, low=ONE, high=ONE[0]), "not tables of numbers"),
        (forged(estimate=ONE, low=ONE, high=ONE, a=np.array(["a"])), "no array of numbers"),
        (forged(estimate=ONE, low=ONE, high=ONE, a=np.array([None])), "not the estimates of a phase"),
        (forged(**{f"a{k}": ONE for k in range(300)}), "too large"),
        (renamed(WHOLE, b"{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 1), }"), "not the estimates"),
        (renamed(WHOLE, b"{'descr': '<f8', 'fortran_order': False, 'shape': (9**19, 1), }"), "not the estimates"),
        (renamed(WHOLE, b"{'descr': '|O', 'fortran_order': False, 'shape': (1, 1), }"), "not the estimates"),
        (renamed(WHOLE, b"((((((((((((((((((((((((((((((("), "not the estimates"),
    ],
)
def test_bytes_that_are_no_part_are_refused(blob: bytes, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        from_bytes(blob)
