"""The filter of a table: its syntax, and the compounds that fit it."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal

from assaypilot.engine.arrays import Floats
from assaypilot.engine.chemistry.names import site_names
from assaypilot.engine.chemistry.properties import holding, similar_to
from assaypilot.engine.domain.library import Library
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.system.processes import in_another_process
from assaypilot.engine.system.progress import Report

from ..runtime.tasks import Latest
from ..session.session import Session
from .rows import AT_ONCE, Coded, Column

Mask = NDArray[np.bool_]
Numbers = NDArray[np.float64] | NDArray[np.int64]

HINT = (
    "Words are looked for in the id and the substituents; several must all fit. R1=Me: exactly this substituent. "
    ">7.5 or 6..7: the estimate. MW<450, n=0, hERG<5: any column of numbers by its heading. status=out, "
    "available=made: any column of words. c1ccncc1 or has:C#N: compounds with this substructure (SMILES or SMARTS). "
    "like:ID or like0.7:SMILES: compounds at least that similar (ECFP4, Tanimoto; 0.5 by default)."
)
_NUMBER = r"(-?\d+(?:[.,]\d+)?)"
_NAME = r"(?:(?<!\S)([^\s<>=≤≥]+?)"
_COMPARISON = re.compile(rf"{_NAME}\s*)?(>=|<=|≥|≤|>|<)\s*{_NUMBER}")
_RANGE = re.compile(rf"{_NAME}(?:\s*[=:]\s*|\s+))?{_NUMBER}\s*(?:\.\.|…)\s*{_NUMBER}(?!\S)")
_STRUCTURE = re.compile(r"(?<!\S)(?:has|substructure)[:=](\S+)", re.IGNORECASE)
_BARE = re.compile(
    r"(?<!\S)(?=\S*[()]|\S*[cnosCNOS]\d\S*[cnosCNOS]\d)(?=\S*[cCnNoO])[BCNOPSFIbcnopsHlr\d@+\-\[\]()=#/\\%.*:]{3,}(?!\S)"
)
"""A word that is written like a structure: with branches, or with a ring."""
_LIKE = re.compile(r"(?<!\S)(?:like|similar)(0?\.\d+|1)?[:=](\S+)", re.IGNORECASE)
_SIMILAR = 0.5
_PAIR = re.compile(r"([^=\s]+)=(\S+)")
_OPERATORS: dict[str, Callable[[Any, float], Mask]] = {
    ">": operator.gt,
    "<": operator.lt,
    ">=": operator.ge,
    "≥": operator.ge,
    "<=": operator.le,
    "≤": operator.le,
}
_SHOWN = 0.005
"""The largest difference of a number from a typed one that is shown the same."""


@dataclass(frozen=True, eq=False)
class Facts:
    """What a filter can use in addition to ids and substituents."""

    numbers: Floats
    """The values that a comparison without a name uses, one per compound; NaN never fits."""
    named: Mapping[str, Numbers] = field(default_factory=dict)
    """Columns of numbers by name."""
    coded: Mapping[str, Coded] = field(default_factory=dict)
    """Columns of words by name."""


def facts_of(columns: Iterable[Column], numbers: Floats, named: Mapping[str, Numbers] | None = None) -> Facts:
    """Return the columns of a table for a filter, and further named values."""
    values, words = dict[str, Numbers](named or {}), dict[str, Coded]()
    for column in columns:
        names = {" ".join(text.split()) for text in (column.title, column.name) if text}
        if column.coded is not None:
            coded = column.coded()
            words |= dict.fromkeys(names, coded)
        elif column.number and column.rank is not None:
            values = dict.fromkeys(names, column.rank()) | values
    return Facts(numbers, values, words)


def patterns(text: str, library: Library) -> tuple[str, ...]:
    """Return the substructures and similarity keys (see ``similar_to``) of a filter."""
    found = [match[1] for match in _STRUCTURE.finditer(text)]
    rest = _STRUCTURE.sub(" ", text)
    found += [_likeness(match, library) for match in _LIKE.finditer(rest)]
    found += _BARE.findall(_LIKE.sub(" ", rest))
    return tuple(dict.fromkeys(found))


def structure_of(text: str) -> str:
    """Return the substructure that a filter names with ``has:``; empty without one."""
    found = _STRUCTURE.search(text)
    return "" if found is None else found[1]


def with_structure(text: str, smiles: str) -> str:
    """Return a filter with this substructure, in place of the one it names."""
    return " ".join(f"{_STRUCTURE.sub(' ', text)} has:{smiles}".split())


def _likeness(match: re.Match[str], library: Library) -> str:
    """Return the key of a similarity filter; a compound's id means its structure."""
    compound = library.find(match[2])
    smiles = match[2] if compound is None or library.smiles is None else library.smiles[compound]
    return similar_to(smiles, _number(match[1]) if match[1] else _SIMILAR)


