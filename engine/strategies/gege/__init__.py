"""GEGE: the Pareto set of several endpoints."""
