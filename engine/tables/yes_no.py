"""Columns that say yes or no, and what decides about such results: noticed when a table is read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assaypilot.engine.tables.values import is_missing

__all__ = ["about_words", "about_yes_no"]

_WORDS = (
    ("yes", "no"),
    ("active", "inactive"),
    ("positive", "negative"),
    ("pos", "neg"),
    ("true", "false"),
    ("hit", "no hit"),
    ("toxic", "non-toxic"),
    ("+", "-"),
)
"""How people say it; what counts as yes comes first."""
_FEWEST = 4
"""Values below which a column of ones and zeros may be anything."""

_HOW = (
    "choose linfact-glm, which compares log odds (--strategy linfact-glm --parameter link=logit --parameter bound=3 "
    "--sd 0.5, with --epsilon in log odds: 1 is about a factor of 3 in the odds). Its guarantee is as in its paper, "
    "whose proof is incomplete; how often it errs was measured by simulation"
)


def about_yes_no(name: str, numbers: Sequence[str]) -> str:
    """What to say of an endpoint whose values are all 1 or 0, as texts, in a sentence; empty for any other."""
    if len(numbers) < _FEWEST or {text.strip() for text in numbers} != {"0", "1"}:
        return ""
    return f"{name} holds only 1 and 0. If that means yes and no (active or inactive), {_HOW}."


def about_words(column: str, texts: Iterable[str]) -> str:
    """What to say of a column that is no endpoint, because it says yes and no in words; empty for any other."""
    said = {" ".join(text.split()).casefold() for text in texts if text == "-" or not is_missing(text)}
    for yes, no in _WORDS:
        if said == {yes, no}:
            return (
                f"Column {column} says {yes} or {no} and is not read as values. To decide by it write 1 for {yes} and "
                f"0 for {no}, and {_HOW}."
            )
    return ""
