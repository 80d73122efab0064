from pathlib import Path

import pytest


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a test's campaign is made."""
    return tmp_path / "series.assaypilot"
