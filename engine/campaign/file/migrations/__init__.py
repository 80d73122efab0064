"""How a campaign file of an older version becomes one of the next.

Each step is a module ``from_<version>.py`` with a function that takes the connection, inside an open transaction
(``execute`` only: ``executescript`` would commit), and leaves the tables, triggers and digests as the next version
has them. It has a test of its own on the stored file of its version in tests/golden.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

__all__ = ["STEPS", "upgrade"]

STEPS: dict[int, Callable[[sqlite3.Connection], None]] = {}
"""Version to the step that leaves it; version 1 is the first, so there is none yet."""


def upgrade(connection: sqlite3.Connection, version: int, target: int) -> None:
    """Take the file from ``version`` to ``target`` within the caller's transaction."""
    for step in range(version, target):
        STEPS[step](connection)
    connection.execute(f"PRAGMA user_version = {target}")
