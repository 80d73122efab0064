"""What a filter box means: words of ids and substituents, ``R1=Me``, comparisons of a number."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from assaypilot.engine.labels import label_text
from assaypilot.engine.library import Library

__all__ = ["narrow"]

_COMPARISON = re.compile(r"(?:(?<!\S)([^\s<>=≤≥]+)\s*)?(>=|<=|≥|≤|>|<)\s*(-?\d+(?:[.,]\d+)?)")
_SITE = re.compile(r"([^=\s]+)=(\S+)")
_OPERATORS: dict[str, Callable[[NDArray[np.float64], float], NDArray[np.bool_]]] = {
    ">": operator.gt,
    "<": operator.lt,
    ">=": operator.ge,
    "≥": operator.ge,
    "<=": operator.le,
    "≤": operator.le,
}


def narrow(
    text: str,
    library: Library,
    numbers: NDArray[np.float64],
    named: Mapping[str, NDArray[np.float64]] | None = None,
) -> NDArray[np.bool_] | None:
    """The compounds that fit every word of ``text``; None when it says nothing.

    ``>7.5`` compares ``numbers`` (one per compound; NaN never fits), ``hERG<5`` those ``named`` so, ``R1=Me`` a
    substituent exactly, any other word is looked for in the id and the substituents, without regard to case.
    """
    mask: NDArray[np.bool_] | None = None

    def also(part: NDArray[np.bool_]) -> None:
        nonlocal mask
        mask = part if mask is None else mask & part

    def compare(match: re.Match[str]) -> str:
        level = float(match[3].replace(",", "."))
        of_it = values.get(match[1].casefold()) if match[1] else numbers
        with np.errstate(invalid="ignore"):
            also(_OPERATORS[match[2]](numbers if of_it is None else of_it, level))
        # A word before the sign that is no number's name is looked for like any other.
        return f" {match[1] or ''} " if of_it is None else " "

    values = {name.casefold(): of_it for name, of_it in (named or {}).items()}

    names = {site.name.casefold(): place for place, site in enumerate(library.sites)}
    for word in _COMPARISON.sub(compare, text).split():
        match = _SITE.fullmatch(word)
        place = None if match is None else names.get(match[1].casefold())
        if match is not None and place is not None:
            wanted = match[2].casefold()
            fits = np.array(
                [label_text(label).casefold() == wanted for label in library.sites[place].substituents], dtype=bool
            )
            also(fits[library.codes[:, place]])
        else:
            also(_anywhere(word.casefold(), library))
    return mask


def _anywhere(word: str, library: Library) -> NDArray[np.bool_]:
    found = np.fromiter((word in name.casefold() for name in library.ids), dtype=bool, count=len(library))
    for place, site in enumerate(library.sites):
        fits = np.array([word in label_text(label).casefold() for label in site.substituents], dtype=bool)
        found |= fits[library.codes[:, place]]
    return found