def narrow(
    text: str,
    library: Library,
    numbers: Floats,
    named: Mapping[str, Numbers] | None = None,
    coded: Mapping[str, Coded] | None = None,
    having: Mapping[str, Mask] | None = None,
) -> Mask | None:
    """Return the compounds that fit every word of ``text``; None when it is empty.

    ``>7.5`` and ``6..7`` compare ``numbers`` (one per compound; NaN never fits), ``hERG<5`` those ``named`` so,
    ``R1=Me`` a substituent exactly, ``status=out`` a word of a ``coded`` column, ``has:`` a substructure found before
    (``having``); any other word is looked for in the id and the substituents, without regard to case.
    """
    mask: Mask | None = None

    def also(part: Mask) -> None:
        nonlocal mask
        mask = part if mask is None else mask & part

    def held(question: str) -> str:
        also((having or {}).get(question, np.zeros(len(library), dtype=bool)))
        return " "

    def of(name: str | None) -> Numbers | None:
        return numbers if not name else values.get(_plain(name))

    def within(match: re.Match[str]) -> str:
        if match[1] and _plain(match[1]) not in values and _plain(match[1]) in sites:
            return match[0]  # a substituent that is called so
        of_it = of(match[1])
        low, high = sorted((_number(match[2]), _number(match[3])))
        with np.errstate(invalid="ignore"):
            also(((numbers if of_it is None else of_it) >= low) & ((numbers if of_it is None else of_it) <= high))
        return f" {match[1] or ''} " if of_it is None else " "

    def compare(match: re.Match[str]) -> str:
        of_it = of(match[1])
        with np.errstate(invalid="ignore"):
            also(_OPERATORS[match[2]](numbers if of_it is None else of_it, _number(match[3])))
        # A word before the sign that is no number's name is looked for like any other.
        return f" {match[1] or ''} " if of_it is None else " "

    values = {_plain(name): of_it for name, of_it in (named or {}).items()}
    words = {_plain(name): of_it for name, of_it in (coded or {}).items()}
    sites = {site.name.casefold(): place for place, site in enumerate(library.sites)}
    text = _STRUCTURE.sub(lambda match: held(match[1]), text)
    text = _LIKE.sub(lambda match: held(_likeness(match, library)), text)
    text = _BARE.sub(lambda match: held(match[0]), text)
    for name in sorted({*(named or {}), *(coded or {})}, key=len, reverse=True):
        if " " in name:  # a name of several words is one
            text = re.sub(rf"(?<!\S){re.escape(name)}(?=\s*[=<>≤≥:])", _plain(name), text, flags=re.IGNORECASE)
    for word in _COMPARISON.sub(compare, _RANGE.sub(within, text)).split():
        match = _PAIR.fullmatch(word)
        name, wanted = ("", "") if match is None else (match[1], match[2])
        if name.casefold() in sites:
            also(_exactly(wanted, library, sites[name.casefold()]))
        elif _plain(name) in words:
            also(_among(wanted, words[_plain(name)]))
        elif _plain(name) in values and re.fullmatch(_NUMBER, wanted):
            with np.errstate(invalid="ignore"):
                also(np.abs(values[_plain(name)] - _number(wanted)) < _SHOWN)
        else:
            also(_anywhere(word.casefold(), library))
    return mask


def _plain(name: str) -> str:
    """Return a name for comparisons: without case and blanks."""
    return "".join(name.replace("_", " ").split()).casefold()


def _number(text: str) -> float:
    return float(text.replace(",", "."))


