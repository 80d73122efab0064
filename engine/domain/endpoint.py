"""Endpoints: unit, scale of the model, better direction, and assay noise."""

from __future__ import annotations

import math
import re
from dataclasses import asdict, dataclass
from typing import Any, Literal

from ..errors import AssayPilotError
from . import kinds
from .desirability import Curve

Direction = Literal["max", "min"]
Kind = Literal["value", "yes-no", "count"]
Transform = Literal["none", "log"]
Relation = Literal["=", "<", ">"]

CONCENTRATIONS = {"M": 1.0, "mM": 1e-3, "µM": 1e-6, "nM": 1e-9, "pM": 1e-12}
"""Concentration units in mol/L."""

_SPELLINGS = {
    "mol/l": "M",
    "um": "µM",
    "µm": "µM",
    "μm": "µM",
    "micromolar": "µM",
    "nm": "nM",
    "nanomolar": "nM",
    "pm": "pM",
    "picomolar": "pM",
    "millimolar": "mM",
    "molar": "M",
    "mmol/l": "mM",
    "umol/l": "µM",
    "µmol/l": "µM",
    "μmol/l": "µM",
    "nmol/l": "nM",
    "pmol/l": "pM",
}

_LOG_SPAN = 50.0
"""No logarithm of a measured quantity is further from 0 than this."""
_LARGEST = 1e150
"""The square of anything larger is no number in floating point."""
_NOISE_SPAN = (1e-9, 1e9)
_EDGES = " _,;:/-"
"""Separators between a name and its unit."""

FLIPPED: dict[Relation, Relation] = {"=": "=", "<": ">", ">": "<"}


_POTENCY = re.compile(r"\bp(?:(?:IC|EC)\d|K[id]\b)", re.IGNORECASE)
"""The negative logarithm of a potency, anywhere in a name: ``hERG pIC50``."""
_LOGARITHM = re.compile(
    r"(?:.*[\s_-])?"
    r"(?:p(?:(?:ic|ec|ac|gi|xc|cc|dc|ed|lc|tc|sc)[ _]?\d\d|ki|kd|a2|kb|chembl|activity|potency|affinity)|"
    r"c?log[ _]?(?:[dpskw]|bb|10))"
    r"(?:[\s_(,].*)?",
    re.I,
)
"""Names of quantities that are logarithms as they are entered: pIC50, hERG pKi, logD."""
_PERCENTAGES = frozenset({"yield", "conversion", "inhibition", "percent", "viability", "remaining", "bound"})
"""Words in the names of endpoints that are percentages."""
_AMOUNT = re.compile(
    r"solub|löslich|loeslich|(?<![a-z])(?:aq|kin|thermo|k|t)?sol(?![a-z])|f[ae]ss[ig]f|"
    r"c ?max|exposure|plasma|trough|free conc",
    re.I,
)
"""Names of concentrations of which much is meant, and the logarithm is not a negative one."""
_LIMIT = re.compile(r"\s*(<=|>=|<|>|≤|≥)\s*(\S.*?)\s*")
_AS_TYPED = {"≤": "<=", "≥": ">="}


class UnitMismatch(AssayPilotError):
    """A value has a unit that cannot be converted to its endpoint's."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit on a compound's mean: ``<5``, ``>=6``; in the endpoint's entry unit, like values in tables."""

    relation: Literal["<", "<=", ">", ">="]
    value: float

    def __post_init__(self) -> None:
        if self.relation not in ("<", "<=", ">", ">="):
            raise AssayPilotError(f"a limit needs <, <=, > or >=, got {self.relation!r}", option="--endpoint")
        if not math.isfinite(self.value):
            raise AssayPilotError(f"a limit must be a number, got {self.value}", option="--endpoint")

    @classmethod
    def parse(cls, text: str) -> Limit:
        """Return the limit of a text like ``<5``, ``>= 6`` or ``<0,3``; AssayPilotError for any other text."""
        match = _LIMIT.fullmatch(text)
        try:
            value = float(match[2].replace(",", ".")) if match else math.nan
        except ValueError:
            value = math.nan
        if match is None or not math.isfinite(value):
            raise AssayPilotError(f"{text.strip()!r} is no limit", option="--endpoint", mend="For example <5 or >=6.")
        sign = _AS_TYPED.get(match[1], match[1])
        return cls("<=" if sign == "<=" else ">=" if sign == ">=" else "<" if sign == "<" else ">", value)

    @property
    def text(self) -> str:
        """``< 5``."""
        return f"{self.relation} {self.value:.10g}"


