"""The statistics, the campaign and the tables of AssayPilot; no window, usable from a notebook."""
