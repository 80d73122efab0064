"""Differences as people write them."""

import pytest

from assaypilot.engine.text.signed import signed


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.4, "+0.40"),
        (-0.07, "\u22120.07"),
        (0.0, "0.00"),
        (-0.004, "0.00"),
        (0.004, "0.00"),
        (-12.345, "\u221212.35"),
        (0.005001, "+0.01"),
    ],
)
def test_a_sign_is_said_of_what_is_not_zero(value, text):
    assert signed(value) == text


def test_the_sign_follows_the_digits_shown():
    assert (signed(-0.04, 1), signed(-0.06, 1)) == ("0.0", "\u22120.1")
