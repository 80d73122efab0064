"""Refusals of the engine as the window shows them."""

from __future__ import annotations

from assaypilot.engine.errors import AssayPilotError


def error_words(error: AssayPilotError) -> tuple[str, str]:
    """Return what is wrong, with its place, and the mend."""
    plain = AssayPilotError(error.message, file=error.file, row=error.row, column=error.column)
    text = str(plain)
    text = text[:1].upper() + text[1:] if not error.file else text
    return (text if text.endswith((".", "?", "!")) else text + "."), error.mend or ""
