"""Results: typed, pasted, read from a file, questioned, corrected, left out; nothing is written unseen or lost."""

import pytest
from PySide6.QtGui import QGuiApplication

from assaypilot.engine.domain.library import Library, Site
from assaypilot.engine.domain.measurements import Result
from assaypilot.gui.round.reason_dialog import CorrectDialog, ExcludeDialog
from assaypilot.gui.window.page import PageName
from tests.gui.helpers import (
    dialog,
    idle,
    kept_text,
    made,
    open_round,
    plan_round,
    show,
    status,
    true_values,
    until,
    view,
    wait_for,
)


def type_into(window, line, text):
    """Edit a line's cell through its model, as the editor does."""
    model = window.round.model
    row = model.view_row(line)
    assert row is not None
    model.setData(model.index(row, model.place_of("result")), text)


def ids(window):
    now = status(window)
    return [now.library.ids[item.compound] for item in open_round(window).items]


def paste(qtbot, window, rows):
    QGuiApplication.clipboard().setText("\n".join("\t".join(row) for row in rows) + "\n")
    window.paste()
    until(qtbot, lambda: window.round.stack.currentWidget() is window.round.preview or bool(window.messages.text))


def shown(model):
    return model.as_text()[1:]


def test_typed_values_are_saved_at_once(qtbot, planned):
    window, model = planned, planned.round.model
    assert window.round.practice_button.isHidden()  # no campaign to practise on
    type_into(window, 0, "7.62")
    until(qtbot, lambda: status(window).measurements_used == 1)
    assert kept_text(model, 0) == "7.62"
    replicates = open_round(window).items[0].replicates
    assert line_state(model, 0) == f"1 of {replicates}"
    type_into(window, 0, "7.62；7.58")
    until(qtbot, lambda: status(window).measurements_used == 2)
    assert kept_text(model, 0) == "7.62; 7.58"
    type_into(window, 1, ">10000 nM")
    until(qtbot, lambda: kept_text(model, 1) == "<5")
    assert "below range" in line_state(model, 1)
    # What it means stands beside, whether its line is selected or not, until another one is typed or it is left out.
    bound = window.round.panel.bound
    until(
        qtbot,
        lambda: bound.text().startswith("Line 2: <5 is known only as a bound: decisions count its limit"),
    )
    type_into(window, 2, "7.1 (n=2, sd=0.1)")
    until(qtbot, lambda: kept_text(model, 2) == "7.1 (n=2, sd=0.1)")
    assert bound.isVisible()
    window.session.exclude(model.values[1][0].number, "typed by mistake", judgement=False)
    until(qtbot, bound.isHidden)


def line_state(model, line):
    return model.columns[model.place_of("state")].text(line)


def test_a_bare_concentration_asks_and_the_answer_is_kept(qtbot, planned):
    window = planned
    window.round.table.choose(0, "result")
    type_into(window, 0, "35")
    panel = window.round.panel
    assert panel.wrong.words.text() == "35 is no pIC50. 35 nM?"
    assert status(window).measurements_used == 0
    assert window.round.model.wrong(0) is not None
    assert panel.take.text() == "Yes, 35 nM"
    panel.take.click()
    until(qtbot, lambda: status(window).measurements_used == 1)
    assert kept_text(window.round.model, 0) == "7.46"
    kept = status(window).measurements[-1]
    assert kept.value == pytest.approx(7.4559, abs=1e-4)
    assert kept.entered.comment == "entered as 35 nM"
    until(qtbot, lambda: window.round.panel.wrong.isHidden())


def test_pasted_ids_are_read_with_and_without_header(qtbot, planned):
    window = planned
    names = ids(window)
    paste(qtbot, window, [[names[2], "7.1", "7.2"], ["C-999", "7.0"], [names[0], ""], [names[4], "<5"]])
    preview = window.round.preview
    assert len(preview.intended.results) == 3 if preview.intended is not None else False
    assert "no compound of this campaign" in shown(preview.model)[0][4]  # what is rejected comes first
    preview.cancel.click()
    paste(qtbot, window, [["Compound", "Value"], [names[2], "7.1"], ["C-999", "7.0"]])
    until(qtbot, lambda: len(shown(preview.model)) == 2)
    preview.write.click()
    until(qtbot, lambda: status(window).measurements_used == 1)


def test_repeated_identical_line_is_not_counted_beyond_what_the_round_asks_for(qtbot, planned):
    window = planned
    asked = open_round(window).items[0].replicates
    lines = [[ids(window)[0], "7.1"]] * (asked + 1)
    preview = window.round.preview
    for header in ([], [["ID", "pIC50"]]):
        paste(qtbot, window, [*header, *lines])
        until(qtbot, lambda: window.round.stack.currentWidget() is preview)
        assert len(preview.intended.results) == asked
        assert "repeats row" in shown(preview.model)[0][4]
        preview.cancel.click()


def test_emptied_cell_asks_to_exclude_its_value(qtbot, planned):
    type_into(planned, 0, "7.62")
    wait_for(qtbot, planned, lambda: status(planned).measurements_used == 1)
    type_into(planned, 0, "")
    dialog(ExcludeDialog).reject()
    idle(qtbot, planned)
    assert status(planned).measurements_used == 1


