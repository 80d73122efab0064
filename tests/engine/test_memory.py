"""The allocator is told to give memory back, here and in processes started later; what somebody set stays."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import assaypilot.engine

TOLD = (
    "import os\nfrom assaypilot.engine.system.resources import give_memory_back\nprint(give_memory_back(), *sorted(\n"
)
TOLD += "    f'{name}={value}' for name, value in os.environ.items() if name.startswith('MALLOC_')))"


KEPT = (f"MALLOC_MMAP_THRESHOLD_={16 << 20}", f"MALLOC_TRIM_THRESHOLD_={32 << 20}")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only glibc has these settings")
@pytest.mark.parametrize(("own", "arenas"), [({}, "2"), ({"MALLOC_ARENA_MAX": "5"}, "5")])
def test_the_settings_are_taken_and_go_on_to_other_processes(own, arenas):
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    done = subprocess.run([sys.executable, "-c", TOLD], env=plain | own, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", f"MALLOC_ARENA_MAX={arenas}", *KEPT]


def test_no_module_loads_the_statistics_of_scipy():
    """They load most of the rest of it, 50 MB that the window would keep; what is needed of them is a few lines."""
    folder = Path(assaypilot.engine.__file__).parent
    texts = {path.name: path.read_text(encoding="utf-8") for path in folder.rglob("*.py")}
    assert len(texts) > 100
    assert not [name for name, text in texts.items() if "scipy.stats" in text or "import stats" in text]
