"""Data to matplotlib figures; no window and no pyplot."""
