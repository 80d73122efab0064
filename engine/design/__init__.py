"""Optimal designs: which compounds to measure and how often, with a certificate; and rounding to whole counts."""

from assaypilot.engine.design.criteria import Design, Weighted, achieved
from assaypilot.engine.design.directions import Against, Between, Rows
from assaypilot.engine.design.pairs import Pairs
from assaypilot.engine.design.product_directions import ProductPairs
from assaypilot.engine.design.products import Product
from assaypilot.engine.design.rounding import apportion, ceilings, round_design
from assaypilot.engine.design.solver import g_optimal
from assaypilot.engine.design.xy import xy_optimal

__all__ = [
    "Against",
    "Between",
    "Design",
    "Pairs",
    "Product",
    "ProductPairs",
    "Rows",
    "Weighted",
    "achieved",
    "apportion",
    "ceilings",
    "g_optimal",
    "round_design",
    "xy_optimal",
]
