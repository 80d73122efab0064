"""What the check of a table shows: findings narrowed and exported, the model reported, rare substituents left out."""

import csv

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from tests.gui.helpers import until
from tests.gui.imports import HOSTILE, check_of, columns_of, creation_on, sparse


def troubled(path):
    """A table with an error, rows that are not used, a warning and notes."""
    rows = [
        f"{HOSTILE[0]};Me;H;35",
        "B-2;;Cl;n.d.",
        "B-3;Et;Cl;>10000",
        "B-3;Me;Cl;12",
        "B-4;Et;H;abc",
        f"{HOSTILE[2]};Et;Cl;7,5",
    ]
    path.write_text("Name;R1;R2;IC50 (nM)\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def captions(creation):
    """The report on the model as it is shown."""
    return dict(creation.check_pane.model.details.rows)


def test_findings_are_filtered_copied_and_saved(qtbot, window, tmp_path):
    creation = creation_on(qtbot, window, troubled(tmp_path / "t.csv"))
    # One bad row never stops an import.
    until(qtbot, lambda: creation.columns_pane.complete)
    view = creation.check_pane.findings
    creation.views.choose("model")
    assert creation.check_pane.verdict.heading.text() == "The additive model cannot be judged yet"
    creation.columns_pane.panel.more.click()
    assert creation.views.key == "findings"
    assert creation.columns_pane.panel.heading.text() == "Rows left out"
    assert view.isVisible()
    view.kinds.choose("error")
    assert [row[1] for row in view.model.as_text()[1:]] == ["4", "5"]
    view.kinds.choose("unused")
    lines = view.model.as_text()[1:]
    assert {row[0] for row in lines} == {"Not used"}
    assert ["Not used", "3", "R1", "no substituent at R1"] in lines
    assert any(row[1:3] == ["6", "IC50 (nM)"] and "abc" in row[3] for row in lines)
    view.kinds.choose("all")
    everything = view.model.rowCount()
    view.filter.setText("SUBSTITUENT AT R1")
    QTest.keyClick(view.filter, Qt.Key.Key_Return)
    assert view.model.rowCount() == 1
    assert creation.isVisible()  # Enter there creates nothing
    view.copy.click()
    assert QGuiApplication.clipboard().text().splitlines()[0] == "Kind\tRow\tColumn\tWhat and why"
    assert QGuiApplication.clipboard().text().count("\n") == 2
    assert "Copied 1 line" in creation.messages.text
    view.filter.clear()
    QTest.keyClick(view.filter, Qt.Key.Key_Return)
    out = tmp_path / "check.csv"
    view.save_to(out)
    until(qtbot, lambda: "check.csv" in creation.messages.text)
    with out.open(encoding="utf-8-sig", newline="") as stream:
        saved = list(csv.reader(stream))
    assert len(saved) == everything + 1
    assert not any("--" in cell for row in saved for cell in row)
    view.table.selectRow(0)
    assert view.whole.isVisible()
    assert view.whole.textFormat() == Qt.TextFormat.PlainText


def test_the_model_is_reported_before_anything_is_promised(qtbot, window, tmp_path):
    path = tmp_path / "fits.csv"
    lines = ["ID,R1,R2,pIC50"]
    for a in range(5):
        for b in range(4):
            for repeat in (-0.05, 0.05):
                name = f"{HOSTILE[0]}-{a}{b}"
                lines.append(
                    f"{name},A{a},B{b},{5 + 0.3 * a + 0.4 * b + repeat + (0.02 if (a + b) % 2 else -0.02):.3f}"
                )
    path.write_text("\n".join(lines) + "\n")
    creation = check_of(qtbot, window, path)
    step = creation.check_pane
    assert step.verdict.words.text().startswith("✓  The additive model fits pIC50")
    shown = captions(creation)
    assert shown["Rank"] == "8 of 8 where values are; 8 of 8 in all"
    assert shown["Seen once"] == "none"
    assert shown["Confounded"] == "no two sites"
    assert shown["Assay noise"].startswith("0.071 (from replicates, 20 degrees of freedom)")
    assert "the noise explains the residuals" in shown["Lack of fit"]
    assert all("model" in words for _, words in step.model.worst.rows)


def test_escape_asks_only_when_something_would_be_lost(qtbot, window, tmp_path):
    creation = columns_of(qtbot, window, sparse(tmp_path / "sparse.csv"))
    QTest.keyClick(creation, Qt.Key.Key_Escape)
    assert window.creation is None or not window.creation.isVisible()
    qtbot.wait(20)
    creation = columns_of(qtbot, window, sparse(tmp_path / "sparse.csv"))
    creation.columns_pane.form.unit.setFocus()
    QTest.keyClicks(creation.columns_pane.form.unit, "nM")
    QTest.keyClick(creation, Qt.Key.Key_Escape)
    assert creation.isVisible()
    assert "Close without a campaign?" in creation.messages.text
    QTest.keyClick(creation, Qt.Key.Key_Escape)  # no
    assert creation.isVisible()
    assert creation.messages.text == ""
    assert creation.columns_pane.form.unit.text() == "nM"
    creation.cancel.click()
    until(qtbot, lambda: bool(offers(creation, "Close")))
    offers(creation, "Close")[0].click()
    assert not creation.isVisible()


def offers(creation, text):
    """The buttons with a text that the message offers."""
    return [one for one in creation.messages.findChildren(QPushButton) if one.text() == text and one.isVisible()]


def test_remarks_on_the_fit_are_counted_and_never_in_the_way(qtbot, window, tmp_path):
    path = tmp_path / "single.csv"
    rows = [f"C-{n},{a},{b},{6 + 0.1 * n:.1f}" for n, (a, b) in enumerate(zip("ABCDEF", "UVWXYZ", strict=True))]
    path.write_text("\n".join(["ID,R1,R2,pIC50", *rows, ""]), encoding="utf-8")
    creation = check_of(qtbot, window, path)
    panel = creation.columns_pane.panel
    assert not panel.warnings.isVisibleTo(panel)
    assert "remark" in panel.more.text()
    kinds = [row[0] for row in creation.check_pane.findings.model.as_text()[1:]]
    assert "Warning" in kinds
