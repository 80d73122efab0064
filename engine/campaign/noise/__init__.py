"""Assay noise in a campaign where it is not one known number: estimated, by class, or uneven."""
