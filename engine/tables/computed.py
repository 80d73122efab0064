"""Headers of columns that hold numbers nobody measures for a decision: computed properties, details of curve fits."""

from __future__ import annotations

import re

__all__ = ["is_bookkeeping", "is_computed", "is_fit_detail"]

# All names are folded (lower case, single spaces for . _ and -), without a unit and without "#" or "number of".
_COMPUTED = re.compile(
    r"(?:mw|mol ?w(?:eigh)?t?|(?:exact|monoisotopic|molar|molecular|average|total|parent)(?: molecular)? "
    r"(?:mass|mol ?weight|weight)|"
    r"(?:[caxsmwi]|mol|cx|qp|calc|calculated|predicted|crippen|consensus)? ?log ?p(?: ?\d+)?|"
    r"(?:[caxm]|cx|qp|calc|calculated|predicted|acd|consensus) ?log ?d(?: ?\d+)*|"
    r"(?:c|calc|calculated|predicted|qp|esol) ?log ?[sw]|"
    r"(?:t|relative|topological)? ?psa|(?:topological )?polar surface area|total surface area|labute asa|"
    r"h ?b ?[da]\d?|h(?:ydrogen)?(?: ?bond)? ?(?:donors?|acceptors?)|"
    r"(?:heavy|hetero|non h|aromatic|stereo)? ?atoms?|hac|rot(?:at?able)? ?b(?:onds?)?|rotors?|"
    r"(?:aromatic|aliphatic|saturated|small|(?:hetero|carbo)(?: ?aromatic)?)? ?rings?|"
    r"(?:stereo ?|chiral )cent(?:er|re)s?|"
    r"qed|fsp ?3|(?:fraction|fr|frac) ?c? ?sp ?3|molar refractivity|formal charge|net charge|"
    r"ro ?[35]|rule of (?:five|5|three|3)|(?:(?:ro ?5|lipinski|veber|ghose|rule) ?)?violations?|"
    r"(?:(?:structural|rule) ?)?alerts?|pains|"
    r"l?le|lle|lipe|lelp|[bs]ei|fq|ligand (?:lipophilic(?:ity)? )?efficiency|lipophilic (?:ligand )?efficiency|"
    r"np ?likeness(?: score)?|drug ?likeness|drug ?score|sa ?score|synthetic accessibility(?: score)?|"
    r"shape index|molecular (?:flexibility|complexity)|(?:cns )?mpo(?: score)?|"
    r"(?:cx )?(?:(?:most|strongest) )?(?:acidic|basic) pka|(?:calc(?:ulated)?|predicted|c) ?pka|"
    r"(?:(?:glide|xp|sp|vina) )?(?:docking|g ?score|vina)(?: score)?|mm ?gbsa|"
    r"(?:tanimoto|ecfp|tversky) ?\w*|similarity|inorganic flag|max phase|(?:document |publication )?year|"
    r"price|costs?|stock|lead(?: time)?|delivery|amount|(?:(?:hplc|lcms|uv) )?purity|melting point)"
    r"(?: count)?(?: .*)?"
)
_PREDICTED = re.compile(r"\b(?:theor(?:etical)?|predicted|predictions?|pred|calculated|simulated)\b")
_MEASURED = re.compile(r"\b(?:measured|meas|exp|experimental|observed|obs|chrom\w*|shake ?flask|elogd?|pka measured)\b")
_NUMBER_OF = re.compile(r"(?:#|(?:number of|no of|count of|num|nr|nb|n) ?(?=[a-z]))\s*")
_GLUED = re.compile(
    r"(?:num|n)?(?:h(?:donors|acceptors)|(?:heavy|hetero)atoms?(?:count)?|rot(?:at?able)?bonds?(?:count)?|"
    r"(?:aromatic|aliphatic|saturated)?(?:carbocycles|heterocycles|rings?)(?:count)?|molweight|mollogp|fractioncsp3|"
    r"exactmw|exactmolwt|ringcount|stereocenters|lipinskihb[ad]|amw)"
)
_OF_MODULE = re.compile(r"[bir]_(?!(?:user|sd|m|csv)_)[a-z]+_.+")
"""What a module of a modelling suite calculated; its names begin with the kind of value and the module."""
_LOW_OR_HIGH = r"(?:low(?:er)?|high(?:er)?|up(?:per)?|min|max)"
_INTERVAL = r"(?:ci|cl|conf(?:idence)?(?: (?:interval|limit))?)"
_FIT = re.compile(
    r"(?:.* )?(?:n ?hill|hill(?: ?(?:slope|coefficient|coeff?))?|slope|r2|r\^2|r ?sq(?:uared?)?|chi2?|curve ?class|"
    r"fit ?(?:quality|error)|(?:bottom|top|lower|upper) (?:asymptote|plateau)|z'?(?: ?(?:prime|factor))|"
    r"(?:top|max(?:imum)?|highest|lowest|min(?:imum)?|start(?:ing)?) ?(?:conc\w*|dose)(?: tested)?|"
    r"nac50|s ?0|s ?inf(?:inity)?|\S.* ?(?:\+/-?|±)|"
    rf"(?:\d\d ?% ?)?{_INTERVAL} ?(?:\d\d ?%? ?)?{_LOW_OR_HIGH}|"
    rf"{_LOW_OR_HIGH} ?(?:\d\d ?% ?)?(?:{_INTERVAL}|limit|bound)(?: \d\d ?%)?)"
)
_KEPT = re.compile(
    r"priority|scaffold|series|chemotype|(?:cv |scaffold )?(?:fold|split)|(?:butina )?cluster(?: size)?|"
    r"random(?: seed)?|seed|rank"
)


def is_computed(folded: str, header: str = "") -> bool:
    """Whether a folded header, without its unit, is that of a property that is computed, looked up or paid."""
    if _PREDICTED.search(folded) or _OF_MODULE.fullmatch(header) or _GLUED.fullmatch(folded):
        return True
    if _MEASURED.search(folded) is not None:
        return False
    bare = _NUMBER_OF.sub("", folded, count=1) if _NUMBER_OF.match(folded) else folded
    return any(text and _COMPUTED.fullmatch(text) is not None for text in (folded, bare))


def is_fit_detail(folded: str) -> bool:
    """Whether a folded header is that of what a fit says beside its value: a Hill slope, R2, a confidence limit."""
    plain = " ".join(re.sub(r"[()\[\]]", " ", folded).split())
    return _FIT.fullmatch(plain) is not None


def is_bookkeeping(folded: str) -> bool:
    """Whether a folded header is that of how rows are handled: a scheduler's priority, the fold of a validation."""
    return _KEPT.fullmatch(folded) is not None
