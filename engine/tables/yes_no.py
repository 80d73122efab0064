"""Columns that say yes or no, and columns of counts: recognised when a table is read, and said."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ..domain import kinds
from ..domain.endpoint import Endpoint
from .options import EndpointSpec
from .values import is_missing

__all__ = ["about_kind", "about_words", "is_result", "with_kind", "words_of"]

_SAMPLED = 500
_MOST_TEXTS = 40
_FEWEST = 4
"""Values below which a column of ones and zeros may be anything."""
_COUNTED = re.compile(
    r"\b(?:counts?|colon(?:y|ies)|cells|cfu|pfu|spots|foci|plaques|events|nuclei|embryos|larvae|revertants)\b", re.I
)
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
    return len(set(texts[:_SAMPLED])) > _MOST_TEXTS


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
            f"{name} says {yes} or {no}: it is taken as yes or no, and what is compared is the chance of {yes}. "
            f'If {no} is wanted: --endpoint "{name};words={no}/{yes}".'
        )
    if endpoint.kind == "count":
        return f"{name} is a count: compounds are compared by natural logarithms."
    if endpoint.transform != "none" or not _COUNTED.search(name.replace("_", " ")):
        return ""
    filled = [text.strip() for text in texts if not is_missing(text)]
    if len(filled) >= _FEWEST and all(text.isdigit() for text in filled):
        return (
            f"{name} holds whole numbers of 0 and more. If they are counts, that is how they scatter, too: "
            f'--endpoint "{name};kind=count".'
        )
    return ""


def about_words(column: str, texts: Sequence[str]) -> str:
    """Return what to say of a column that is no endpoint, because yes and no may say anything; empty for any other."""
    words = words_of(texts)
    if words is None:
        return ""
    return (
        f"Column {column} says {words[0]} or {words[1]} and is not read as values. If it is a result, name it: "
        f'--endpoint "{column}".'
    )