def _exactly(wanted: str, library: Library, place: int) -> Mask:
    wanted = wanted.casefold()
    substituents = library.sites[place].substituents
    names = zip(substituents, site_names(substituents), strict=True)
    fits = np.array([wanted in (label.casefold(), name.casefold()) for label, name in names], dtype=bool)
    return fits[library.codes[:, place]]


def _among(wanted: str, coded: Coded) -> Mask:
    """Return the rows with a word exactly; where no row can have it, those whose text contains it."""
    wanted, texts = _plain(wanted), [_plain(text) for text in coded.texts]
    fits = np.array([text == wanted for text in texts], dtype=bool)
    if not fits.any():
        fits = np.array([wanted in text for text in texts], dtype=bool)
    found: Mask = fits[coded.codes]
    return found


def _anywhere(word: str, library: Library) -> Mask:
    found: Mask = np.fromiter((word in name.casefold() for name in library.ids), dtype=bool, count=len(library))
    for place, site in enumerate(library.sites):
        fits = np.array([word in name.casefold() for name in site_names(site.substituents)], dtype=bool)
        if fits.any():
            found |= fits[library.codes[:, place]]
    return found


KEPT = 8
"""Substructures whose compounds are remembered."""


@dataclass(frozen=True, eq=False)
class Narrowed:
    """The rows that a filter leaves."""

    text: str
    mask: Mask | None
    """None: all compounds, because it is empty."""


class Narrower(QObject):
    """Narrows by a text: answers at once, or emits ``ready`` when it can."""

    ready = Signal()
    """The answer to the latest request is there, or will not come: ask again."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._job = Latest()
        self._answer: Narrowed | None = None
        self._question: tuple[str, object] = ("", None)
        self._library: Library | None = None
        self.latest = Narrowed("", None)
        """The latest answer about this library, valid until the next one is there."""
        self._having: dict[str, Mask] = {}

    def ask(self, text: str, library: Library, key: object, facts: Callable[[], Facts]) -> Narrowed | None:
        """Return the answer.

        None while it is worked out. ``key``: what ``facts`` are of; another one is another question.
        """
        if library is not self._library:
            self._library, self._having, self.latest = library, {}, Narrowed("", None)
        self._drop(text, key)
        if self._job.busy:
            return None
        if self._answer is None:
            missing = [one for one in patterns(text, library) if one not in self._having]
            if not text.strip():
                self._answer = Narrowed(text, None)
            elif missing or len(library) > AT_ONCE:
                self._work(text, library, facts, missing)
                return None
            else:
                self._answer = self._found(text, library, facts(), self._having)
        self.latest = self._answer
        return self._answer

    @property
    def busy(self) -> bool:
        """Whether an answer is being computed."""
        return self._job.busy

    def _drop(self, text: str, key: object) -> None:
        """Forget the data of another filter."""
        if self._question[0] == text and self._question[1] is key:
            return
        self._question, self._answer = (text, key), None
        self._job.drop()

    def _work(self, text: str, library: Library, facts: Callable[[], Facts], missing: list[str]) -> None:
        smiles, having = library.smiles, dict(self._having)

        def work(report: Report) -> tuple[Narrowed, dict[str, Mask]]:
            for one in missing:
                if smiles is None or not any(smiles):
                    raise AssayPilotError(
                        "no structure is known to look through", mend="Give the table a column of SMILES."
                    )
                held = in_another_process(holding, tuple(smiles), one, report=report)
                having[one] = np.frombuffer(held, dtype=np.uint8).astype(bool)
            return self._found(text, library, facts(), having), having

        def landed(found: tuple[Narrowed, dict[str, Mask]]) -> None:
            self._answer = found[0]
            self._having = dict(list(found[1].items())[-KEPT:])
            self.ready.emit()

        def stopped() -> None:
            self._answer = Narrowed("", None)  # a stopped search does not filter
            self.ready.emit()

        label = "Looking through structures" if missing else "Filtering"
        self._job.start(self._session.arrange(label, work, landed, stopped))

    @staticmethod
    def _found(text: str, library: Library, facts: Facts, having: dict[str, Mask]) -> Narrowed:
        return Narrowed(text, narrow(text, library, facts.numbers, facts.named, facts.coded, having))