def normalise_unit(unit: str) -> str:
    """Return a concentration unit in its usual spelling (``uM`` becomes ``µM``); any other unit as it is."""
    text = unit.strip()
    # M and mM only as written: m and mm are lengths. No table has micrometres, but many spell µM as um.
    return text if text in CONCENTRATIONS else _SPELLINGS.get(text.casefold(), text)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One measured quantity. Noise, bounds and estimates live on the *model scale*, table values in the entry unit.

    With ``transform="log"`` a concentration is modelled as -log10(mol/L) (IC50 in nM: 9 - log10), any other
    quantity, solubilities and exposures too, as log10. ``direction`` is the better side on the model scale.
    """

    name: str
    """As in the table's header."""
    unit: str = ""
    """The unit of entered values; empty when there is none."""
    transform: Transform = "none"
    direction: Direction = "max"
    noise_sd: float | None = None
    """SD between independent measurements of one compound, on the model scale; None when not known."""
    wells_per_measurement: int = 1
    """Wells one measurement takes on a plate (a 10-point duplicate curve: 20)."""
    epsilon: float | None = None
    """The difference that does not matter for this endpoint, model scale; None when it was not given."""
    limit: Limit | None = None
    """The limit of every compound's mean, in the entry unit; None without one."""
    of: tuple[str, ...] | None = None
    """The names of the endpoints it is calculated from; None: measured.

    Of the two whose difference it is, first minus second on the model scale; or of those that a profile has curves of.
    Its noise is that of a measurement of each; see ``difference`` and ``desirability``.
    """
    noise_estimated: bool = False
    """Whether the noise is not known but estimated on the way; ``noise_sd`` is then a guess that plans start from."""
    kind: Kind = "value"
    """The kind of a measurement: a plain value, a yes (1) or no (0), or a count of events; see ``kinds``."""
    words: tuple[str, str] | None = None
    """Words of the table for yes and no, the desired one first: ``("active", "inactive")``; None for 1 and 0."""
    curves: tuple[Curve, ...] = ()
    """Of a profile the curves, one for each endpoint it is calculated ``of``; empty for all others."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "unit", normalise_unit(self.unit))
        if self.kind != "value" or self.words is not None:
            kinds.check(self)
        if self.kind != "value" and self.noise_sd is None:
            object.__setattr__(self, "noise_sd", kinds.NOISE[self.kind])
        if self.of is not None and (self.unit or self.transform != "none" or self.wells_per_measurement != 1):
            raise AssayPilotError(
                f"{self.name} is calculated from other endpoints: it has no unit, transform or wells of its own",
                option="--endpoint",
                mend=f"Say them of {' and '.join(self.of)}.",
            )
        if self.transform not in ("none", "log"):
            raise AssayPilotError(f"transform must be log or none, got {self.transform!r}", option="--endpoint")
        if self.direction not in ("max", "min"):
            raise AssayPilotError(f"direction must be max or min, got {self.direction!r}", option="--endpoint")
        if self.noise_sd is not None and not (math.isfinite(self.noise_sd) and self.noise_sd > 0):
            raise AssayPilotError(
                f"assay noise (SD) of {self.name} must be a number > 0 in {self.scale_name} units, got {self.noise_sd}",
                option="--sd",
                mend="Give the SD between independent measurements of the same compound, for example 0.2.",
            )
        if self.noise_sd is not None and not _NOISE_SPAN[0] <= self.noise_sd <= _NOISE_SPAN[1]:
            size = "small" if self.noise_sd < 1.0 else "large"
            raise AssayPilotError(
                f"assay noise (SD) of {self.name} is too {size} to be real: {self.noise_sd:g} in {self.scale_name} "
                f"units (it must be between {_NOISE_SPAN[0]:g} and {_NOISE_SPAN[1]:g})",
                option="--sd",
                mend="Give the SD between independent measurements of the same compound, for example 0.2, and check "
                "the unit of the values.",
            )
        if self.wells_per_measurement < 1:
            raise AssayPilotError(
                f"wells_per_measurement must be 1 or more, got {self.wells_per_measurement}", option="--endpoint"
            )
        if self.epsilon is not None and not (math.isfinite(self.epsilon) and self.epsilon >= 0):
            raise AssayPilotError(
                f"epsilon of {self.name} must be a number >= 0 in {self.scale_name} units, got {self.epsilon}",
                option="--endpoint",
                mend="It is the difference that does not matter; leave it out when every one does.",
            )
        if self.limit is not None:
            try:
                self.to_model(self.limit.value)
            except AssayPilotError as error:  # it has no logarithm, or cannot be measured
                raise AssayPilotError(
                    f"the limit of {self.name} cannot be: {error.message}",
                    option="--endpoint",
                    mend=f"Give the limit in the unit of the values{f', {self.unit}' if self.unit else ''}.",
                ) from error

    @property
    def noise_text(self) -> str:
        """The noise SD in words; empty where it is not known."""
        return "" if self.noise_sd is None else f"{self.noise_sd:.3g}"

    @property
    def ends(self) -> tuple[float, float] | None:
        """Bounds that means hardly exceed, model scale and larger is better: 0 to 100 of a percentage; else None."""
        words = set(re.split(r"[^a-z%]+", self.name.casefold()))
        if self.transform != "none" or self.kind != "value" or self.of is not None:
            return None
        if self.unit != "%" and "%" not in self.name and not words & _PERCENTAGES:
            return None
        return (0.0, 100.0) if self.direction == "max" else (-100.0, 0.0)

    @property
    def is_difference(self) -> bool:
        """Whether it is the difference of two others."""
        return self.of is not None and not self.curves

    @property
    def is_potency(self) -> bool:
        """Whether a concentration is modelled as its negative logarithm."""
        return self.transform == "log" and self.unit in CONCENTRATIONS and _AMOUNT.search(self.name) is None

    @property
    def scale_name(self) -> str:
        """The name of the modelled quantity: ``pIC50`` for an IC50 in nM, else the endpoint's own or its log10."""
        if self.is_potency:
            bare = self.name.split("(")[0].split("[")[0].strip(_EDGES)
            for unit in ("nM", "uM", "µM", "mM", "pM", "M"):
                for sign in "_ ,/":
                    bare = bare.removesuffix(f"{sign}{unit}")
            return f"p{bare.strip(_EDGES).removesuffix(' in') or self.name}"
        if self.kind == "yes-no":
            return kinds.chance_name(self)
        return f"log10 {self.name}" if self.transform == "log" else self.name

    @property
    def scale_unit(self) -> str:
        """The unit of differences on the model scale: ``log`` or the entry unit."""
        log = self.transform == "log" or self.is_difference or _POTENCY.search(self.name) is not None
        return "log" if log else self.unit

    @property
    def is_log(self) -> bool:
        """Whether it is modelled as a logarithm, by its transform, its unit or its name."""
        return self.scale_unit == "log" or (not self.unit and _LOGARITHM.fullmatch(self.name) is not None)

    @property
    def sign(self) -> float:
        """+1 when larger is better on the model scale, -1 when smaller is."""
        return 1.0 if self.direction == "max" else -1.0

    def to_model(self, value: float, unit: str | None = None) -> float:
        """Return a table value on the model scale; ``unit`` overrides the endpoint's when a row has its own.

        Raises AssayPilotError when the value has no logarithm, the unit cannot be converted, or no measurement can
        be that large or small.
        """
        if not math.isfinite(value):
            raise AssayPilotError(f"{value} is not a finite number", column=self.name)
        kinds.check_value(self, value)
        own = self.unit if unit is None or not unit.strip() else normalise_unit(unit)
        converted = value
        if own != self.unit:
            if own not in CONCENTRATIONS or self.unit not in CONCENTRATIONS:
                raise UnitMismatch(
                    f"unit {own or '(none)'} cannot be converted to {self.unit or '(none)'}", column=self.name
                )
            converted = value * (CONCENTRATIONS[own] / CONCENTRATIONS[self.unit])
        if self.transform == "log" and value <= 0:
            question = ": is it below the limit of quantitation? Then write < and that limit" if value == 0 else ""
            raise AssayPilotError(f"{value:g} has no logarithm{question or ' (must be > 0)'}", column=self.name)
        if not (0.0 < abs(converted) <= _LARGEST or value == 0.0):
            raise self._absurd(value, own)
        if self.transform == "none":
            on_model = converted
        elif self.is_potency:
            # 9 is exact, the logarithm of 1e-9 is not; sums of logarithms, as the product could vanish.
            shift = 9.0 if self.unit == "nM" else -math.log10(CONCENTRATIONS[self.unit])
            on_model = shift - math.log10(converted)
        else:
            on_model = math.log10(converted)
        if self.scale_unit == "log" and abs(on_model) > _LOG_SPAN:
            raise self._absurd(value, own)
        return on_model

    def _absurd(self, value: float, unit: str) -> AssayPilotError:
        """Return the refusal of a value that cannot have been measured."""
        if self.transform == "none" and self.scale_unit == "log":
            mend = f"A value is expected between {-_LOG_SPAN:g} and {_LOG_SPAN:g}; was it meant as a concentration?"
        else:
            mend = "Check the value and its unit."
        # {:g} writes 1e+08; people write 1e8.
        number = f"{value:g}".replace("e+0", "e").replace("e+", "e")
        amount = f"{number} {unit}".strip()
        return AssayPilotError(f"{amount} is no {self.name}", column=self.name, mend=mend)

    def from_model(self, value: float) -> float:
        """Return a model-scale value in the entry unit."""
        if self.transform == "none":
            return value
        if self.is_potency:
            return float(10.0**-value / CONCENTRATIONS[self.unit])
        return float(10.0**value)

    def sd_to_model(self, value: float, sd: float | None) -> float | None:
        """Return the SD that a lab gives with a mean in the entry unit, on the model scale.

        For a logarithm by the first-order rule sd / (value ln 10), which is how a relative error becomes log units.
        """
        if sd is None or self.transform == "none":
            return sd
        return sd / (abs(value) * math.log(10.0)) if value else None

    def relation_on_model(self, relation: Relation) -> Relation:
        """Return a relation of entered values on the model scale: flipped for a potency (IC50 > 10 µM is pIC50 < 5)."""
        return FLIPPED[relation] if self.is_potency else relation

    @property
    def highest(self) -> float:
        """The largest mean that keeps to the limit, model scale; infinite when the limit is from below, or absent."""
        return self._edge if self.limit is not None and self._from_above else math.inf

    @property
    def lowest(self) -> float:
        """The smallest mean that keeps to the limit, model scale; minus infinity when it is from above, or absent."""
        return self._edge if self.limit is not None and not self._from_above else -math.inf

    @property
    def _edge(self) -> float:
        assert self.limit is not None
        return self.to_model(self.limit.value)

    @property
    def _from_above(self) -> bool:
        """Whether the limit is from above on the model scale: IC50 > 10 µM is pIC50 < 5."""
        assert self.limit is not None
        return (self.limit.relation[0] == "<") != self.is_potency

    @property
    def limit_leaves_out_the_better(self) -> bool:
        """Whether the limit keeps the side on which means are worse: hERG IC50 < 5 µM, as weaker is better there."""
        return self.limit is not None and self._from_above == (self.direction == "max")

    @property
    def limit_text(self) -> str:
        """The limit in words: ``hERG < 5``, ``IC50 > 10000 nM``; empty without one."""
        if self.limit is None:
            return ""
        unit = f" {self.unit}" if self.unit and self.unit not in self.name else ""
        return f"{self.name} {self.limit.text}{unit}"

    def as_json(self) -> dict[str, Any]:
        """Return the endpoint as a campaign file keeps it."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Endpoint:
        """Return the endpoint that ``as_json`` wrote."""
        limit, of, words = data["limit"], data["of"], data["words"]
        own = {
            "limit": None if limit is None else Limit(**limit),
            "of": None if of is None else tuple(of),
            "words": None if words is None else (words[0], words[1]),
            "curves": tuple(Curve(**{**one, "values": tuple(one["values"])}) for one in data["curves"]),
        }
        return cls(**{**data, **own})
