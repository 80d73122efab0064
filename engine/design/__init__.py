"""Optimal designs: which compounds to measure and how often, with a certificate; and rounding to whole counts."""

from assaypilot.engine.design.criteria import Design, Weighted, achieved
from assaypilot.engine.design.products import Product
from assaypilot.engine.design.rounding import apportion, ceilings
from assaypilot.engine.design.solver import g_optimal

__all__ = ["Design", "Product", "Weighted", "achieved", "apportion", "ceilings", "g_optimal"]
