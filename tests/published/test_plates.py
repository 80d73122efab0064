"""The report about plates: whole, and its figures again at length."""

import pytest

from tests.published import plates


def rates():
    lines = plates.REPORT.read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("|")][2:]
    return {name: (int(wrong), int(runs)) for name, runs, wrong, *_ in cells}


def test_the_committed_report_says_what_blocks_are_for():
    found = rates()
    assert len(found) == 6
    for name, (wrong, runs) in found.items():
        low, _ = plates.interval(wrong, runs)
        if name.endswith("no blocks"):
            assert wrong / runs > plates.DELTA
        else:
            assert low <= plates.DELTA
    for kind in ("two compounds", "practice-960"):
        assert found[f"{kind}, plates as blocks"][0] < found[f"{kind}, plates, no blocks"][0]


@pytest.mark.full
def test_at_length():
    text = plates.report(40, 400)
    assert "Standardised steps" in text
