"""Percentages are written in one place, and alike everywhere."""

import re
from pathlib import Path

import pytest

import assaypilot.engine
import assaypilot.gui
from assaypilot.engine.text.percentages import percent, probability

_BY_HAND = re.compile(r":[^{}\"']*%\}|\} %(?![a-z(])")
"""A percentage that an f-string makes: ``{share:.0%}``, or ``{100 * share:.0f} %``; not ``{a} %s``."""


@pytest.mark.parametrize(
    ("share", "digits", "text"),
    [
        (0.583, None, "58 %"),
        (1.0, None, "100 %"),
        (0.0, None, "0 %"),
        (0.95, 10, "95 %"),
        (1 - 0.001, 10, "99.9 %"),
        (0.04567, 2, "4.6 %"),
        (1.5, None, "150 %"),
    ],
)
def test_a_share_in_per_cent(share, digits, text):
    assert percent(share, digits) == text


def test_a_probability_is_never_shown_as_certain():
    assert [probability(p) for p in (0.0, 0.004, 0.41, 0.996, 1.0)] == ["< 0.01", "< 0.01", "0.41", "> 0.99", "> 0.99"]


@pytest.mark.parametrize("line", ['f"{share:.0%}"', 'f"{100 * p:.2g} %"', "f'{one:4.0%} of'"])
def test_a_percentage_written_by_hand_is_seen(line):
    assert _BY_HAND.search(line)


def test_percentages_are_formatted_in_one_place():
    """Otherwise the window says ``58 %`` where the command line says ``58%``."""
    allowed = {"percentages.py", "help_and_preferences.py"}  # The sizes of the text are whole numbers of per cent.
    found = [
        f"{path.name}: {line.strip()}"
        for package in (assaypilot.engine, assaypilot.gui)
        for path in sorted(Path(str(package.__file__)).parent.rglob("*.py"))
        if path.name not in allowed
        for line in path.read_text(encoding="utf-8").splitlines()
        if _BY_HAND.search(line)
    ]
    assert not found, "\n".join(found)
