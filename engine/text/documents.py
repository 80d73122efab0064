"""Values by name, as JSON documents have them."""

from __future__ import annotations

from typing import Any


def pick(thing: object, names: str) -> dict[str, Any]:
    """Return attributes of a thing, None for each of None; ``names`` have blanks between, ``key=name`` renames one."""
    pairs = (name.partition("=") for name in names.split())
    return {key: None if thing is None else getattr(thing, name or key) for key, _, name in pairs}
