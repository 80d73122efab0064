"""Dose-response curves: raw readings to IC50 and EC50 with their standard errors."""
