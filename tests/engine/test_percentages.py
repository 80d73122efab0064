"""Percentages are written in one place, and alike everywhere."""

import re
from pathlib import Path

import pytest

import assaypilot.engine
import assaypilot.gui

_BY_HAND = re.compile(r":[^{}\"']*%\}|\} %(?![a-z(])")
"""A percentage that an f-string makes: ``{share:.0%}``, or ``{100 * share:.0f} %``; not ``{a} %s``."""


@pytest.mark.parametrize("line", ['f"{share:.0%}"', 'f"{100 * p:.2g} %"', "f'{one:4.0%} of'"])
def test_a_percentage_written_by_hand_is_seen(line):
    assert _BY_HAND.search(line)


def test_percentages_are_formatted_in_one_place():
    """Otherwise the window says ``58 %`` where the command line says ``58%``."""
    allowed = {"text.py", "help_and_preferences.py"}  # The sizes of the text are whole numbers of per cent.
    found = [
        f"{path.name}: {line.strip()}"
        for package in (assaypilot.engine, assaypilot.gui)
        for path in sorted(Path(str(package.__file__)).parent.rglob("*.py"))
        if path.name not in allowed
        for line in path.read_text(encoding="utf-8").splitlines()
        if _BY_HAND.search(line)
    ]
    assert not found, "\n".join(found)
