"""The report about plates: whole, and its figures again at length."""

import numpy as np
import pytest

from tests.published import plates


def cells():
    lines = plates.REPORT.read_text(encoding="utf-8").splitlines()
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("|")]


def number(text):
    return int(text.split(" ")[0].replace(",", ""))


def test_the_committed_report_says_what_blocks_are_for():
    found = {name: rest for name, *rest in cells() if name in plates.rows()}
    assert set(found) == set(plates.rows())
    for name, (runs, wrong, *_) in found.items():
        low, _ = plates.interval(int(wrong), int(runs))
        assert int(runs) >= 40
        if name.endswith("no blocks"):
            assert int(wrong) / int(runs) > plates.DELTA
        else:
            assert low <= plates.DELTA
    taken = {name: number(rest[3]) for name, rest in found.items() if rest[3]}
    blocks, small = "practice-960, plates as blocks", "practice-960, plates of 8 as blocks"
    without = taken["practice-960, no plate effects"]
    assert taken[f"{blocks}, as laid out"] < 1.1 * without
    assert taken[f"{small}, as laid out"] < 1.1 * without
    assert taken[f"{blocks}, in the order of the table"] > 1.5 * without


def test_the_committed_report_is_written_from_what_was_made():
    made = plates.read(plates.KEPT)
    found = {name: rest for name, *rest in cells() if name in plates.rows()}
    for name, (runs, wrong, *_) in found.items():
        own = [errors for (row, _), (errors, _) in made.items() if row == name]
        assert (int(runs), int(wrong)) == (sum(map(len, own)), sum(map(sum, own)))


def test_what_was_made_is_made_again():
    """One of ten campaigns, as it stands in the file."""
    name = "practice-960, plates as blocks, as laid out"
    wrong, measurements = plates.read(plates.KEPT)[name, 0]
    run = plates.run_of(plates.rows()[name], 0)
    assert (bool(run.wrong), run.measurements) == (wrong[0], measurements[0])


@pytest.mark.full
@pytest.mark.timeout(7200)
def test_at_length(tmp_path):
    """Campaigns stop and go on; plates as they are laid out leave what there is to know."""
    path = tmp_path / "runs.jsonl"
    plates.make(path, 10, 0)
    plates.make(path, 10, 10)
    assert len(plates.read(path)) == len(plates.rows())
    assert "Standardised steps" in plates.report(path)
    for by_size in plates.information()["as laid out"].values():
        assert np.array(by_size).mean() > 0.97