def test_refused_paste_is_forgotten_once_another_is_read(qtbot, planned):
    QGuiApplication.clipboard().setText("  \n")
    planned.round.reading.paste()
    until(qtbot, lambda: "There is nothing to paste" in planned.messages.text)
    QGuiApplication.clipboard().setText("7.1\n")
    planned.round.reading.paste()
    until(qtbot, lambda: planned.round.stack.currentWidget() is planned.round.preview)
    assert planned.messages.text == ""


def test_footer_counts_typed_values_that_are_not_saved(qtbot, planned):
    saved = planned.footer.saved
    assert saved.text().startswith("Saved")
    type_into(planned, 0, "oops")
    until(qtbot, lambda: saved.text().startswith("1 value not saved"))
    type_into(planned, 0, "7.62")
    wait_for(qtbot, planned, lambda: status(planned).measurements_used == 1)
    assert saved.text().startswith("Saved")


def test_undo_and_redo_say_which_of_them_was_done(qtbot, planned):
    planned.session.undo()
    until(qtbot, lambda: planned.messages.text == "Undone: plan round 1.")
    assert planned.strip.primary.text() == "Plan round 1"
    planned.session.redo()
    until(qtbot, lambda: planned.messages.text == "Redone: plan round 1.")
    assert open_round(planned).number == 1


def test_file_read_twice_is_noticed(qtbot, planned, tmp_path):
    window = planned
    names = ids(window)
    path = tmp_path / "results.csv"
    path.write_text("ID;Value\n" + "".join(f"{name};7,{n}\n" for n, name in enumerate(names[:5], start=11)))
    for expected in (5, 10):
        window.read_results_from(path)
        until(qtbot, lambda: window.round.stack.currentWidget() is window.round.preview)
        window.round.preview.write.click()
        if expected == 10:
            until(qtbot, lambda: "already" in window.messages.text)
            assert status(window).measurements_used == 5
            (again,) = window.messages.offers
            assert again.text() == "Count them a second time"
            again.click()
        wait_for(qtbot, window, lambda expected=expected: status(window).measurements_used == expected)


def fill(qtbot, window):
    """Fill and close the open round with true values."""
    truth = true_values(status(window))
    names = status(window).library.ids
    values = []
    for item in open_round(window).items:
        name = names[item.compound]
        values.append([name, *[f"{truth[name]:.2f}"] * item.replicates])
    paste(qtbot, window, values)
    window.round.preview.write.click()
    wait_for(qtbot, window, lambda: open_round(window).missing == 0)


def test_a_surprising_value_is_questioned_corrected_and_left_out(qtbot, planned):
    window = planned
    fill(qtbot, window)
    window.close_round()
    window.closing.confirm.click()
    wait_for(qtbot, window, lambda: status(window).open_round is None)
    plan_round(qtbot, window)
    panel = window.round.panel
    expected = open_round(window).items[0].expected
    assert expected is not None
    assert panel.question.isHidden()
    type_into(window, 0, f"{expected - 1.5:.2f}")
    until(qtbot, lambda: not panel.question.isHidden())
    assert "1.50 below what is expected" in panel.question.heading.text()
    number = status(window).measurements[-1].number

    panel.correct_button.click()
    asked = dialog(CorrectDialog)
    assert not asked.confirm.isEnabled()
    asked.value.setText("oops")
    asked.line.setText("typo")
    assert not asked.confirm.isEnabled()
    assert "not a number" in asked.problem.text()
    asked.value.setText(f"{expected + 1.5:.2f}")
    asked.confirm.click()
    until(qtbot, lambda: "above what is expected" in panel.question.heading.text())
    corrected = status(window).measurements[number - 1]
    assert corrected.corrected == "typo"
    assert corrected.entered.value == pytest.approx(expected - 1.5, abs=0.006)

    panel.keep_button.click()
    assert panel.question.isHidden()
    window.round.values.exclude(number)
    asked = dialog(ExcludeDialog)
    asked.judged.setChecked(True)
    assert "voids the guarantee" in asked.consequence.text()
    assert not asked.confirm.isEnabled()
    asked.line.setText("hardly possible")
    asked.confirm.click()
    wait_for(qtbot, window, lambda: not status(window).guarantee.holds)
    assert "No guarantee any more" in window.statement.words.text()
    assert window.statement.words.property("role") == "void"
    assert "excluded" in line_state(window.round.model, 0)
    window.session.undo()
    until(qtbot, lambda: status(window).guarantee.holds)


def test_long_name_of_a_substituent_leaves_the_table_its_room(qtbot, open_window, tmp_path):
    name = "CC(C)(C)OC(=O)N1CCC(CC1)C(=O)NCCOCCOCC" + "C" * 60
    library = Library.product([Site("R1", (name, "C")), Site("R2", ("F", "Cl"))])
    history = [Result(one, 6.0 + 0.1 * number) for number, one in enumerate(library.ids)]
    made(tmp_path / "long.assaypilot", library, history=history, strategy="gaussian-process").close()
    window = open_window(tmp_path / "long.assaypilot")
    window.resize(1280, 800)
    plan_round(qtbot, window)
    show(qtbot, window, PageName.ROUND)
    page = window.round
    line = next(n for n, item in enumerate(open_round(window).items) if library.codes[item.compound, 0] == 0)
    page.panel.show_line(view(window), page.model, line)
    idle(qtbot, window)
    assert page.table.width() > window.width() / 2
