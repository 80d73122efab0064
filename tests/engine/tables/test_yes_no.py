"""Columns of yes and no are noticed, and what is said of them works."""

from __future__ import annotations

from pathlib import Path

import pytest

from assaypilot.engine.cli.program import main

ROWS = [("a", "Me", "H", 1), ("b", "Me", "Cl", 0), ("c", "Et", "H", 1), ("d", "Et", "Cl", 0), ("e", "Pr", "H", 0)]


def table(path: Path, words: tuple[str, str], name: str = "Active") -> Path:
    lines = [f"{key},{r1},{r2},{words[0] if value else words[1]}" for key, r1, r2, value in ROWS]
    path.write_text(f"ID,R1,R2,{name}\n" + "\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("1", "0"), "Active holds only 1 and 0. If that means yes and no"),
        (("Active", "inactive"), "Column Active says active or inactive and is not read as values"),
        (("yes", "No"), "Column Active says yes or no"),
    ],
)
def test_yes_and_no_are_noticed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, str], said: str
) -> None:
    assert main(["check", str(table(tmp_path / "t.csv", words)), "--sites", "R1,R2"]) == 0
    out = capsys.readouterr().out
    assert said in out
    assert "whose proof is incomplete" in out


@pytest.mark.parametrize("words", [("1", "0.5"), ("7.1", "6.2"), ("red", "blue"), ("1", "1")])
def test_other_columns_are_not(tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, str]) -> None:
    assert main(["check", str(table(tmp_path / "t.csv", words)), "--sites", "R1,R2"]) == 0
    assert "linfact-glm" not in capsys.readouterr().out


def test_what_is_said_can_be_done(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--strategy", "linfact-glm", "--parameter", "link=logit", "--parameter", "bound=3", "--sd", "0.5"]
    file, source = str(tmp_path / "x.assaypilot"), str(table(tmp_path / "t.csv", ("1", "0")))
    asked = ["new", file, "--table", source, "--sites", "R1,R2", "--endpoint", "Active", "--epsilon", "1"]
    assert main([*asked, *given]) == 0
    assert main(["plan", file]) == 0
    assert "proof is incomplete" in capsys.readouterr().out
