"""The report about fixed budgets: whole, what it claims, and a quick case of it."""

import re

import pytest

from tests.published import fixed_budget as fb


def totals():
    """(wrong, runs) by way of answering, as the report's summary has them."""
    text = fb.REPORT.read_text(encoding="utf-8")
    found = re.findall(r"^- (.+): ([\d,]+) of ([\d,]+) answers wrong$", text, re.MULTILINE)
    return {way: (int(wrong.replace(",", "")), int(runs.replace(",", ""))) for way, wrong, runs in found}


def test_the_committed_report_is_whole_and_its_summary_that_of_its_tables():
    found = totals()
    assert tuple(found) == fb.WAYS
    lines = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in fb.REPORT.read_text(encoding="utf-8").splitlines()
        if re.match(r"\| [\d,]+ \|", line)
    ]
    assert len(lines) == len(fb.TABLES) * len(fb.BUDGETS)
    for place, way in enumerate(fb.WAYS, start=1):
        wrong, runs = found[way]
        each = runs // len(lines)
        assert sum(round(float(cells[place].split()[0]) * each) for cells in lines) == wrong


def test_the_committed_report_has_it_ahead_of_uniform_and_of_linfact_stopped_early():
    found = totals()
    ours, runs = found[fb.OURS]
    for way in ("uniform", fb.ALL_IN, fb.ALL_OUT):
        wrong, as_many = found[way]
        assert as_many == runs
        assert fb.limits(ours, runs)[1] < fb.limits(wrong, runs)[0], way


@pytest.mark.slow
def test_ahead_of_uniform_in_a_quick_case():
    budget, runs = 192, range(24)
    wrong = {
        way: sum(row[0] for row in fb.played(fb.Point(way, fb.TABLES[1], budget), runs)) for way in (fb.OURS, "uniform")
    }
    assert wrong[fb.OURS] + 2 <= wrong["uniform"]


@pytest.mark.full
@pytest.mark.timeout(7200)
def test_at_length():
    found = fb.everything(120)
    ours = sum(one.wrong for one in found if one.point.way == fb.OURS)
    assert ours < sum(one.wrong for one in found if one.point.way == "uniform")
