"""The headers of chemists' tables, and those of our own exports when they are read again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

from ..domain.endpoint import CONCENTRATIONS, normalise_unit
from ..system.guarded import LONGEST_HEADER
from .raw import HEADERS, PATTERNS, fold
from .raw import ROLES as ROLES
from .values import narrow

IDS = HEADERS["id"]
"""Headers of the column of compound ids, the surest first."""
STRUCTURES = HEADERS["structure"]
"""Headers of the column of structures."""
SMILES_SHAPE = re.compile(r"(?:Cl|Br|[BCNOPSFIbcnops]|\[[^\]\s]+\]|[-=#$:/\\.~*()@]|%\d\d|\d)+(?:\s|$)")
"""Texts that may be SMILES, by their letters."""
ENDPOINT_NAME = HEADERS["endpoint name"]
"""Headers of the column that names what was measured, where each row is one measurement."""
VALUE = HEADERS["value"]
"""Headers of the column of values, where each row is one measurement."""
CORE = re.compile(r"core|scaffold|(?:structure|smiles) of core")
"""Headers of the column of cores, folded."""
SITE = re.compile(
    r"[\[($]?(?:r ?group |substituent |fragment |position )?r ?(?:group|gruppe)? ?\^?(?P<number>\d+)"
    r"(?P<more>['’′`´]{1,2}|[a-e])?[\])]?"
    r"(?: \(?(?:group|substituent|smiles|smi|structure|fragment|label|name)\)?)?(?: \(\d\))?"
)
"""A site's header, folded: R1, R_2, R-group 3, Rgroup R1, R2 substituent, R3', R4a, [R1], R^2, R1 (SMILES), R2 (2)."""

MEANS = HEADERS["mean"]
"""Names for the mean of determinations."""
_PARTS = ("relation", "unit", "n", "sd", "sem")

_UNIT = PATTERNS["unit"]
_ROW_NUMBER = PATTERNS["row number"]
_AGAIN = re.compile(r" \(\d+\)$")
"""The number that a repeated header carries: N, N (2)."""
UNNAMED_FIRST = "column 1"
_LONG_COUNT = 6
_POTENCY = PATTERNS["potency"]
_PER_TIME = re.compile(r"/ ?(?:s|sec|min|h|hr)\b|\b(?:s|sec|min|h|hr)\^?(?:[-−]1|⁻¹)")
"""The unit of a rate: 1/s, s-1, min^-1."""
_NO_POTENCY = PATTERNS["concentration that is no potency"]
_IN_BRACKETS = re.compile(r"\(([^()\[\]]+)\)|\[([^()\[\]]+)\]")
_UNIT_FIRST = re.compile(r"[(\[](?P<unit>[^()\[\],;]+)[,;]\s*(?P<rest>[^()\[\]]+)[)\]]")
"""A unit with more behind it in its brackets: ``IC50 (µM, 72 h)``."""
_UNIT_WORD = re.compile(r"(?:[\s_]|\s*[/,]\s*)(?P<unit>[A-Za-zµμ]+(?:/[lL])?)(?![^\s_(\[])")
"""A word behind a name that may be its unit, without parentheses."""
_NAMED_INSIDE = re.compile(r"(?P<before>\S.*?)\s*[(\[](?P<inside>[^()\[\]]+)[)\]]")
_LOGARITHM = PATTERNS["negative logarithm of a potency"]
_OF_LOGARITHM = re.compile(
    r"(?P<bare>.*\bp\w+.*?)\s*[(\[]\s*[-−–]?\s*log(?:10)?\s*[(\[]?\s*(?:M|mol/[lL])?\s*[)\]]?\s*[)\]]", re.I
)
_LOG_POTENCY = re.compile(
    r"(?<![A-Za-z])(?<![-−–])(?<![-−–] )(?<!minus )(?<!neg )(?<!negative )(?:log(?:10)?|ln)[\s_(\[]*"
    r"(?:q?(?:ic|ec|ac|gi|xc|cc|dc|ed|lc|tc)[\s_]?\d\d|ki|kd)(?![A-Za-z0-9])",
    re.I,
)
_FUNCTION = re.compile(r"(?P<word>[^()\[\]]*[^()\[\]*\s])\*?\((?P<of>[^=]*[^=\s])\)")
"""A header as pivots write it, with no space before the bracket: ``Avg(pIC50)``, ``Count*(IC50 (nM))``."""
_SPREAD_BEHIND = re.compile(r"\s*(?:±|\+/-|\+-)\s*(?:sd|sem|se|s\.?d\.?|std|error)?\s*$", re.I)
"""The spread after the values that a header announces: ``pIC50 ± SD``."""
_FOOTNOTE = re.compile(r"(?<=[)\]])(?: ?\^?[a-z]| ?[*†‡§]+|[ᵃᵇᶜᵈᵉ])$")
"""The mark of a footnote behind a unit: ``IC50 (nM)a``."""
_NUMBER = re.compile(r"@?\d+(?:[.,]\d+)?")
_PER_CENT = re.compile(r"(?<!\d)(?<!\d )%")  # not the 10 % of serum
_ATOM = PATTERNS["part of a unit"].pattern
_SHAPED_AS_UNIT = re.compile(rf"{_ATOM}(?:\s*[/*·.× ]\s*{_ATOM})*(?:/[a-z]+)?")
"""Units of any kind, as products and quotients; a word or a name in brackets is none."""
_DOSE = re.compile(r"\d+(?:[.,]\d+)?\s*[A-Za-zµμ%]")
_LENGTHS = {"nm": "nanometre"}
_OF_LENGTH = PATTERNS["length"]

_CACHED = 5_000
"""Headers whose parts are cached: columns of wide tables are compared with each other."""


@lru_cache(_CACHED)
def split_unit(header: str) -> tuple[str, str]:
    """Return a header without its unit, and the unit: ``IC50 (nM)``, ``IC50 [nM]``, ``IC50_uM``; "" when it names none.

    Behind a space or an underscore only concentrations count as units, in parentheses anything short does. A dose
    (``% inhibition at 10 uM``, ``(10 uM)``) is no unit, nor is a share (``10 % serum``) or the logarithm of
    ``pIC50 (-log M)``. A text longer than any header is returned as it is.
    """
    if len(header) > LONGEST_HEADER:
        return header, ""
    text = without_date(_FOOTNOTE.sub("", narrow(header).strip()))[0]
    mean = _function_of(text, MEANS)
    if mean is not None:
        return split_unit(mean)
    logarithm = _OF_LOGARITHM.fullmatch(text)
    if logarithm is not None:
        return logarithm["bare"].strip(" _"), ""
    text = _UNIT_FIRST.sub(lambda m: f"({m['rest']}) ({m['unit']})" if is_unit(m["unit"]) else m[0], text)
    groups = list(_IN_BRACKETS.finditer(text))
    # IC50 (nM) (mean): the unit need not stand last; a lone group must, or it is part of the name.
    units = [group for group in groups if is_unit(group[1] or group[2])]
    chosen = units[-1] if units else groups[-1] if groups and groups[-1].end() == len(text) else None
    if chosen is not None and chosen.start() > 0:
        unit = (chosen[1] or chosen[2]).strip()
        bare = " ".join(f"{text[: chosen.start()]} {text[chosen.end() :]}".split()).strip(" _")
        if fold(unit) in _LENGTHS and _OF_LENGTH.search(fold(bare)) is not None:
            return bare, _LENGTHS[fold(unit)]
        if looks_like_concentration(unit):
            return bare, "" if _LOGARITHM.fullmatch(fold(bare)) else normalise_unit(unit)
        shaped = _SHAPED_AS_UNIT.fullmatch(unit) is not None
        if units or (shaped and _DOSE.match(unit) is None and _NUMBER.fullmatch(unit) is None):
            return bare, "%" if "%" in unit else unit
        what, of_it = split_unit(unit)
        if looks_like_concentration(of_it) and _POTENCY.fullmatch(fold(what)):
            return f"{text[: chosen.start()].strip()} {what}{text[chosen.end() :]}", of_it  # hERG (IC50 uM)
    for word in reversed(list(_UNIT_WORD.finditer(text))):
        # IC50_uM, IC50 nM geomean, IC50 uM [mean], IC50 nM (Site B): a dose (at 10 uM) has a number before it.
        bare, rest = text[: word.start()].strip(" _"), text[word.end() :].strip(" _")
        plain = bare and _NUMBER.fullmatch(bare.replace("_", " ").split()[-1]) is None
        if plain and looks_like_concentration(word["unit"]) and (not rest or rest[0] in "([" or fold(rest) in MEANS):
            return f"{bare} {rest}".strip(), normalise_unit(word["unit"])
    return text, "%" if _PER_CENT.search(text) else ""


_DATED = PATTERNS["day or month"]
"""A day or a month in a header, with the marks around it: `` 2025-01-05``, ``_20250105``, ``(12-Jan-25)``."""


def without_date(header: str) -> tuple[str, str]:
    """Return a header without the day of its measurements, and that day; "" where it names none, or nothing else."""
    match = _DATED.search(header) if len(header) <= LONGEST_HEADER else None
    if match is None:
        return header, ""
    bare = " ".join(f"{header[: match.start()]} {header[match.end() :]}".split()).strip(" _-,;:")
    return (bare, match["date"]) if bare else (header, "")


def _function_of(header: str, words: Iterable[str]) -> str | None:
    """Return the argument of one of the functions ``words`` in a header: ``pIC50`` of ``Avg(pIC50)``; else None."""
    found = _FUNCTION.fullmatch(narrow(header).strip()) if len(header) <= LONGEST_HEADER else None
    return found["of"] if found is not None and fold(found["word"]) in words and not is_unit(found["of"]) else None


def looks_like_concentration(unit: str) -> bool:
    """Whether a unit is one of mol/L; a lone small ``m`` is a metre, not a molar."""
    return unit.strip() != "m" and normalise_unit(unit) in CONCENTRATIONS


def looks_like_potency(name: str, unit: str = "") -> bool:
    """Whether smaller concentrations of this are better and its negative logarithm is what chemists model."""
    folded = fold(name)
    if is_log_concentration(name) or is_rate(unit):
        return False
    if _POTENCY.fullmatch(folded):
        return not folded.startswith(("p ", "log ", "log10 ", "ln "))
    return looks_like_concentration(unit) and _NO_POTENCY.fullmatch(folded) is None


def with_logarithm(name: str) -> str:
    """Return ``BACE1 Ki (pKi)`` as ``BACE1 pKi``: the text in parentheses describes the values."""
    match = _NAMED_INSIDE.fullmatch(name)
    if match is None or _LOGARITHM.fullmatch(fold(match["inside"])) is None:
        return name
    words = match["before"].split()
    kept = words[:-1] if fold(words[-1]) == fold(match["inside"]).removeprefix("p").strip() else words
    return " ".join([*kept, match["inside"]])


def is_rate(unit: str) -> bool:
    """Whether a unit is one over a time: kd (1/s) is a rate of dissociation, and no potency."""
    return _PER_TIME.search(unit) is not None


def is_log_concentration(header: str) -> bool:
    """Whether a column has logarithms of concentrations, where potent is low: logIC50, Log EC50."""
    return _LOG_POTENCY.search(narrow(header)) is not None


def looks_like_activity(header: str) -> bool:
    """Whether a header alone shows that its column has potencies, as concentrations or their logarithms."""
    bare, unit = split_unit(header)
    folded = fold(bare)
    return not is_rate(unit) and (
        looks_like_potency(bare, unit)
        or is_log_concentration(header)
        or _LOGARITHM.fullmatch(folded) is not None
        or _POTENCY.fullmatch(folded.removeprefix("p").strip()) is not None
    )


def is_row_number(header: str, values: list[str]) -> bool:
    """Whether a column of numbers only counts or names rows: consecutive integers, registry numbers, such a header."""
    if not all(re.fullmatch(r"\d+(?:\.0*)?", text) for text in values):
        return False
    if _ROW_NUMBER.fullmatch(fold(header)) or fold(header) in IDS:
        return True
    if looks_like_activity(header):
        return False
    numbers = [int(float(text)) for text in values]
    # Three values of 1, 2, 3 may be an activity; a longer count from 0 or 1 hardly is.
    consecutive = len(numbers) >= _LONG_COUNT and numbers[0] in (0, 1) and all(b - a == 1 for a, b in pairwise(numbers))
    different = len(set(numbers)) == len(numbers)
    # Programs write the places of rows in a first column without a header.
    return consecutive or (different and (min(numbers) >= 100_000 or header == UNNAMED_FIRST))


@lru_cache(_CACHED)
def role_of(header: str) -> str | None:
    """Return the role of a side column by its header alone, with or without a unit; None when it has none."""
    plain = _AGAIN.sub("", header)
    named = {fold(plain), fold(split_unit(plain)[0])}
    return next((role for role, names in ROLES.items() if not named.isdisjoint(names)), None)


@lru_cache(_CACHED)
def bases(header: str) -> tuple[str, ...]:
    """Return the names that this column's side columns may use, folded: ``Mean IC50 (nM)`` is also ``ic50``."""
    if len(header) > LONGEST_HEADER:
        return (fold(header),)
    bare = split_unit(header)[0]
    within = _function_of(header, MEANS) or header
    spreadless = (_SPREAD_BEHIND.sub("", text) for text in (header, bare))
    folded = [fold(text) for text in (header, within, bare, *spreadless)]
    texts = dict.fromkeys([*folded, *map(_unbracketed, folded)])
    return tuple(dict.fromkeys([*texts, *(_without(text, (*MEANS, *VALUE)) or text for text in texts)]))


