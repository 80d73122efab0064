"""Columns of classes: yes or no, counts, potencies as A, B, C or ++, and columns without any number."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ..domain import kinds
from ..domain.endpoint import Endpoint
from . import headers
from .options import EndpointSpec
from .raw import PATTERNS, RawTable, fold, rows_named
from .values import DASHES, is_missing, parse_value

_ROWS_SAMPLED = 500
_MOST_TEXTS = 40
_FEWEST = 4
"""Values below which a column of ones and zeros may be anything."""
_COUNTED = PATTERNS["count"]
"""Words in the names of what is counted."""
_DECIDED = frozenset(kinds.WORDS[: kinds.WORDS.index(("yes", "no"))])
"""Words that can only be results; yes and no may state anything of a compound."""


def words_of(texts: Sequence[str]) -> tuple[str, str] | None:
    """Return the two words of a yes-or-no column in its spelling, yes first; None for any other."""
    if _many(texts):
        return None
    filled = [text for text in texts if text == "-" or not is_missing(text)]
    # A dash is an empty cell, except in a column with a plus.
    return kinds.words_in(text for text in filled if text != "-") or kinds.words_in(filled)


def is_result(words: tuple[str, str]) -> bool:
    """Whether such words are results, as active and inactive are."""
    return (words[0].casefold(), words[1].casefold()) in _DECIDED


def with_kind(spec: EndpointSpec, texts: Sequence[str]) -> EndpointSpec:
    """Return an endpoint's specification with kind and words from its values, where they were not given.

    Where smaller is better (direction=min) the words are swapped.
    """
    if spec.kind is None and spec.transform is None and not spec.unit:
        found = words_of(texts)
        if found is not None or _ones_and_zeros(texts):
            # The scatter of such answers follows from their probability, whatever SD was given.
            spec = replace(spec, kind="yes-no", words=found, sd=None, sd_estimated=False)
    elif spec.kind == "yes-no" and spec.words is None:
        spec = replace(spec, words=words_of(texts))
    if spec.kind == "yes-no" and spec.direction == "min":
        return replace(spec, direction="max", words=kinds.turned(spec.words))
    return spec


def _many(texts: Sequence[str]) -> bool:
    """Whether the first cells already have more than two words besides signs for an empty cell."""
    return len(set(texts[:_ROWS_SAMPLED])) > _MOST_TEXTS


def _ones_and_zeros(texts: Sequence[str]) -> bool:
    if _many(texts):
        return False
    filled = [text.strip() for text in texts if not is_missing(text)]
    return len(filled) >= _FEWEST and set(filled) == {"0", "1"}


def about_kind(endpoint: Endpoint, texts: Sequence[str]) -> str:
    """Return a sentence on the kind of an endpoint, or on the one it could be.

    Empty where there is nothing.
    """
    name = endpoint.name
    if endpoint.kind == "yes-no":
        yes, no = endpoint.words or ("1", "0")
        return (
            f"{name} says {yes} or {no}: it is taken as yes or no, and what is compared is the chance of {yes}. If "
            f"{no} is wanted, say so."
        )
    if endpoint.kind == "count":
        return f"{name} is a count: compounds are compared by natural logarithms."
    if endpoint.transform != "none" or not _COUNTED.search(headers.split_unit(name)[0].replace("_", " ")):
        return ""
    filled = [text.strip() for text in texts if not is_missing(text)]
    if len(filled) >= _FEWEST and all(text.isdigit() for text in filled):
        return (
            f"{name} holds whole numbers of 0 and more. If they are counts, say so: they scatter in a way of their own."
        )
    return ""


def about_words(column: str, texts: Sequence[str]) -> str:
    """Return the note on a yes-or-no column that is no endpoint by its header; empty for any other."""
    words = words_of(texts)
    if words is None:
        return ""
    return (
        f"Column {column} says {words[0]} or {words[1]} and is not read as values. If it is a result, name it as an "
        "endpoint."
    )


_CLASS_WORDS = re.compile(
    r"\bc*lass\d*\b|\b(?:category|bin|range|rating|grade|bucket|flag|outcome|semi ?quant\w*|call|tier|hit)\b"
)
_ACTIVITY = re.compile(r"activ|potenc|inhibit|bind|efficac|effect|[ieac]c ?50|cellular|enzym")
_STEP = re.compile(r"-?\d{1,2}(?:\.\d)?")
_LETTERS = re.compile(r"[A-Fa-f][+\-−]?|[+]{1,6}|[*]{1,6}|[-−–]|\+/-|±|\(\+\)|I{1,3}|IV|V", re.I)
"""Letters, pluses and stars as patents give them, from the potent ones to the others."""
_WORDS = PATTERNS["potency in words"]
_MOST = 8


def means_activity(column: str) -> bool:
    """Whether a header names the activity of compounds, in numbers or classes."""
    folded = fold(headers.split_unit(column)[0])
    return headers.looks_like_activity(column) or _ACTIVITY.search(folded) is not None


def classes_of(column: str, texts: Sequence[str]) -> tuple[str, ...]:
    """Return the classes, up to eight, that a column gives instead of numbers (A, B; ++, +; weak); () without.

    Its header has to name activity or a class: letters may be anything (a salt, a series). Numbers are classes only
    where it names a class.
    """
    # The first cells of most columns have too many different texts.
    if len(set(texts[:_ROWS_SAMPLED])) > _MOST + len(DASHES) or words_of(texts) is not None:
        return ()
    filled = [text.strip() for text in texts if text.strip() in {"-", "–", "−"} or not is_missing(text)]
    found = tuple(dict.fromkeys(filled))
    called = _CLASS_WORDS.search(fold(headers.split_unit(column)[0])) is not None
    if not 1 < len(found) <= _MOST or not (called or means_activity(column)):
        return ()
    if called and all(map(_STEP.fullmatch, found)):
        return () if set(found) <= {"0", "1"} or len(filled) < 2 * len(found) else tuple(sorted(found))
    return found if all(map(_is_class, found)) else ()


def _is_class(text: str) -> bool:
    return _LETTERS.fullmatch(text) is not None or _WORDS.fullmatch(" ".join(text.split())) is not None


def about_unread(raw: RawTable, columns: Sequence[str]) -> dict[str, str]:
    """Return a warning for each column that should have values and has classes, or nothing readable."""
    warnings = {}
    for column in columns:
        texts = raw.column(column)
        classes = classes_of(column, texts)
        filled = [(row, text) for row, text in zip(raw.rows, texts, strict=True) if not is_missing(text)]
        if classes:
            warnings[column] = (
                f"Column {column} gives classes ({', '.join(classes)}) and no numbers, and is not read as values. Give "
                "the numbers, or the limit that each class stands for (<100)."
            )
        elif headers.looks_like_activity(column) or fold(column) in headers.VALUE:
            if not filled or any(_is_value(text, raw.decimal) for _, text in filled):
                continue
            rows = rows_named([row for row, _ in filled]).lower()
            warnings[column] = f"Column {column} is not read as values ({rows}): {_why(filled[0][1], raw.decimal)}."
    return warnings


def _is_value(text: str, decimal: str) -> bool:
    return not is_missing(text) and not _why(text, decimal)


def _why(text: str, decimal: str) -> str:
    """Return why a cell is no value; "" for one that is."""
    try:
        parse_value(text, decimal)
    except ValueError as error:
        return str(error)
    return ""
