"""Assay noise in a campaign: estimated from replicates where it is not known, and what later words on it cost."""
