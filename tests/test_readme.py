"""The README's notebook runs as printed."""

import re
from pathlib import Path

import numpy as np
import pytest

README = Path(__file__).parents[1] / "README.md"


def test_the_notebook_section_runs_as_printed(tmp_path, monkeypatch):
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    rows = [f"BZ-{i}{j},{r1},{r2}" for i, r1 in enumerate(("Me", "Et", "iPr")) for j, r2 in enumerate(("Cl", "F"))]
    (tmp_path / "series.csv").write_text("\n".join(["ID,R1,R2", *rows]), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    scope = {}
    exec(compile(code, "README.md", "exec"), scope)
    found = scope["campaign"].candidates()
    assert found["measured"].sum() == len(scope["wanted"]) == 6
    assert found["estimate"].to_numpy() == pytest.approx(np.full(6, 7.0), abs=0.1)
    scope["campaign"].close()
