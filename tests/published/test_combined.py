"""The study of everything at once: that it plays whole campaigns, notices mistakes, and that its report is whole."""

import math

import pytest

from tests.published import combined as c
from tests.published.combined_lab import Kind, Lab, play


def test_the_committed_report_is_whole_and_nothing_in_it_is_wrong_more_often_than_stated():
    text = c.REPORT.read_text(encoding="utf-8")
    for kind in c.KINDS:
        (line,) = [line for line in text.splitlines() if line.startswith(f"| {kind.name} |")]
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        runs, wrong, least, stated = int(cells[1]), int(cells[2]), float(cells[4]), float(cells[6])
        assert runs >= 10
        assert float(cells[3]) == pytest.approx(wrong / runs, abs=6e-4)
        if not kind.name.startswith("mistake"):
            assert least <= stated, kind.name


def test_the_committed_report_shows_mistakes_for_what_they_are():
    text = c.REPORT.read_text(encoding="utf-8")
    for kind in c.KINDS:
        (line,) = [line for line in text.splitlines() if line.startswith(f"| {kind.name} |")]
        ratio = line.split("|")[8].strip()
        if ratio == "-":
            continue
        squares, off = (float(part) for part in ratio.split(" ± "))
        # Two of these limits are 3.3 standard errors: of so many rows none is beyond by chance.
        assert (abs(squares - 1.0) > 2.0 * off) is kind.name.startswith("mistake"), kind.name


@pytest.mark.parametrize("name", ["nothing of it", "noise not known"])
def test_a_campaign_of_a_kind_goes_to_its_end_and_says_what_it_came_to(tmp_path, name):
    (kind,) = [kind for kind in c.KINDS if kind.name == name]
    found = play(kind, 2, tmp_path / "x.assaypilot")
    assert found["rounds"] >= 1
    assert found["measurements"] > 0
    assert found["held"]
    assert math.isclose(found["promised"], 0.3, abs_tol=0.1)
    assert not found["wrong"]


def test_what_is_decided_wrongly_is_seen(tmp_path):
    """The judge of a campaign whose truth is turned round when it has ended."""
    lab = Lab(Kind("nothing of it"), 2)
    with lab.create(tmp_path / "x.assaypilot") as campaign:
        while campaign.plan() is not None:
            lab.answer(campaign)
        assert not lab.wrong(campaign)
        lab.truth = -lab.truth
        assert lab.wrong(campaign)
