"""The colours of figures, light and dark; every status has a marker shape as well, never a colour alone."""

from __future__ import annotations

from dataclasses import dataclass

UNDECIDED, IN, OUT = 0, 1, 2
WORDS = ("undecided", "in", "out", "not estimable")
"""The word of each status, by code."""
MARKERS = ("D", "o", "o", "x")
"""Marker of each status, by code (undecided, in, out, not estimable); out is drawn hollow."""


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours of one theme as ``#rrggbb``; the four of a status are distinct in the common colour blindnesses."""

    background: str
    text: str
    muted: str
    grid: str
    accent: str
    status: tuple[str, str, str, str]
    """By status code: undecided, in, out, not estimable."""
    band: str
    """The soft zone below the cutoff."""
    cutoff: str


LIGHT = Palette(
    background="#ffffff",
    text="#1c2430",
    muted="#5b6675",
    grid="#e3e7ed",
    accent="#1f5fbf",
    status=("#985600", "#0a7558", "#7a8696", "#7a8696"),
    band="#f7e7cc",
    cutoff="#985600",
)
DARK = Palette(
    background="#171b21",
    text="#e6eaf0",
    muted="#9aa5b4",
    grid="#2b323c",
    accent="#6aa5ff",
    status=("#f0a83c", "#3fc49a", "#7f8b9a", "#7f8b9a"),
    band="#3a2f1c",
    cutoff="#f0a83c",
)
