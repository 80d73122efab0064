"""Decisions by the likelihood of all values: yes and no, counts, and plain values."""
