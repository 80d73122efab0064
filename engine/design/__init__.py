"""Optimal designs: which compounds to measure and how often, with a certificate; and rounding to whole counts."""

from .apportionment import apportion, ceilings
from .criteria import Design, Weighted, achieved
from .directions import Between, Rows, UnionDirections, against
from .g import g_optimal
from .pairs import Pairs
from .rounding import round_design
from .xy import xy_optimal

__all__ = [
    "Between",
    "Design",
    "Pairs",
    "Rows",
    "UnionDirections",
    "Weighted",
    "achieved",
    "against",
    "apportion",
    "ceilings",
    "g_optimal",
    "round_design",
    "xy_optimal",
]
