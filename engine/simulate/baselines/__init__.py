"""Algorithms to compare with: run by ``simulate`` only, never offered for a campaign."""
