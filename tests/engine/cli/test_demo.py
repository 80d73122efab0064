import numpy as np
import pytest

from assaypilot import datasets
from tests.engine.cli.helpers import read_sheet


def right(document) -> bool:
    """Whether the answer is right by the shipped truth, computed here again."""
    ids, values = datasets.truth("practice-960")
    behind = max(values) - np.array(values)
    within = {name for name, gap in zip(ids, behind, strict=True) if gap <= 0.5}
    acceptable = {name for name, gap in zip(ids, behind, strict=True) if gap <= 1.0}
    assert set(document["truth"]["within_epsilon"]) == within
    assert set(document["truth"]["within_epsilon_plus_slack"]) == acceptable
    assert (len(within), len(acceptable)) == (20, 77)
    returned = set(document["in"])
    assert document["precision"] == pytest.approx(len(returned & acceptable) / len(returned))
    assert document["recall"] == pytest.approx(len(returned & within) / len(within))
    answer = within <= returned <= acceptable
    assert document["correct"] is answer
    return answer


def test_demo_is_right_and_fast(done):
    document = done("demo", "--seed", 1)
    assert right(document)
    assert document["finished"] is True
    assert document["undecided"] == []
    assert len(document["compounds"]) == sum(document["counts"].values()) == 960
    assert document["seconds"] < 10
    assert document["seed"] == 1
    assert document["guarantee"]["holds"] is True
    assert document["counts"]["in"] == len(document["in"])


@pytest.mark.slow
def test_demo_leaves_the_campaign_and_the_shortlist(run, done, refused, tmp_path):
    folder = tmp_path / "a folder" / "practice"
    answer = run("demo", "--seed", 1, "--out", folder)
    assert answer.code == 0
    assert answer.err == ""
    assert sorted(path.name for path in folder.iterdir()) == ["practice.assaypilot", "shortlist.csv"]
    status = done("status", folder / "practice.assaypilot")
    assert status["finished"] is True
    _, rows = read_sheet(folder / "shortlist.csv")
    assert [row["ID"] for row in rows] == status["in"]
    assert {row["Campaign head"] for row in rows} == {status["head"]}
    rounds = [line for line in answer.out.splitlines() if line.startswith("Round ")]
    assert len(rounds) == status["round"]
    assert "100 % of them returned" in answer.out
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    line = refused("demo", "--out", folder)
    assert "there is already a file of this name. Choose another name." in line
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
