"""Where the public tables are, when they are."""

import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("ASSAYPILOT_TEST_DATA") or Path(__file__).resolve().parents[4] / "shared" / "data")


@pytest.fixture
def public():
    """The path of a public table by its name; skips the test when the folder is absent."""

    def path(name):
        if not (DATA / name).exists():
            pytest.skip(f"the public table {name} is not here")
        return DATA / name

    return path
