import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from assaypilot.engine.cli import main
from tests.engine.cli.helpers import R1, R2, truth_of, write_rows


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout; fails on NaN, Infinity and anything beside the document."""

        def refuse(text: str) -> None:
            raise AssertionError(f"{text} is not JSON")

        return json.loads(self.out, parse_constant=refuse)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Call the command line as a user would; campaigns take a proven strategy unless a test names one."""

    def call(*words: object) -> Answer:
        capsys.readouterr()
        proven = ("--strategy", "proven") if words and words[0] == "new" and "--strategy" not in words else ()
        code = main([str(word) for word in (*words, *proven)])
        out, err = capsys.readouterr()
        return Answer(code, out, err)

    return call


@pytest.fixture
def done(run: Callable[..., Answer]) -> Callable[..., Any]:
    """The JSON document of a command that must succeed."""

    def call(*words: object) -> Any:
        answer = run(*words, "--json")
        assert answer.code == 0, answer.out + answer.err
        assert answer.err == ""
        return answer.document

    return call


@pytest.fixture
def refused(run: Callable[..., Answer]) -> Callable[..., str]:
    """The one line of a refusal; with ``--json`` it must say the same."""

    def call(*words: object) -> str:
        answer = run(*words)
        assert answer.code == 1, answer.out + answer.err
        assert answer.out == ""
        assert answer.err.endswith("\n")
        assert answer.err.count("\n") == 1, answer.err
        assert "Traceback" not in answer.err
        assert "internal error" not in answer.err
        again = run(*words, "--json")
        assert again.code == 1
        assert again.err == ""
        error = again.document["error"]
        assert set(error) == {"message", "file", "row", "column", "option", "mend"}
        assert " ".join(error["message"].split()).rstrip(".") in answer.err
        return answer.err

    return call


@pytest.fixture
def folder(tmp_path: Path) -> Callable[[], dict[str, bytes]]:
    """Everything in the test's folder, to show that a refusal wrote nothing."""

    def look() -> dict[str, bytes]:
        return {str(path.relative_to(tmp_path)): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    return look


@pytest.fixture
def table(tmp_path: Path) -> Callable[..., Path]:
    """Writes a csv file from a header and rows."""

    def write(rows: Sequence[Sequence[object]], name: str = "table.csv", delimiter: str = ",") -> Path:
        return write_rows(tmp_path / name, rows, delimiter)

    return write


@pytest.fixture
def small(table: Callable[..., Path]) -> Path:
    """Twelve compounds, two sites, one value each."""
    rows: list[Sequence[object]] = [("ID", "R1", "R2", "pIC50")]
    rows += [(f"C-{i:02d}", a, b, round(truth_of(a, b), 2)) for i, (a, b) in enumerate((a, b) for a in R1 for b in R2)]
    return table(rows)


@pytest.fixture
def campaign(small: Path, tmp_path: Path, done: Callable[..., Any]) -> Path:
    """A campaign on the small table, nothing planned yet."""
    path = tmp_path / "small.assaypilot"
    done("new", path, "--table", small, "--epsilon", "0.5", "--sd", "0.2", "--per-round", "24")
    return path
