"""Days in every spelling of spreadsheets."""

import datetime

from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.campaign.results.duplicates import days


@given(st.dates(datetime.date(1990, 1, 1), datetime.date(2060, 12, 31)))
def test_every_spelling_of_a_day_means_it(day: datetime.date) -> None:
    for pattern in ("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%m/%d/%y", "%d-%b-%y", "%d %B %Y", "%B %d, %Y"):
        assert day.isoformat() in days(day.strftime(pattern)), pattern


@given(st.text())
def test_any_text_is_answered(text: str) -> None:
    assert len(days(text)) <= 2
