"""One number for values some of which are bounds: the rule of CDD Vault, by its own examples and by its properties."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.tables.entries import shown


@pytest.mark.parametrize(
    ("values", "result"),
    [
        ([("=", 20.0), ("=", 30.0), ("<", 100.0)], (("=", 25.0),)),
        ([("<", 1.0), ("<", 10.0)], (("<", 1.0),)),
        ([("<", 2.0), ("=", 8.0)], (("<", 5.0),)),
        ([(">", 8.0), ("=", 2.0)], ((">", 5.0),)),
        ([(">", 1.0), ("=", 2.0)], (("=", 2.0),)),
        ([(">", 3.0), (">", 5.0)], ((">", 5.0),)),
        ([(">", 5.0), ("<", 10.0)], ((">", 5.0), ("<", 10.0))),
        ([("<", 1.0), ("=", 5.0), (">", 9.0)], (("=", 5.0),)),
        ([("=", 5.0), ("<", 5.0)], (("<", 5.0),)),
        ([], ()),
    ],
)
def test_the_rule(values, result):
    assert shown(values) == result


def test_means_weigh_by_their_determinations():
    assert shown([("=", 5.0), ("=", 8.0)], [2, 1]) == (("=", 6.0),)


RELATIONS = st.sampled_from(["=", "<", ">"])
VALUES = st.lists(st.tuples(RELATIONS, st.floats(-5, 5)), min_size=1, max_size=6)
TURNED = {"=": "=", "<": ">", ">": "<"}


@given(VALUES)
def test_turning_the_scale_around_turns_the_answer_around(values):
    # A concentration and its negative logarithm say the same.
    there = shown([(TURNED[relation], -value) for relation, value in values])
    back = sorted((TURNED[relation], -value) for relation, value in there)
    assert [one[0] for one in back] == [one[0] for one in sorted(shown(values))]
    assert [one[1] for one in back] == pytest.approx([one[1] for one in sorted(shown(values))])


@given(VALUES)
def test_exact_values_alone_are_their_mean_and_bounds_never_move_it_the_wrong_way(values):
    exact = [value for relation, value in values if relation == "="]
    if not exact:
        return
    ((relation, mean),) = shown(values)
    plain = sum(exact) / len(exact)
    if relation == "=":
        assert mean == pytest.approx(plain)
    else:
        assert (mean <= plain + 1e-12) if relation == "<" else (mean >= plain - 1e-12)
