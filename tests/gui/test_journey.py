"""The whole journey through the real widgets: a table, rounds, pasted results, undo, a decided set, an export."""

import csv

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog

from assaypilot.gui.window.page import PageName
from tests.gui.helpers import (
    create_campaign,
    creation_of,
    idle,
    noisy,
    open_round,
    show,
    small_table,
    status,
    true_values,
    until,
    wait_for,
)


def paste_round(qtbot, window, assay):
    """How many values were pasted as ids with values and written."""
    now, shown = status(window), open_round(window)
    block = [["ID", "pIC50"]]
    for item, back in zip(shown.items, shown.returned, strict=True):
        name = now.library.ids[item.compound]
        block += [[name, str(assay(name))] for _ in range(item.replicates - back)]
    QGuiApplication.clipboard().setText("\r\n".join("\t".join(row) for row in block) + "\r\n")
    window.show_page(PageName.ROUND)
    window.round.paste_button.click()
    until(qtbot, lambda: window.round.stack.currentWidget() is window.round.preview)
    assert "Nothing has been written yet" in window.round.preview.summary.text()
    before = status(window).measurements_used
    window.round.preview.write.click()
    wait_for(qtbot, window, lambda: status(window).measurements_used == before + len(block) - 1)
    return len(block) - 1


def test_from_a_table_to_a_shortlist(qtbot, window, tmp_path):
    assert window.stack.currentWidget() is window.start
    file = tmp_path / "small.assaypilot"
    create_campaign(qtbot, window, small_table(tmp_path / "small.csv"), file)
    assert file.is_file()
    assert window.page is window.library
    assert window.library.model.rowCount() == 18
    assert "2 values from before" in window.library.subtitle.text()
    assert window.strip.goal.text() == "All compounds within 0.5 of the best pIC50, cutoff soft by 0.5, 95 % sure"
    assert window.strip.primary.text() == "Plan round 1"
    assert "Saved" in window.footer.saved.text()

    assay = noisy(true_values(status(window)))
    window.strip.primary.click()
    until(qtbot, lambda: status(window).open_round is not None)
    assert window.page is window.round
    fixed = open_round(window).items

    # Undo of Plan withdraws the round, redo issues the same one again.
    window.actions_.undo.trigger()
    until(qtbot, lambda: status(window).open_round is None)
    window.actions_.redo.trigger()
    until(qtbot, lambda: status(window).open_round is not None)
    assert open_round(window).items == fixed
    idle(qtbot, window)

    first = paste_round(qtbot, window, assay)
    assert window.strip.primary.text().startswith("Close round")
    show(qtbot, window, PageName.CANDIDATES)
    counts = status(window).counts  # what is out already is not shown
    assert window.candidates.model.rowCount() == counts["in"] + counts["undecided"]
    until(qtbot, lambda: window.candidates.canvas.shown)

    assert "nter" in window.actions_.undo.text()
    window.actions_.undo.trigger()
    until(qtbot, lambda: status(window).measurements_used == 0)
    window.actions_.redo.trigger()
    wait_for(qtbot, window, lambda: status(window).measurements_used == first)

    for _ in range(12):
        if status(window).finished:
            break
        if status(window).open_round is None:
            window.strip.primary.click()
            wait_for(qtbot, window, lambda: status(window).open_round is not None)
        if open_round(window).missing:
            paste_round(qtbot, window, assay)
        assert open_round(window).items is not None
        window.strip.primary.click()
        assert window.closing.isVisible()
        window.closing.confirm.click()
        wait_for(qtbot, window, lambda: status(window).open_round is None)
    now = status(window)
    assert now.finished
    truth = true_values(now)
    best = max(truth.values())
    inside = {now.library.ids[n] for n in range(18) if now.candidates.status[n] == 1}
    assert {name for name, value in truth.items() if value >= best - 0.5} <= inside
    assert all(truth[name] >= best - 1.0 for name in inside)
    assert window.strip.primary.text() == "Export shortlist…"
    assert window.page is window.candidates

    out = tmp_path / "shortlist.csv"
    window.exporting.to(out, "in")
    wait_for(qtbot, window, out.exists)
    with out.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert {row["ID"] for row in rows} == inside
    assert f"{len(inside)} compound" in window.messages.text

    window.show_page(PageName.HISTORY)
    until(qtbot, lambda: window.history.model.rowCount() == status(window).events)
    window.history.check.click()
    until(qtbot, lambda: "The file is consistent" in window.messages.text)


def test_start_page_asks_for_a_table_and_opens_a_new_campaign_on_it(qtbot, window, tmp_path, monkeypatch):
    table = small_table(tmp_path / "small.csv")
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_, **__: ([str(table)], ""))
    window.start.new_button.click()
    creation = creation_of(window)
    until(qtbot, creation.at_once.isEnabled)
    creation.reject()
