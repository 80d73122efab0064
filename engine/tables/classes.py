"""Columns of classes: yes or no, counts, potencies as A, B, C or ++, and those that hold no number at all."""

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
"""Words that say a result and nothing else; yes and no may say anything of a compound."""


def words_of(texts: Sequence[str]) -> tuple[str, str] | None:
    """Return the words of a column that says yes and no, as it writes them, yes first; None for any other."""
    if _many(texts):
        return None
    filled = [text for text in texts if text == "-" or not is_missing(text)]
    # A dash is an empty cell, but where it stands beside a plus.
    return kinds.words_in(text for text in filled if text != "-") or kinds.words_in(filled)


def is_result(words: tuple[str, str]) -> bool:
    """Whether such words say a result, as active and inactive do."""
    return (words[0].casefold(), words[1].casefold()) in _DECIDED


def with_kind(spec: EndpointSpec, texts: Sequence[str]) -> EndpointSpec:
    """Return what is said of an endpoint, with its kind and its words as its values show them.

    Where they were not said.

    Where smaller is better (direction=min) the opposite is asked for.
    """
    if spec.kind is None and spec.transform is None and not spec.unit:
        found = words_of(texts)
        if found is not None or _ones_and_zeros(texts):
            # How such answers scatter follows from their chance, whatever was said of an SD.
            spec = replace(spec, kind="yes-no", words=found, sd=None, sd_estimated=False)
    elif spec.kind == "yes-no" and spec.words is None:
        spec = replace(spec, words=words_of(texts))
    if spec.kind == "yes-no" and spec.direction == "min":
        return replace(spec, direction="max", words=kinds.turned(spec.words))
    return spec


def _many(texts: Sequence[str]) -> bool:
    """Whether the first cells show already that a column holds more than two words and signs for none."""
    return len(set(texts[:_ROWS_SAMPLED])) > _MOST_TEXTS


def _ones_and_zeros(texts: Sequence[str]) -> bool:
    if _many(texts):
        return False
    filled = [text.strip() for text in texts if not is_missing(text)]
    return len(filled) >= _FEWEST and set(filled) == {"0", "1"}


def about_kind(endpoint: Endpoint, texts: Sequence[str]) -> str:
    """Return what to say of the kind an endpoint was taken for, or could be, in a sentence.

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
    """Return what to say of a column that is no endpoint, because yes and no may say anything; empty for any other."""
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
    """Whether a header says that its column holds how active compounds are, in numbers or classes."""
    folded = fold(headers.split_unit(column)[0])
    return headers.looks_like_activity(column) or _ACTIVITY.search(folded) is not None


def classes_of(column: str, texts: Sequence[str]) -> tuple[str, ...]:
    """Return the classes, up to eight, that a column gives instead of numbers (A, B; ++, +; weak); () without.

    Its header has to say activity or class: letters may be anything (a salt, a series). Numbers are classes only where
    it says class.
    """
    # Most columns show by their first cells that they hold too many different texts.
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
    """Return what to say of each of the columns that should hold values and holds classes, or nothing to be read."""
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
    """Why a cell is no value; "" for one that is."""
    try:
        parse_value(text, decimal)
    except ValueError as error:
        return str(error)
    return ""
