"""Decisions by the series model: calibrated on real series rather than proven under additivity."""
