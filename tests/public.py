"""Where the public tables are, when they are."""

import os
from pathlib import Path

DATA = Path(os.environ.get("ASSAYPILOT_TEST_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