def _without(folded: str, words: Iterable[str]) -> str:
    """Return a header without one of the words, which is at its start, at its end or in brackets.

    "" without such a word, or without anything else.
    """
    for word in sorted(words, key=len, reverse=True):
        for end in (f" {word}", f"({word})", f"[{word}]"):
            if folded.endswith(end) and (rest := folded.removesuffix(end).strip()):
                return rest
        if folded.startswith(f"{word} ") and len(word) > 1:
            return folded.removeprefix(f"{word} ").removeprefix("of ")
    return ""


def _unbracketed(folded: str) -> str:
    """Return a header without its brackets: ``jak2 ic50 sd`` for ``jak2 [ic50 sd]``."""
    return " ".join(re.sub(r"[()\[\]]", " ", folded).split())


@lru_cache(_CACHED)
def role_within(header: str) -> tuple[str, str] | None:
    """Return the name (folded) that a header has besides the word of a side column, and the column's role.

    ``IC50 SD`` and ``SD of IC50 (nM)`` are (``ic50``, ``sd``); ``IC50 (nM) SD`` is (``ic50 (nm)``, ``sd``); None when
    there is no such word, or nothing else.
    """
    for role in _PARTS:
        name = _function_of(header, ROLES[role])
        if name is not None:
            return fold(name), role
    texts = (fold(header), fold(split_unit(header)[0]), _unbracketed(fold(header)))
    for text in dict.fromkeys(texts):
        for role in _PARTS:
            if name := _without(text, ROLES[role]):
                return name, role
    return None


