"""Texts that people read, one file per surface under ``tests/golden``; ``ASSAYPILOT_SNAPSHOTS=write`` writes them anew.

Such a file is read in review: a sentence that became wrong shows there.
"""

import os
from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"
WRITE = os.environ.get("ASSAYPILOT_SNAPSHOTS") == "write"


def expect(name: str, text: str) -> None:
    """Compare a text with the file of that name, or write the file."""
    path = GOLDEN / name
    if WRITE:
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
