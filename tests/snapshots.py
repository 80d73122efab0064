"""Texts that people read, one file per surface under ``tests/golden``; ``ASSAYPILOT_SNAPSHOTS=write`` writes them anew.

Such a file is read in review: a sentence that became wrong shows there.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path

from assaypilot.engine.errors import AssayPilotError

GOLDEN = Path(__file__).parent / "golden"
WRITE = os.environ.get("ASSAYPILOT_SNAPSHOTS") == "write"


def expect(name: str, text: str) -> None:
    """Compare a text with the file of that name, or write the file."""
    path = GOLDEN / name
    if WRITE:
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def expect_answers(name: str, questions: Path, readers: dict[str, Callable[[str], object]]) -> None:
    """Compare what becomes of texts with the file of that name.

    Each section of the questions is headed by what reads its lines; a text with spaces around it stands in quotation
    marks.
    """
    told = []
    for section in questions.read_text(encoding="utf-8").strip().split("\n\n"):
        kind, *lines = section.removeprefix("# ").split("\n")
        told.append(f"# {kind}")
        for line in lines:
            try:
                found = readers[kind](json.loads(line) if line.startswith('"') else line)
            except (AssayPilotError, ValueError) as error:
                found = f"refused: {error}"
            told.append(f"{line} -> {found}")
        told.append("")
    expect(name, "\n".join(told))
