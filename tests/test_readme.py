"""The README's notebook runs as printed."""

import re
from pathlib import Path
from typing import Any

import pytest

README = Path(__file__).parents[1] / "README.md"


def test_the_notebook_section_runs_as_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    rows = [f"BZ-{i}{j},{r1},{r2}" for i, r1 in enumerate(("Me", "Et", "iPr")) for j, r2 in enumerate(("Cl", "F"))]
    (tmp_path / "series.csv").write_text("\n".join(["ID,R1,R2", *rows]), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    scope: dict[str, Any] = {}
    exec(compile(code, "README.md", "exec"), scope)
    status = scope["campaign"].status()
    assert status.measurements_used == sum(item.replicates for item in scope["issued"].items)
    assert status.candidates.estimate == pytest.approx([7.0] * 6)
    assert "decided" in status.statement.lower()
    scope["campaign"].close()
