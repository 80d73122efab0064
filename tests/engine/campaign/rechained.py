"""Campaign files whose events were changed and chained again: whole by every digest, and perhaps impossible."""

import json
import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from assaypilot.engine.campaign.file.chain import GENESIS, row_digest

Where = tuple[str | int, ...]
GONE = object()
"""In place of a value: its key goes."""
VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 10**30, 1e308, -1.5, 2**63),
    *("x", "", "９", "nan", [], {}, [1], {"a": 1}, [[[]]], ["x"] * 3, GONE),
)


def rows_of(path: Path) -> list[tuple[Any, ...]]:
    """The events of a file as they are stored."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT * FROM event ORDER BY sequence").fetchall()


@contextmanager
def without_triggers(path: Path) -> Iterator[sqlite3.Connection]:
    """A file as somebody with a database tool changes it: the triggers are taken away, and put back."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        yield connection
        for _, text in triggers:
            connection.execute(text)


def rewrite(source: Path, path: Path, rows: list[tuple[Any, ...]]) -> None:
    """Write a copy of a file with other events, each with a digest that fits."""
    shutil.copy(source, path)
    with without_triggers(path) as connection:
        connection.execute("BEGIN")
        connection.execute("DELETE FROM event")
        previous = GENESIS
        for row in rows:
            previous = row_digest(previous, row[:6])
            connection.execute("INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?)", (*row[:6], previous))
        connection.execute("COMMIT")


def changed(rows: list[tuple[Any, ...]], place: int, where: Where, value: Any) -> list[tuple[Any, ...]]:
    """The events with one value of one of them replaced."""
    data = json.loads(rows[place][5])
    inside = data
    for key in where[:-1]:
        inside = inside[key]
    if value is GONE:
        del inside[where[-1]]
    else:
        inside[where[-1]] = value
    row = (*rows[place][:5], json.dumps(data, separators=(",", ":")).encode(), rows[place][6])
    return [*rows[:place], row, *rows[place + 1 :]]


def places(value: Any, above: Where = ()) -> Iterator[Where]:
    """Where the values inside a value are, the first three of each list."""
    keys = list(value) if isinstance(value, dict) else range(min(len(value), 3)) if isinstance(value, list) else ()
    for key in keys:
        yield (*above, key)
        yield from places(value[key], (*above, key))


def some(rows: list[tuple[Any, ...]], seed: int) -> tuple[int, Where, Any]:
    """Which event, where in it, and what is put there."""
    rng = random.Random(seed)
    while True:
        place = rng.randrange(len(rows))
        found = list(places(json.loads(rows[place][5])))
        if found:
            return place, rng.choice(found), rng.choice(VALUES)
