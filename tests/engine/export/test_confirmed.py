"""What was confirmed stands in every export, and only where a confirmation round exists."""

import dataclasses
import io
from pathlib import Path

import pypdfium2 as pdfium
import pytest
from pptx import Presentation

from assaypilot.engine.campaign.findings import Check, Confirmation, Prediction
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.export.contents import Choice, contents
from assaypilot.engine.export.report import document
from assaypilot.engine.export.shortlist import ranked, table_of
from assaypilot.engine.export.slide import presentation
from tests.engine.campaign.making import answers, make


def check(compound: int, value: float | None, inside: bool | None, endpoint: int = 0) -> Check:
    return Check(Prediction(compound, endpoint, 7.0, 0.1, 0.2, 2.0), value, int(value is not None), inside)


def confirming(status: Status, *checks: Check, **more: tuple[int, ...]) -> Status:
    states = {one.prediction.compound: one.inside for one in checks}
    found = Confirmation(rounds=(9,), checks=checks, states=states, sentence="2 of 3 compounds confirmed.", **more)
    return dataclasses.replace(status, confirmation=found)


def chosen(status: Status) -> list[int]:
    return ranked(status, "all")[:5].tolist()


def test_audit_round_is_not_called_confirmation(tmp_path: Path) -> None:
    with make(tmp_path / "x.assaypilot", strategy="gaussian-process", per_round=4) as campaign:
        campaign.plan()
        campaign.record(answers(campaign), close=True)
        campaign.plan_audit(1)
        rounds = contents(campaign.status(), Choice("all")).rounds
    assert list(dict.fromkeys(rounds.column("Purpose"))) == ["decision", "audit"]


def test_the_column_states_each_state(decided: Status) -> None:
    a, b, c, d, e = chosen(decided)
    status = confirming(decided, check(a, 7.1, True), check(b, 6.2, False), check(c, None, None), due=(d,))
    cells = table_of(status, [a, b, c, d, e]).column("Confirmed")
    assert list(cells) == [
        "confirmed",
        "not confirmed: 0.80 below predicted",
        "not measured yet",
        "not measured yet",
        "",
    ]
    kept = contents(status, Choice(columns=("Status",)), program="AssayPilot 9.9", exported="2030").shortlist
    assert kept.header == ("ID", "Status", "Evidence", "Availability", "Confirmed"), "no row goes out without"


@pytest.mark.usefixtures("undrawn")
def test_cards_tables_and_slides_show_it(decided: Status) -> None:
    a, b, c, *_ = chosen(decided)
    status = confirming(decided, check(a, 7.1, True), check(b, 6.2, False), check(c, None, None))
    said = contents(status, Choice(order=(a, b, c)), program="AssayPilot 9.9", exported="2030-01-02 03:04 +00:00")
    with pdfium.PdfDocument(document(said)) as read:
        text = " ".join(" ".join(read[k].get_textpage().get_text_range().split()) for k in range(len(read)))
    cards = text[text.index("Shortlist 3 of") : text.index("What each substituent adds")]
    assert cards.index("made confirmed") < cards.index("not confirmed: 0.80 below predicted")
    assert "not confirmed: 0.80 below predicted" in cards
    assert "not measured yet" in cards
    assert "2 of 3 compounds confirmed." in text, "settings"
    slide = Presentation(io.BytesIO(presentation(said))).slides[0]
    shapes = [one for shape in slide.shapes for one in getattr(shape, "shapes", [shape])]
    words = " ".join(one.text_frame.text for one in shapes if one.has_text_frame)
    assert "not confirmed: 0.80 below predicted" in " ".join(words.split())