def is_mean(text: str) -> bool:
    """Whether a header only means that its column has the values themselves: mean, value, result."""
    return fold(text) in (*MEANS, *VALUE)


def mean_of(header: str) -> str:
    """Return the folded name of what a header means the mean of: ``ic50`` of ``IC50 (mean)``; "" for no mean."""
    return fold(_function_of(header, MEANS) or "") or _without(fold(header), MEANS)


def is_unit(text: str) -> bool:
    """Whether a text is a unit and nothing else: nM, (µM), %, mg/mL."""
    bare = text.strip().strip("()[]").strip()
    return looks_like_concentration(bare) or _UNIT.fullmatch(bare) is not None


def is_part(text: str) -> bool:
    """Whether a header names only the part of a result in its column: mean, SD, N, a unit."""
    return is_mean(text) or role_of(text) in _PARTS or is_unit(text)


def is_known(text: str) -> bool:
    """Whether a text is a header that chemists use: an id, a structure, a site, a potency, a side column."""
    bare = fold(split_unit(text)[0])
    if bare in IDS or bare in STRUCTURES or bare in ENDPOINT_NAME or bare in VALUE or CORE.fullmatch(bare):
        return True
    return SITE.fullmatch(bare) is not None or role_of(text) is not None or looks_like_activity(text)


