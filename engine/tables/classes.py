"""Potencies that are given as classes only (A, B, C; +, ++, +++; active, weak), which are no values, and what to do."""

from __future__ import annotations

import re
from collections.abc import Sequence

from . import headers
from .raw import fold
from .values import DASHES, is_missing
from .yes_no import words_of

__all__ = ["about_classes", "classes_of", "is_class"]

_LETTERS = re.compile(r"[A-Fa-f][+\-−]?|[+]{1,6}|[*]{1,6}|[-−–]|\+/-|±|\(\+\)|I{1,3}|IV|V", re.I)
"""Letters, pluses and stars as patents give them, from the potent ones to the others."""
_WORDS = re.compile(
    r"(?:very |highly |moderately |weakly |partially |poorly )?(?:in-?active|active|potent|weak|moderate|medium|strong|"
    r"high|low|intermediate|good|poor|none|no (?:inhibition|activity|effect)|n\.?i\.?|not active)",
    re.I,
)
_SAYS_CLASS = re.compile(r"(?:.* )?(?:class|category|bin|range|rating|grade|bucket)(?: .*)?")
_SAYS_FLAG = re.compile(r"c+lass\d*\b|\b(?:flag|outcome|semi ?quant\w*|call|tier|hit)\b")
_STEP = re.compile(r"-?\d{1,2}(?:\.\d)?")
_ACTIVITY = re.compile(r".*(?:activ|potenc|inhibit|bind|efficac|[ieac]c ?50|cellular|enzym).*")
_MOST = 8
_SAMPLED = 500


def is_class(text: str) -> bool:
    """Whether a cell is the name of a class as people give potencies: A, ++, weak, inactive."""
    return _LETTERS.fullmatch(text.strip()) is not None or _WORDS.fullmatch(" ".join(text.split())) is not None


def classes_of(column: str, texts: Sequence[str]) -> tuple[str, ...]:
    """Return the classes, up to eight, in which a column gives an activity, by its header and by all its cells.

    () without.

    Letters may be anything (a salt, a series), so that the header has to say activity or class; words such as
    ``inactive`` speak for themselves, two of them at least.
    """
    # Most columns show by their first cells that they hold too many different texts.
    if len(set(texts[:_SAMPLED])) > _MOST + len(DASHES):
        return ()
    filled = [text.strip() for text in texts if text.strip() in {"-", "–", "−"} or not is_missing(text)]
    found = tuple(dict.fromkeys(filled))
    folded = fold(headers.split_unit(column)[0])
    if not 1 < len(found) <= _MOST or words_of(texts) is not None:
        return ()
    says = headers.looks_like_activity(column) or _ACTIVITY.fullmatch(folded) is not None
    numbers = all(_STEP.fullmatch(text) is not None for text in found)
    called = _SAYS_FLAG.search(folded) is not None or (says and _SAYS_CLASS.fullmatch(folded) is not None)
    if numbers and called and len(filled) >= 2 * len(found) and not set(found) <= {"0", "1"}:
        return tuple(sorted(found))
    if not all(map(is_class, found)):
        return ()
    words = sum(_WORDS.fullmatch(" ".join(text.split())) is not None for text in found)
    return found if says or words > 1 or _SAYS_CLASS.fullmatch(folded) else ()


def about_classes(column: str, classes: Sequence[str]) -> str:
    """Return what to say of a column that gives classes."""
    return (
        f"Column {column} gives classes ({', '.join(classes)}) and no numbers, and is not read as values. Give the "
        "numbers, or the limit that each class stands for (<100)."
    )
