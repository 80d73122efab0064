"""The report is read back: its words, its pages, its outline; texts of tables stay texts."""

import socket

import pypdfium2 as pdfium
import pytest

from assaypilot.engine.campaign.state import Status
from assaypilot.engine.export.contents import Choice
from assaypilot.engine.export.report import document
from tests.engine.export.reporting import HOSTILE, begin, indoles, pages, play, said


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Status:
    folder = tmp_path_factory.mktemp("hostile")
    with begin(folder, indoles(ids=HOSTILE), name="<b>R1 $width x <$energy</b>") as campaign:
        return play(campaign, 1)


@pytest.fixture(scope="module")
def report(decided: Status) -> bytes:
    return document(said(decided))


def test_every_page_states_which_it_is_and_where_it_comes_from(decided: Status, report: bytes) -> None:
    found = pages(report)
    assert len(found) >= 4
    for number, text in enumerate(found, start=1):
        assert f"Page {number} of {len(found)}" in text
        assert f"campaign head {decided.head} after {decided.events} events" in text
        assert "AssayPilot 9.9" in text


@pytest.mark.usefixtures("undrawn")
def test_every_compound_has_its_status_estimate_interval_and_evidence(decided: Status) -> None:
    whole = " ".join(pages(document(said(decided, Choice("all")))))
    known = decided.candidates
    # The cards are drawn one by one, so what stands between two ids is of the first one.
    order = said(decided, Choice("all")).compounds.tolist()
    starts = [whole.index(decided.library.ids[c], whole.index("Shortlist")) for c in order]
    assert starts == sorted(starts)
    for c, start, end in zip(order, starts, [*starts[1:], whole.index("What each substituent adds")], strict=True):
        card = whole[start:end]
        assert f"pIC50 {known.estimate[c]:.2f} ({known.low[c]:.2f} to {known.high[c]:.2f})" in card
        n = int(known.measured[c])
        assert (f"(n = {n}); made" if n else "predicted, never measured; to be made") in card
        assert f"{'in' if known.status[c] == 1 else 'out'}, decided in round {known.decided_in_round[c]}" in card


@pytest.mark.usefixtures("undrawn")
def test_the_outline_leads_to_every_part_and_the_file_has_a_title(decided: Status, report: bytes) -> None:
    with pdfium.PdfDocument(document(said(decided, title="What we found"))) as read:
        marks = {mark.get_title(): mark.get_dest().get_index() for mark in read.get_toc()}
        assert read.get_metadata_dict()["Title"] == "What we found"
        assert read.get_metadata_dict()["Author"] == "AssayPilot 9.9"
        assert read.get_metadata_dict()["CreationDate"] == "D:203001020304"
    assert list(marks) == [
        "Answer",
        "Shortlist",
        "What each substituent adds",
        "Measured against predicted",
        "Rounds",
        "Settings",
    ]
    texts = pages(report)
    assert all(name in texts[page] for name, page in marks.items() if name != "Answer")


@pytest.mark.usefixtures("undrawn")
def test_texts_of_tables_are_words_never_markup(hostile: Status, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a report looks nothing up")

    monkeypatch.setattr(socket, "socket", refuse)
    text = " ".join(pages(document(said(hostile, Choice("all"), title="A & B <i>c</i> &lt;"))))
    for name in ("CPD_$1_$2%", "R1 $width x <$energy", "<img src=//host/x>", "&lt;b&gt;&amp;", "µ≥α —"):
        assert name in text
    assert "<b>R1 $width x <$energy</b>" in text
    assert "A & B <i>c</i> &lt;" in text
    assert "a b c d" in text  # control characters are spaces
    assert "3 characters of names are not in the font of this page" in text


def test_the_same_contents_make_the_same_file(decided: Status, report: bytes) -> None:
    assert document(said(decided)) == report