# All names are folded (lower case, single spaces for . _ and -), without a unit and without "#" or "number of".
_COMPUTED = PATTERNS["computed"]
_PREDICTED = PATTERNS["predicted"]
_MEASURED = PATTERNS["measured"]
_NUMBER_OF = re.compile(r"(?:#|(?:number of|no of|count of|num|nr|nb|n) ?(?=[a-z]))\s*")
_GLUED = PATTERNS["computed, in one word"]
_OF_MODULE = re.compile(r"[bir]_(?!(?:user|sd|m|csv)_)[a-z]+_.+")
"""Results of a modelling suite's modules; their names begin with the kind of value and the module."""
_FIT = PATTERNS["detail of a fit"]
_KEPT = PATTERNS["how rows are handled"]


def is_property(header: str) -> bool:
    """Whether a column is computed, looked up or a price, not measured: MW, cLogP, TPSA, price."""
    folded = fold(split_unit(header)[0])
    if _PREDICTED.search(folded) or _OF_MODULE.fullmatch(header) or _GLUED.fullmatch(folded):
        return True
    if _MEASURED.search(folded) is not None:
        return False
    bare = _NUMBER_OF.sub("", folded, count=1) if _NUMBER_OF.match(folded) else folded
    return any(text and _COMPUTED.fullmatch(text) is not None for text in (folded, bare))


