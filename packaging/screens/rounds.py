"""Pictures of the Round page: empty, half filled, pasted into, questioned, complete, and the questions it asks."""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.domain.plates.layout import PlateUse, read_controls
from assaypilot.gui.window.main_window import ROUND
from screens.photographer import Photographer
from screens.tables import Truth

__all__ = ["first_round", "questioned"]


def first_round(at: Photographer, truth: Truth) -> None:
    """The first round from the empty list to the last result, still open."""
    window = at.window
    at.plan()
    window.show_page(ROUND)
    at.shoot("round-empty")
    window.round.ends.withdraw()
    at.shoot("round-withdraw")
    window.round.ends.withdrawing.reject()
    _work_list(at)
    _half_filled(at, truth)
    _paste(at)
    window.session.record([], None)  # a refusal, to be seen
    at.until(lambda: "no result" in window.messages.text, "the refusal")
    at.shoot("error")
    window.messages.clear()
    _questions(at)
    at.record(at.still_missing(truth))
    at.shoot("round-complete")


def questioned(at: Photographer, truth: Truth) -> None:
    """The open round is filled, with one value that surprises."""
    results = at.results(truth)
    third = len(results) // 3
    at.record(results[:third])
    odd = results[third]
    at.window.show_page(ROUND)
    at.record([Result(odd.compound, round(odd.value - 1.1, 2), odd.endpoint)])
    at.window.round.table.choose(3, "result")
    at.shoot("round-questioned")
    at.record(results[third + 1 :])


def _work_list(at: Photographer) -> None:
    """The work list without plates, on plates, and on plates there are not."""
    window = at.window
    window.work_lists.ask()
    dialog = window.work_lists.dialog
    assert dialog is not None
    at.shoot("work-list", dialog)
    for size, controls, name in (
        ("96", "1, 12", "96"), ("384", "max=1; min=2; reference=23", "384"), ("384", "1, 99", "error"),
    ):  # fmt: skip
        dialog.plate_size.choose(size)
        dialog.controls.setText(controls)
        QTest.qWait(300)
        at.shoot(f"work-list-{name}", dialog)
    dialog.reject()
    use = PlateUse(96, read_controls(["1, 12"]))
    window.work_lists.keep(use, lambda: window.work_lists.to(at.work / "work list.csv", use))
    at.until(lambda: "written" in window.messages.text, "the work list")
    at.shoot("round-wells")
    window.messages.clear()


def _half_filled(at: Photographer, truth: Truth) -> None:
    """A round with some results, and one that was typed wrongly."""
    page = at.window.round
    at.record(at.results(truth)[:9])
    line = page.model.first_empty() or 0
    page.values.enter(line, 0, "; ".join(filter(None, [page.model.kept_text(line), "35"])))
    page.table.choose(line, "result")
    at.shoot("round-half-filled")
    looks = page.plates_pane.by
    for look in range(1, looks.count()):
        looks.setCurrentIndex(look)
        at.shoot(f"round-plate-{look}")
    looks.setCurrentIndex(0)
    page.values.forget(line, 0)


def _paste(at: Photographer) -> None:
    """What a paste would write."""
    ids = [at.view.status.library.ids[item.compound] for item in at.round.items]
    block = [
        ["ID", at.look.words.first],
        [ids[4], "7.1"],
        [ids[5], "6.9"],
        [ids[6], "n.d."],
        [at.look.words.compound.format(999), "7.0"],
        [ids[7], "oops"],
    ]
    QGuiApplication.clipboard().setText("\n".join("\t".join(row) for row in block) + "\n")
    page = at.window.round
    page.paste()
    at.until(lambda: page.stack.currentWidget() is page.preview, "the preview")
    at.shoot("round-paste")
    page.preview.cancelled.emit()


def _questions(at: Photographer) -> None:
    """What is asked before a round ends, and the dialogs that ask for a reason."""
    window = at.window
    window.close_round()
    at.shoot("round-close")
    window.closing.options["other"].setChecked(True)
    at.shoot("round-close-other")
    window.closing.reject()
    number = next(one.number for values in window.round.model.values for one in values)
    for name, ask in (("dialog-exclude", window.round.exclude), ("dialog-correct", window.round.correct)):
        ask(number)
        at.dialog(name).close()
