"""Makes pictures of every page of the window without a display: `python packaging/screenshots.py FOLDER`.

The compounds in them are made up, and so are their values: a simulated assay of an additive table.
With `--readme` the three pictures of the README are written small into packaging/pictures instead.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from assaypilot.engine.campaign.state import Round
from assaypilot.engine.measurements import Result
from assaypilot.engine.plates.layout import PlateUse, read_controls
from assaypilot.engine.simulate.virtual_assay import VirtualAssay
from assaypilot.gui.app import dress, make_window
from assaypilot.gui.dialogs.new_campaign import NewCampaign
from assaypilot.gui.dialogs.work_list import values_of
from assaypilot.gui.main_window import CANDIDATES, HISTORY, ROUND, SAR, MainWindow
from assaypilot.gui.pages.sar import PICTURES as PICTURES_OF_SAR
from assaypilot.gui.plots.canvas import Canvas
from assaypilot.gui.settings import Settings
from assaypilot.gui.theme import Choice, theme

PICTURES = Path(__file__).parent / "pictures"
SIZES = {"1280": QSize(1280, 800), "1920": QSize(1920, 1080)}
PATIENCE = 30.0

R1 = {"Me": "C", "Et": "CC", "iPr": "C(C)C", "cPr": "C1CC1", "tBu": "C(C)(C)C"}
R2 = {"H": "", "F": "F", "Cl": "Cl", "CF3": "C(F)(F)F", "OMe": "OC"}
R3 = {"H": "", "F": "F", "CN": "C#N", "SO2Me": "S(C)(=O)=O"}
EFFECTS = ((0.0, 0.25, 0.35, 0.6, -0.3), (0.0, 0.2, 0.5, 0.65, -0.1), (0.0, 0.25, 0.7, 0.1))
NOISE = 0.2


def benzamides(folder: Path) -> tuple[Path, dict[str, float]]:
    """A table of 100 made-up benzamides, some with earlier values, and the truth behind it."""
    rng = np.random.default_rng(4)
    lines, truth = ["ID,SMILES,R1,R2,R3,pIC50"], {}
    for number, (a, b, c) in enumerate(itertools.product(range(5), range(5), range(4)), start=100):
        name = f"BZ-{number}"
        n, x, y = list(R1.values())[a], list(R2.values())[b], list(R3.values())[c]
        smiles = f"O=C(N{n})c1ccc({x})c({y})c1".replace("()", "")
        truth[name] = 6.3 + EFFECTS[0][a] + EFFECTS[1][b] + EFFECTS[2][c]
        known = f"{truth[name] + NOISE * rng.standard_normal():.2f}" if rng.random() < 0.14 else ""
        lines.append(f"{name},{smiles},{list(R1)[a]},{list(R2)[b]},{list(R3)[c]},{known}")
    path = folder / "Benzamide series 4.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path, truth


def two_endpoints(folder: Path) -> tuple[Path, tuple[dict[str, float], dict[str, float]]]:
    """The made-up benzamides with a second endpoint that gets worse as the first gets better, and both truths."""
    table, first = benzamides(folder)
    rng = np.random.default_rng(9)
    effects = [rng.normal(0.0, 0.3, len(labels)) for labels in (R1, R2, R3)]
    head, *rows = table.read_text(encoding="utf-8").splitlines()
    second, lines = {}, [f"{head},hERG pIC50"]
    for row, places in zip(rows, itertools.product(range(5), range(5), range(4)), strict=True):
        name = row.split(",")[0]
        own = sum(float(values[at]) for values, at in zip(effects, places, strict=True))
        second[name] = 4.6 + own + 0.45 * (first[name] - 6.3)
        known = f"{second[name] + NOISE * rng.standard_normal():.2f}" if rng.random() < 0.1 else ""
        lines.append(f"{row},{known}")
    path = folder / "Benzamides and hERG.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path, (first, second)


class Photographer:
    """Drives a window and keeps pictures of it."""

    def __init__(self, application: QApplication, folder: Path, choice: Choice, size: str) -> None:
        self.application, self.folder, self.size = application, folder, SIZES[size]
        self.tag = f"{choice}-{size}"
        self.work = Path(tempfile.mkdtemp())
        self.settings = Settings(self.work / "settings.ini")
        self.settings.folder = self.work
        self.settings.theme = choice
        theme().choose(choice)
        self.window = self.open()
        self.made: list[Path] = []

    def open(self) -> MainWindow:
        """A window of the right size."""
        window = make_window(self.settings)
        window.resize(self.size)
        window.show()
        return window

    def until(self, reached: Callable[[], bool], what: str) -> None:
        """Nothing; lets the window work until something is reached."""
        end = time.monotonic() + PATIENCE
        while not reached():
            if time.monotonic() > end:
                sys.exit(f"Waited in vain for {what}; the window says: {self.window.messages.text}")
            QTest.qWait(5)

    def settle(self) -> None:
        """Nothing; waits until nothing is being done or drawn."""
        from assaypilot.gui.widgets.structures import drawing_pool

        window = self.window
        for _ in range(3):
            QTest.qWait(80)
            self.until(lambda: not (window.session.tasks.busy or window.session.beside.busy), "the worker")
            self.until(lambda: drawing_pool().activeThreadCount() == 0, "the drawing")
        for canvas in (window.candidates.canvas, window.candidates.panel.canvas, window.sar.canvas):
            self.until(partial(settled, canvas), "a plot")
        QTest.qWait(60)

    def shoot(self, name: str, widget: QWidget | None = None) -> Path:
        """The picture's file."""
        self.settle()
        path = self.folder / f"{name}-{self.tag}.png"
        (widget or self.window).grab().save(str(path))
        self.made.append(path)
        return path

    # ------------------------------------------------------------------ the journey

    def wizard(self, table: Path) -> None:
        """Nothing; pictures of the three steps, and a campaign."""
        self.window.new_campaign()
        wizard = self.window.wizard
        assert wizard is not None
        self.shoot("wizard-0-empty", wizard)
        wizard.start_with(table)
        self.until(lambda: wizard.table_step.complete, "the table")
        self.shoot("wizard-1-table", wizard)
        wizard.next.click()
        self.until(lambda: wizard.columns_step.complete, "the check")
        self.shoot("wizard-2-columns", wizard)
        wizard.next.click()
        self.shoot("wizard-3-check", wizard)
        for view in ("sites", "model"):
            wizard.check_step.views.choose(view)
            self.shoot(f"wizard-3-{view}", wizard)
        wizard.next.click()
        self.shoot("wizard-4-missing", wizard)
        wizard.goal_step.noise.edit.setText(str(NOISE))
        wizard.goal_step.slack.edit.setText("0.5")
        wizard.goal_step.per_round.edit.setText("96")
        wizard.goal_step.budget.edit.setText("1200")
        self.until(lambda: wizard.goal_step.complete, "the outlook")
        self.shoot("wizard-4-goal", wizard)
        wizard.next.click()
        self.until(lambda: self.window.session.view is not None, "the campaign")

    def bad_tables(self) -> None:
        """Nothing; pictures of a table that needs a decision, and of one that cannot be read."""
        path = self.work / "hostile.csv"
        path.write_text(
            "Name;R1;R2;IC50 (nM)\n<b>CPD_$1_$2%</b>;Me;H;35\nB-2;;Cl;n.d.\nB-3;Et;Cl;>10000\nB-3;Me;Cl;12\n"
            "B-4;Et;H;abc\n=SUM(A1);Et;Cl;7,5\n",
            encoding="utf-8",
        )
        wizard = NewCampaign(self.window.session, self.settings, self.window)
        wizard.open()
        wizard.start_with(path)
        self.until(lambda: wizard.table_step.complete, "the table")
        wizard.next.click()
        self.until(lambda: wizard.columns_step.result is not None, "the check")
        self.shoot("wizard-2-problems", wizard)
        wizard.reject()
        wizard = NewCampaign(self.window.session, self.settings, self.window)
        wizard.open()
        wizard.start_with(self.work / "missing.csv")
        self.until(lambda: not wizard.table_step.problem.isHidden(), "the refusal")
        self.shoot("wizard-0-error", wizard)
        wizard.reject()

    def results(self, truth: dict[str, float]) -> list[Result]:
        """What the simulated assay says for the open round."""
        view = self.window.session.view
        assert view is not None
        assert view.status.open_round is not None
        issued: Round = view.status.open_round
        ids = view.status.library.ids
        assay = VirtualAssay(np.array([truth[name] for name in ids]), NOISE, 7)
        return assay.measure(issued, view.status.endpoints[0], ids)

    def record(self, results: list[Result]) -> None:
        """Nothing; enters results."""
        done: list[object] = []
        self.window.session.record(results, done.append)
        self.until(lambda: bool(done), "the results")

    def plan(self) -> bool:
        """Whether there was another round to plan."""
        done: list[object] = []
        self.window.session.plan(done.append)
        self.until(lambda: bool(done), "the plan")
        return done[0] is not None

    def close_round(self) -> None:
        """Nothing; closes the open round."""
        done: list[object] = []
        self.window.session.close_round(then=lambda: done.append(1))
        self.until(lambda: bool(done), "the round to close")

    def journey(self) -> None:
        """Nothing; every page, from the start to the decided set."""
        window = self.window
        self.shoot("start")
        table, truth = benzamides(self.work)
        self.wizard(table)
        self.shoot("library")
        window.show_page(ROUND)
        self.shoot("round-none")
        window.show_page(CANDIDATES)
        self.shoot("candidates-before")
        window.show_page(SAR)
        self.shoot("sar-before")
        self.plan()
        window.show_page(ROUND)
        self.shoot("round-empty")
        self.work_list()
        self.half_filled(truth)
        self.paste_preview()
        window.session.record([], None)  # a refusal, to be seen
        self.until(lambda: "no result" in window.messages.text, "the refusal")
        self.shoot("error")
        window.messages.clear()
        self.close_dialogs()
        missing = self.still_missing(truth)
        self.record(missing)
        self.shoot("round-complete")
        self.close_round()
        window.show_page(CANDIDATES)
        self.shoot("candidates-mid")
        for number in range(16):
            if not self.plan():
                break
            results = self.results(truth)
            self.record(results[: len(results) // 3] if number == 0 else results)
            if number == 0:
                view = window.session.view
                assert view is not None
                odd = results[len(results) // 3]
                window.show_page(ROUND)
                self.record([Result(odd.compound, round(odd.value - 1.1, 2), odd.endpoint)])
                window.round.table.choose(3, "result")
                self.shoot("round-questioned")
                self.record(results[len(results) // 3 + 1 :])
            self.close_round()
        window.show_page(CANDIDATES)
        window.candidates.select(int(window.candidates.model.rows[4]))
        self.shoot("candidates-decided")
        window.candidates.which.choose("all")
        window.candidates.filter.setText("R1=Me <7.2")
        QTest.qWait(250)
        self.shoot("candidates-filtered")
        self.exports()
        self.sar()
        window.show_page(HISTORY)
        self.shoot("history")
        self.second_window()

    def sar(self, name: str = "sar") -> None:
        """Nothing; every picture of the SAR page, and what is said of a cell."""
        page = self.window.sar
        self.window.show_page(SAR)
        for key, _ in PICTURES_OF_SAR:
            page.which.choose(key)
            self.shoot(f"{name}-{key}")
        page.which.choose("map")
        self.settle()
        page.canvas.setFocus()
        for arrow in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Down):
            QTest.keyClick(page.canvas, arrow)
        QTest.keyClick(page.canvas, Qt.Key.Key_Return)
        self.shoot(f"{name}-cell")

    def work_list(self) -> None:
        """Nothing; the work list of the open round, without plates, on plates, and on plates there are not."""
        window = self.window
        window.work_lists.ask()
        dialog = window.work_lists.dialog
        assert dialog is not None
        self.shoot("work-list", dialog)
        for size, controls in (("96", "1, 12"), ("384", "max=1; min=2; reference=23"), ("384", "1, 99")):
            dialog.plate_size.choose(size)
            dialog.controls.setText(controls)
            QTest.qWait(300)
            self.shoot(f"work-list-{size}{'' if '99' not in controls else '-error'}", dialog)
        dialog.reject()
        use = PlateUse(96, read_controls(["1, 12"]))
        window.work_lists.to(self.work / "work list.csv", use, "list", values_of(use, "1, 12", kind="list"))
        self.until(lambda: "written" in window.messages.text, "the work list")
        self.shoot("round-wells")
        window.messages.clear()

    def exports(self) -> None:
        """Nothing; what is exported: asked, under way, done and refused."""
        window = self.window
        window.exporting.ask(None, "screen")
        dialog = window.exporting.dialog
        assert dialog is not None
        self.shoot("export", dialog)
        window.candidates.filter.setText("nothing like it")
        dialog.reject()
        window.exporting.ask(None, "screen")
        assert window.exporting.dialog is not None
        self.shoot("export-empty", window.exporting.dialog)
        window.exporting.dialog.reject()
        window.candidates.filter.setText("")
        for key in ("mw", "clogp", "lle"):
            window.candidates.arrangement.show(key, True)
        QTest.qWait(250)
        self.shoot("candidates-properties")
        window.candidates.choose_columns()
        menu = QApplication.activePopupWidget()
        assert menu is not None
        self.shoot("columns", menu)
        menu.close()
        window.candidates.arrangement.as_at_first()
        job = window.exporting.to(self.work / "For the project lead, benzamides, November.xlsx", "all")
        assert job is not None
        self.until(window.work.isVisible, "the export to begin")
        window.grab().save(str(self.folder / f"export-busy-{self.tag}.png"))
        self.until(lambda: "written" in window.messages.text, "the export")
        self.shoot("export-done")
        window.exporting.to(self.work / "no such folder" / "x.csv", "all")
        self.until(lambda: "no such folder" in window.messages.text, "the refusal")
        self.shoot("export-error")
        window.messages.clear()

    def half_filled(self, truth: dict[str, float]) -> None:
        """Nothing; a round with some results, and one that was typed wrongly."""
        window = self.window
        model, page = window.round.model, window.round
        results = self.results(truth)
        self.record(results[:9])
        line = model.first_empty() or 0
        page.values.enter(line, 0, "; ".join(filter(None, [model.kept_text(line), "35"])))
        page.table.choose(line, "result")
        self.shoot("round-half-filled")
        page.values.forget(line, 0)

    def paste_preview(self) -> None:
        """Nothing; what a paste would write."""
        view = self.window.session.view
        assert view is not None
        assert view.status.open_round is not None
        ids = [view.status.library.ids[item.compound] for item in view.status.open_round.items]
        block = [
            ["ID", "pIC50"],
            [ids[4], "7.1"],
            [ids[5], "6.9"],
            [ids[6], "n.d."],
            ["BZ-999", "7.0"],
            [ids[7], "oops"],
        ]
        QGuiApplication.clipboard().setText("\n".join("\t".join(row) for row in block) + "\n")
        self.window.round.paste()
        self.until(lambda: self.window.round.stack.currentWidget() is self.window.round.preview, "the preview")
        self.shoot("round-paste")
        self.window.round.preview.cancelled.emit()

    def close_dialogs(self) -> None:
        """Nothing; the dialogs that ask for a reason."""
        window = self.window
        window.close_round()
        self.shoot("dialog-close-round", window.closing)
        window.closing.reject()
        number = next(one.number for values in window.round.model.values for one in values)
        for name, ask in (("dialog-exclude", window.round.exclude), ("dialog-correct", window.round.correct)):
            ask(number)
            dialog = QApplication.activeModalWidget()
            assert dialog is not None
            self.shoot(name, dialog)
            dialog.close()

    def still_missing(self, truth: dict[str, float]) -> list[Result]:
        """Results for what the open round still waits for."""
        view = self.window.session.view
        assert view is not None
        assert view.status.open_round is not None
        left = {
            view.status.library.ids[item.compound]: item.replicates - back
            for item, back in zip(view.status.open_round.items, view.status.open_round.returned, strict=True)
        }
        kept = []
        for result in reversed(self.results(truth)):
            if left.get(result.compound, 0) > 0:
                left[result.compound] -= 1
                kept.append(result)
        return kept[::-1]

    def second_window(self) -> None:
        """Nothing; the same file in a second window, read-only."""
        first = self.window
        view = first.session.view
        assert view is not None
        self.window = self.open()
        self.window.open_path(view.path)
        self.until(lambda: self.window.session.view is not None, "the second window")
        self.shoot("read-only")
        self.window.show_help()
        self.window.close()
        self.window = first

    # ------------------------------------------------------------------ trade-offs

    def trade_offs(self) -> None:
        """Nothing; a campaign for trade-offs with a limit, from its wizard to its front."""
        table, truths = two_endpoints(self.work)
        self.goal_step(table)
        window = self.window
        window.show_page(CANDIDATES)
        self.shoot("trade-off-candidates-before")
        self.plan()
        window.show_page(ROUND)
        self.record(self.both(truths)[:7])
        self.shoot("trade-off-round")
        window.close_round()
        self.shoot("trade-off-close-round", window.closing)
        window.closing.reject()
        for number in range(12):
            if number and not self.plan():
                break
            self.record(self.both(truths, skip=7 if number == 0 else 0))
            self.close_round()
            if number == 0:
                window.show_page(CANDIDATES)
                self.shoot("trade-off-candidates-first")
        window.show_page(CANDIDATES)
        window.candidates.which.choose("all")
        self.shoot("trade-off-candidates")
        self.sar("trade-off-sar")

    def goal_step(self, table: Path) -> None:
        """Nothing; the wizard's last step for each goal, and a campaign for trade-offs."""
        self.window.new_campaign()
        wizard = self.window.wizard
        assert wizard is not None
        wizard.start_with(table)
        self.until(lambda: wizard.table_step.complete, "the table")
        wizard.next.click()
        self.until(lambda: wizard.columns_step.complete, "the check")
        wizard.next.click()
        wizard.next.click()
        step = wizard.goal_step
        for key in ("best", "pareto"):
            step.goal.setCurrentIndex(step.goal.findData(key))
            self.shoot(f"wizard-4-{key}-missing", wizard)
        for name, limit in (("pIC50", ""), ("hERG pIC50", "<5.5")):
            box = step.endpoints.box(name)
            assert box is not None
            box.noise.edit.setText(str(NOISE))
            box.margin.edit.setText("0.4")
            box.limit.edit.setText(limit)
            box.direction.setCurrentIndex(0 if name == "pIC50" else 1)
        step.per_round.edit.setText("192")
        self.until(lambda: step.complete, "the goal")
        self.shoot("wizard-3-pareto", wizard)
        before = self.window.session.view
        wizard.next.click()
        self.until(lambda: self.window.session.view is not before, "the campaign")

    def both(self, truths: tuple[dict[str, float], dict[str, float]], skip: int = 0) -> list[Result]:
        """What the simulated assays say for both endpoints of the open round, without the first ``skip``."""
        view = self.window.session.view
        assert view is not None
        assert view.status.open_round is not None
        issued, ids = view.status.open_round, view.status.library.ids
        results: list[Result] = []
        for place, truth in zip(issued.endpoints, truths, strict=True):
            assay = VirtualAssay(np.array([truth[name] for name in ids]), NOISE, 7 + place)
            results += assay.measure(issued, view.status.endpoints[place], ids)
        rank = {ids[item.compound]: n for n, item in enumerate(issued.items)}
        return sorted(results, key=lambda result: rank[result.compound])[skip:]

    def close(self) -> None:
        """Nothing; closes the window."""
        self.window.close()


def settled(canvas: Canvas) -> bool:
    """Whether a plot is drawn, or not to be seen."""
    return not canvas.isVisible() or canvas.shown


def small(picture: Path, target: Path) -> None:
    """Nothing; a copy with a palette of its 256 commonest colours, all others as the nearest of them."""
    image = QImage(str(picture)).convertToFormat(QImage.Format.Format_RGB32)
    width, height = image.width(), image.height()
    pixels = np.frombuffer(image.constBits(), dtype=np.uint32).reshape(height, -1)[:, :width] & 0xFFFFFF
    colours, places, counts = np.unique(pixels, return_inverse=True, return_counts=True)
    kept = colours[np.argsort(-counts, kind="stable")[:256]]
    parts = [(np.asarray(values)[:, None] >> np.array([16, 8, 0])) & 255 for values in (colours, kept)]
    distance = ((parts[0][:, None, :].astype(np.int64) - parts[1][None, :, :]) ** 2).sum(axis=2)
    indices = distance.argmin(axis=1).astype(np.uint8)[places.reshape(height, width)]
    made = QImage(np.ascontiguousarray(indices).tobytes(), width, height, width, QImage.Format.Format_Indexed8)
    made.setColorTable([0xFF000000 | int(colour) for colour in kept])
    target.parent.mkdir(exist_ok=True)
    if not made.save(str(target), quality=0):
        sys.exit(f"{target} cannot be written.")


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(description="Pictures of every page, made without a display.")
    parser.add_argument("folder", nargs="?", type=Path, help="where to put them")
    parser.add_argument("--readme", action="store_true", help="write the README's pictures, too")
    parser.add_argument("--only", choices=["light-1280", "dark-1280", "light-1920", "dark-1920"], action="append")
    options = parser.parse_args()
    folder: Path = options.folder or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    application = QApplication([])
    dress(application, Settings(Path(tempfile.mkdtemp()) / "settings.ini"))
    choices: tuple[tuple[Choice, str], ...] = (("light", "1280"), ("dark", "1280"), ("light", "1920"), ("dark", "1920"))
    for choice, size in choices:
        if options.only and f"{choice}-{size}" not in options.only:
            continue
        photographer = Photographer(application, folder, choice, size)
        photographer.journey()
        photographer.bad_tables()
        photographer.trade_offs()
        photographer.close()
        print(f"{choice} {size}: {len(photographer.made)} pictures")
        if options.readme and (choice, size) == ("light", "1280"):
            for name, picture in (
                ("candidates", "candidates-decided"), ("round", "round-half-filled"), ("library", "library"),
            ):  # fmt: skip
                small(folder / f"{picture}-light-1280.png", PICTURES / f"{name}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