def is_of_fit(header: str) -> bool:
    """Whether a column is a detail of a curve fit besides its value: a Hill slope, R2, a confidence limit."""
    folded = fold(split_unit(_AGAIN.sub("", header))[0])
    return _FIT.fullmatch(_unbracketed(folded)) is not None


def is_about_rows(header: str) -> bool:
    """Whether a column of numbers is about handling rows, not about measurements: a priority, a fold."""
    return _KEPT.fullmatch(fold(split_unit(header)[0])) is not None


_MARKS = ("status", "evidence", "availability")
"""Headers of every export with all its columns."""
_WITHOUT_VALUES = frozenset(
    (*_MARKS, "decided in round", "why out", "goal", "guarantee", "program", "exported", "events", "campaign head")
)
_BETWEEN = ("smiles", "name", "picture")
"""Columns between the ids and the sites."""
_CHANCE = re.compile(r"p\(.*\)")
_NOISE = re.compile(r"assay noise \(sd\)(?: of .*)?")
_BOUND = re.compile(r"(?P<of>.+) (?:low|high|estimate)")


def is_export(columns: Sequence[str]) -> bool:
    """Whether these are the headers of a shortlist that this program wrote, with all its columns."""
    found = set(map(fold, columns))
    return "id" in found and found.issuperset(_MARKS)


def export_sites(columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of sites in an export, which are between id and status; none where they were moved."""
    if not is_export(columns):
        return ()
    folded = list(map(fold, columns))
    between = columns[folded.index("id") + 1 : folded.index("status")]
    return tuple(name for name in between if fold(name) not in _BETWEEN)


def export_columns(columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of an export without values.

    Status, probabilities, bounds, and where the file comes from.
    """
    if not is_export(columns):
        return ()
    estimates = {fold(name).removesuffix(" estimate") for name in columns if fold(name).endswith(" estimate")}
    return tuple(name for name in columns if _has_no_values(fold(name), estimates))


def _has_no_values(folded: str, estimates: set[str]) -> bool:
    bound = _BOUND.fullmatch(folded)
    return (
        folded in _WITHOUT_VALUES
        or _CHANCE.fullmatch(folded) is not None
        or _NOISE.fullmatch(folded) is not None
        or (bound is not None and bound["of"] in estimates)
    )
