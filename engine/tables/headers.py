"""What the headers of chemists' tables mean: ids, structures, sites, potencies with units, side columns."""

from __future__ import annotations

import re
from itertools import pairwise

from assaypilot.engine.endpoint import CONCENTRATIONS, normalise_unit
from assaypilot.engine.tables.raw import fold

__all__ = [
    "ENDPOINT_NAME",
    "IDS",
    "ROLES",
    "SITE",
    "STRUCTURES",
    "VALUE",
    "is_property",
    "is_row_number",
    "looks_like_activity",
    "looks_like_concentration",
    "looks_like_potency",
    "role_of",
    "split_unit",
]

# All names are folded: lower case, single spaces.
IDS = (
    "id",
    "compound id",
    "cmpd id",
    "molecule id",
    "mol id",
    "molecule chembl id",
    "chembl id",
    "cpd",
    "cpd id",
    "compound",
    "cmpd",
    "compound name",
    "molecule name",
    "name",
)
"""Headers of the column of compound ids, the surest first."""
STRUCTURES = ("smiles", "canonical smiles", "cxsmiles", "mol", "molecule", "structure", "struc")
"""Headers of the column of structures."""
ENDPOINT_NAME = ("endpoint", "standard type", "assay", "readout")
"""Headers of the column that names what was measured, where each row is one measurement."""
VALUE = ("value", "standard value", "result", "measured value")
"""Headers of the column of values, where each row is one measurement."""
SITE = re.compile(r"r ?(?:group)? ?(\d+)")
"""A site's header, folded: R1, R_2, R-group 3."""

ROLES = {
    "relation": ("relation", "qualifier", "operator", "standard relation", "modifier", "prefix"),
    "unit": ("unit", "units", "standard units", "standard unit"),
    "n": ("n", "count", "replicates", "n replicates", "determinations"),
    "sd": ("sd", "stdev", "std", "std dev", "standard deviation"),
    "round": ("round", "round no", "round number"),
    "replicate": ("replicate", "rep"),
    "date": ("date", "assay date", "test date", "date tested"),
    "plate": ("plate", "plate id", "plate barcode"),
    "well": ("well", "well id", "position"),
    "batch": ("batch", "batch id", "lot", "lot id"),
    "comment": ("comment", "comments", "remark", "remarks", "note", "notes"),
    "excluded": ("excluded", "exclude", "outlier", "rejected"),
    "available": ("available", "makeable", "measurable"),
}
"""Side columns by what they hold."""

_PROPERTIES = re.compile(
    r"(?:mw|mol ?w(?:eight|t)?|molecular weight|exact mass|c ?log ?[pd]|a ?log ?[pd]|x ?log ?p|s ?log ?p|log ?[pd]|"
    r"t?psa|hb[da]|h bond (?:donors|acceptors)|(?:n )?heavy atoms?|hac|rot(?:atable)? ?b(?:onds)?|rings?|qed|fsp3|"
    r"l?le|lle|lipe|price|costs?|stock|amount|molar mass)(?: .*)?"
)
_ROW_NUMBER = re.compile(
    r"(?:#|no|nr|number|index|idx|row|row (?:no|number|id)|column|col|.* (?:id|no|nr|number)|cas.*)"
)
_LONG_COUNT = 6
_POTENCY = re.compile(
    r"(?:.* )?(?:(?:ic|ec|ac|gi|xc|cc|dc|ed|lc|sc|tc|tgi|mic|mec)[ _]?\d\d|mic|ki|kd|k i|k d|potency)(?: .*)?"
)
_NO_POTENCY = re.compile(
    r".*(?:solub|conc|dose|c ?max|c ?min|exposure|plasma|auc|permeab|papp|free|level|excretion|vmax|top).*"
)
_UNIT_IN_HEADER = re.compile(r"(?P<bare>.+?)\s*(?:\((?P<a>[^()]+)\)|\[(?P<b>[^\[\]]+)\]|[\s_](?P<c>[A-Za-zµμ]+))")


def split_unit(header: str) -> tuple[str, str]:
    """A header without its unit, and the unit: ``IC50 (nM)``, ``IC50 [nM]``, ``IC50_uM``; "" when it names none.

    Behind a space or an underscore only concentrations count as units, in parentheses anything short does.
    """
    match = _UNIT_IN_HEADER.fullmatch(header.strip())
    if match is None:
        return header.strip(), ""
    unit = (match["a"] or match["b"] or match["c"]).strip()
    if looks_like_concentration(unit):
        return match["bare"].strip(" _"), normalise_unit(unit)
    if match["c"] is None and len(unit) <= 12 and not unit.isdigit():
        return match["bare"].strip(" _"), unit
    return header.strip(), ""


def looks_like_concentration(unit: str) -> bool:
    """Whether a unit is one of mol/L; a lone small ``m`` is a metre, not a molar."""
    return unit.strip() != "m" and normalise_unit(unit) in CONCENTRATIONS


def looks_like_potency(name: str, unit: str = "") -> bool:
    """Whether smaller concentrations of this are better and its negative logarithm is what chemists model."""
    folded = fold(name)
    if _POTENCY.fullmatch(folded):
        return not folded.startswith(("p ", "log ", "log10 ", "ln "))
    return looks_like_concentration(unit) and _NO_POTENCY.fullmatch(folded) is None


def looks_like_activity(header: str) -> bool:
    """Whether a header alone says that its column holds potencies, as concentrations or their logarithms."""
    bare, unit = split_unit(header)
    folded = fold(bare)
    return looks_like_potency(bare, unit) or _POTENCY.fullmatch(folded.removeprefix("p").strip()) is not None


def is_property(header: str) -> bool:
    """Whether a column holds what is computed or paid, not measured: MW, cLogP, TPSA, price."""
    return _PROPERTIES.fullmatch(fold(split_unit(header)[0])) is not None


def is_row_number(header: str, values: list[str]) -> bool:
    """Whether a column of numbers only counts or names rows: consecutive integers, registry numbers, such a header."""
    if not all(re.fullmatch(r"\d+(?:\.0*)?", text) for text in values):
        return False
    if _ROW_NUMBER.fullmatch(fold(header)):
        return True
    numbers = [int(float(text)) for text in values]
    # Three values of 1, 2, 3 may be an activity; a longer count from 0 or 1 hardly is.
    consecutive = len(numbers) >= _LONG_COUNT and numbers[0] in (0, 1) and all(b - a == 1 for a, b in pairwise(numbers))
    registry = len(set(numbers)) == len(numbers) and min(numbers) >= 100_000
    return consecutive or registry


def role_of(header: str) -> str | None:
    """What a side column holds by its header alone; None when it is no side column."""
    # A repeated header carries a number: N, N (2).
    folded = fold(re.sub(r" \(\d+\)$", "", header))
    return next((role for role, names in ROLES.items() if folded in names), None)
