"""Kinds of endpoints besides plain values: yes or no, and counts; their words in tables and their values.

A yes is 1 and a no is 0, so the mean of a compound is the chance of a yes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..errors import AssayPilotError

if TYPE_CHECKING:
    from .endpoint import Endpoint, Kind


KINDS: tuple[Kind, ...] = ("value", "yes-no", "count")
NOISE: dict[Kind, float] = {"yes-no": 0.5, "count": 1.0}
"""The largest SD of a yes or no; that of the logarithm of a count of 1, which plans start from."""

WORDS = (
    ("active", "inactive"),
    ("aktiv", "inaktiv"),
    ("positive", "negative"),
    ("pos", "neg"),
    ("hit", "no hit"),
    ("hit", "non-hit"),
    ("toxic", "non-toxic"),
    ("toxic", "nontoxic"),
    ("soluble", "insoluble"),
    ("+", "-"),
    ("yes", "no"),
    ("true", "false"),
    ("y", "n"),
)
"""Words for yes and no; those before ``yes`` are results and nothing else."""
_PLAIN = {"1": 1.0, "0": 0.0, "yes": 1.0, "no": 0.0, "true": 1.0, "false": 0.0}
"""Words that are read besides an endpoint's own."""


def _folded(text: str) -> str:
    return " ".join(text.replace("−", "-").split()).casefold()


def words_in(texts: Iterable[str]) -> tuple[str, str] | None:
    """Return the words of a yes-or-no column, yes first, as written there; None for any other column."""
    found: dict[str, str] = {}
    for text in texts:
        word = " ".join(text.split())
        found.setdefault(_folded(word), word)
        if len(found) > 2:
            return None
    for yes, no in WORDS:
        if set(found) == {yes, no}:
            return found[yes], found[no]
    return None


def class_value(endpoint: Endpoint, text: str) -> float | None:
    """Return 1 or 0 for a word of a yes-or-no endpoint; None for any other text or kind."""
    if endpoint.kind != "yes-no":
        return None
    word = _folded(text)
    if endpoint.words is not None:
        own = [_folded(one) for one in endpoint.words]
        if word in own:
            return 1.0 - own.index(word)
        turned_around = _turned_around(own)
        pair = next((pair for pair in WORDS if word in pair), None)
        if pair is not None and len(word) > 1:
            # A synonym: "pos" where the table has "positive".
            return float((word == pair[0]) != turned_around)
        if turned_around and word in _PLAIN:
            return None if word not in ("1", "0") else _PLAIN[word]
    return _PLAIN.get(word)


def _turned_around(own: list[str]) -> bool:
    """Return whether the desired word is one that usually means no."""
    return any(own[0] == no or own[1] == yes for yes, no in WORDS)


def turned(words: tuple[str, str] | None) -> tuple[str, str]:
    """Return the words of the opposite question."""
    yes, no = words or ("1", "0")
    return no, yes


def word_of(endpoint: Endpoint, value: float) -> str | None:
    """Return ``active`` for a 1 of an endpoint with words; None for a share, and for any other kind."""
    if endpoint.kind != "yes-no" or endpoint.words is None or value not in (0.0, 1.0):
        return None
    return endpoint.words[0] if value == 1.0 else endpoint.words[1]


def yes_of(endpoint: Endpoint) -> str:
    """Return the word for the desired answer."""
    return "1" if endpoint.words is None else endpoint.words[0]


def distance_unit(endpoint: Endpoint, *, linked: bool) -> str:
    """Return what a distance between two compounds is counted in, for the place where it is typed.

    ``linked``: whether effects add up, and are compared, on the scale of the kind's link.
    """
    if endpoint.kind == "value":
        return endpoint.scale_unit
    return ("log odds" if endpoint.kind == "yes-no" else "log") if linked else ""


def chance_name(endpoint: Endpoint) -> str:
    """Return what the mean of a yes-or-no endpoint is called."""
    return f"chance that {endpoint.name} is {yes_of(endpoint)}"


def check(endpoint: Endpoint) -> None:
    """Raise AssayPilotError for an endpoint whose parts do not go together."""
    kind, name = endpoint.kind, endpoint.name
    if kind not in KINDS:
        raise AssayPilotError(f"kind must be {', '.join(KINDS[:-1])} or {KINDS[-1]}, got {kind!r}", option="--endpoint")
    if endpoint.words is not None and kind != "yes-no":
        raise AssayPilotError(
            f"{name} has words for yes and no, and is none", option="--endpoint", mend="Say kind=yes-no, too."
        )
    if endpoint.words is not None and (
        len({_folded(word) for word in endpoint.words}) < 2 or not all(word.strip() for word in endpoint.words)
    ):
        raise AssayPilotError(
            f"the words for yes and no of {name} must be two different ones",
            option="--endpoint",
            mend="For example words=active/inactive.",
        )
    if kind == "value":
        return
    what = "a yes or no" if kind == "yes-no" else "a count"
    if endpoint.of is not None or endpoint.transform != "none":
        own = "a difference" if endpoint.of is not None else "modelled as a logarithm (transform=log)"
        raise AssayPilotError(
            f"{name} is {what}, and cannot be {own}", option="--endpoint", mend="Leave one of the two out."
        )
    if endpoint.noise_estimated or endpoint.noise_sd not in (None, NOISE[kind]):
        raise AssayPilotError(
            f"{name} is {what}: how it scatters follows from its mean, so there is no assay noise (SD) to give",
            option="--endpoint" if endpoint.noise_sd is None else "--sd",
            mend="Leave sd out.",
        )
    if endpoint.direction == "min":
        raise AssayPilotError(
            f"{name} is {what}, and larger has to be better (direction=max)",
            option="--endpoint",
            mend="Name the desired word first, for example words=non-toxic/toxic."
            if kind == "yes-no"
            else "Count the desired events, or give log values (transform=log) as a plain endpoint.",
        )


def check_value(endpoint: Endpoint, value: float) -> None:
    """Raise AssayPilotError for a number that no measurement of the endpoint's kind can be."""
    if endpoint.kind == "yes-no" and not 0.0 <= value <= 1.0:
        yes, no = endpoint.words or ("1", "0")
        raise AssayPilotError(
            f"{value:g} is neither {yes} nor {no}",
            column=endpoint.name,
            mend="Give a word, 1 or 0, or a share between 0 and 1.",
        )
    if endpoint.kind == "count" and value < 0:
        raise AssayPilotError(f"{value:g} is no count (0 or more)", column=endpoint.name)
