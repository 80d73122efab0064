"""A difference as people write it."""

from __future__ import annotations


def signed(value: float, digits: int = 2) -> str:
    """Return a difference with its sign.

    ``+0.40``, a real minus in ``−0.07``, and no sign where all digits are zero.
    """
    text = f"{abs(value):.{digits}f}"
    if not float(text):
        return text
    return f"{'+' if value > 0 else chr(0x2212)}{text}"
