"""Days in every spelling of spreadsheets."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.campaign.results.duplicates import days


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2026-03-05", ["2026-03-05"]),
        (" 2026/3/5 ", ["2026-03-05"]),
        ("2026-03-05 14:30:00", ["2026-03-05"]),
        ("2026-03-05T14:30:00+01:00", ["2026-03-05"]),
        ("05.03.2026", ["2026-03-05"]),
        ("5.3.26", ["2026-03-05"]),
        ("3/5/2026", ["2026-03-05", "2026-05-03"]),
        ("03-05-26", ["2026-03-05", "2026-05-03"]),
        ("25/12/2026", ["2026-12-25"]),
        ("12/25/1999", ["1999-12-25"]),
        ("5-Mar-26", ["2026-03-05"]),
        ("05 March 2026", ["2026-03-05"]),
        ("5. März 2026", ["2026-03-05"]),
        ("March 5, 2026", ["2026-03-05"]),
        ("5 juin 2026", ["2026-06-05"]),
        ("5 juillet 2026", ["2026-07-05"]),
        ("46086", ["2026-03-05"]),
        ("31.02.2026", []),
        ("5 Foo 2026", []),
        ("yesterday", []),
        ("", []),
        ("6.5", []),
        ("12", []),
    ],
)
def test_the_days_a_text_may_mean(text: str, meant: list[str]) -> None:
    assert sorted(days(text)) == meant


@given(st.dates(datetime.date(1990, 1, 1), datetime.date(2060, 12, 31)))
def test_every_spelling_of_a_day_means_it(day: datetime.date) -> None:
    for pattern in ("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%m/%d/%y", "%d-%b-%y", "%d %B %Y", "%B %d, %Y"):
        assert day.isoformat() in days(day.strftime(pattern)), pattern


@given(st.text())
def test_any_text_is_answered(text: str) -> None:
    assert len(days(text)) <= 2
