"""What report, slide and workbook say of campaigns at several stages, one snapshot for each; numbers with # for digits.

Whether the numbers are right is asked where they are counted again.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from assaypilot.engine.campaign.state import Status
from assaypilot.engine.domain.endpoint import Endpoint, Limit
from assaypilot.engine.export.contents import Choice, Contents
from assaypilot.engine.export.report import document
from assaypilot.engine.export.slide import presentation
from tests import snapshots
from tests.engine.export.reporting import HERG, POTENCY, begin, indoles, labels, pages, play, said, slide_of, words


def _decided(folder: Path) -> Status:
    with begin(folder, indoles()) as campaign:
        return play(campaign)


def _begun(folder: Path) -> Status:
    with begin(folder, indoles()) as campaign:
        return campaign.status()


def _labels_alone(folder: Path) -> Status:
    with begin(folder, labels()) as campaign:
        return play(campaign, 1)


def _trade_offs(folder: Path) -> Status:
    with begin(folder, indoles((3, 2, 2)), POTENCY, HERG, goal="pareto") as campaign:
        return play(campaign, 2)


def _with_a_limit(folder: Path) -> Status:
    limited = Endpoint("hERG", noise_sd=0.3, direction="min", limit=Limit.parse("<6.5"))
    with begin(folder, indoles((3, 2, 2)), POTENCY, limited) as campaign:
        return play(campaign)


def _without_a_guarantee(folder: Path) -> Status:
    status = _labels_alone(folder)
    void = replace(status.guarantee, holds=False, void=("a value was left out by judgement",))
    return replace(status, guarantee=void)


STORIES = (_decided, _begun, _labels_alone, _trade_offs, _with_a_limit, _without_a_guarantee)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, Contents]]:
    stories = [(story.__name__.strip("_").replace("_", " "), story) for story in STORIES]
    return [(name, said(story(tmp_path_factory.mktemp("story")), Choice("in"))) for name, story in stories]


def _report(contents: Contents) -> str:
    return re.sub(r"(?<=[a-z]\.) (?=[A-Z])", "\n", "\n\n".join(pages(document(contents))))


def _slide(contents: Contents) -> str:
    return words(slide_of(presentation(contents)))


def _workbook(contents: Contents) -> str:
    sheets = (contents.shortlist, contents.measurements, contents.rounds, contents.picks)
    lines = [" | ".join(map(str, row)) for sheet in sheets for row in (sheet.header, *sheet.rows[:2])]
    return "\n".join([*lines, *(f"{name}: {value}" for name, value in contents.settings.rows)])


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize(("surface", "text"), [("report", _report), ("slide", _slide), ("workbook", _workbook)])
def test_wording(surface: str, text: Callable[[Contents], str], told: list[tuple[str, Contents]]) -> None:
    found = "\n\n".join(f"== {name}\n{text(contents)}" for name, contents in told) + "\n"
    found = re.sub(r"\b[0-9a-f]{40,}\b", "HEAD", found)
    found = re.sub(r"(Version of \w+: ?|Version of \w+ )\S+", r"\1VERSION", found)
    found = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "WHEN", found)
    found = re.sub(r"\d+(?:\.\d+)?(?:e-?\d+)?", "#", found)
    # How many numbers an axis has is a matter of the library that draws it.
    snapshots.expect(f"export-{surface}.txt", re.sub(r"#(?: #)+", "#", found))
