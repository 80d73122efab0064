"""Makes pictures of every page and dialog without a display: `python3 packaging/dev.py screenshots FOLDER`.

The compounds are made up, and so are their values: a simulated assay of an additive table. Each look gets a contact
sheet, and a table of the words that can be read. With `--readme` the pictures of the README are written small into
packaging/pictures, too.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PIL import Image, ImageDraw, ImageOps
from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QFileDialog,
    QHeaderView,
    QLabel,
    QLineEdit,
    QWidget,
)

from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.domain.profiles import PROFILE
from assaypilot.gui.app import dress, make_window
from assaypilot.gui.plots.canvas import Canvas
from assaypilot.gui.resources.theme import Choice, theme
from assaypilot.gui.runtime.settings import Settings
from assaypilot.gui.sar.sar_page import PAIRS
from assaypilot.gui.sar.sar_page import PICTURES as SAR_PICTURES
from assaypilot.gui.structures.drawing import Structures, drawing_pool
from assaypilot.gui.window.page import PageName

PICTURES = Path(__file__).parent / "pictures"
README = ("candidates", "goal", "round", "sar-map", "trade-offs")
COLUMNS, TILE, LINE = 6, (330, 206), 14  # of a contact sheet: pictures in a row, their size, the height of a name
PATIENCE, FORECAST = 120.0, 5.0  # seconds for what must come, and for a forecast, which may be unfinished then
NOISE = 0.2
PLANNING = ("new", "plan", "confirm", "audit")  # actions of the menus that do more than ask
R1 = (("Me", "C"), ("Et", "CC"), ("iPr", "C(C)C"), ("cPr", "C1CC1"), ("tBu", "C(C)(C)C"))
R2 = (("H", ""), ("F", "F"), ("Cl", "Cl"), ("CF3", "C(F)(F)F"), ("OMe", "OC"))
R3 = (("H", ""), ("F", "F"), ("CN", "C#N"), ("SO2Me", "S(C)(=O)=O"))
EFFECTS = ((0.0, 0.25, 0.35, 0.6, -0.3), (0.0, 0.2, 0.5, 0.65, -0.1), (0.0, 0.25, 0.7, 0.1))
LATER = "ID,R1,R2,R3\nLATER-1,cPent,H,F\nLATER-2,SF5,F,CN\nLATER-3,,Cl,H\n"
BAD = "Name;R1;R2;IC50 (nM)\n<b>CPD_$1%</b>;Me;H;35\nB-2;;Cl;n.d.\nB-3;Et;Cl;>10000\nB-3;Me;Cl;12\n=SUM(A1);Et;Cl;7,5\n"


SIZES = {"1280": (1280, 800), "1920": (1920, 1080)}
# Light or dark colours; text of twice the size; names as long as they get.
LOOKS = [f"{kind}-{size}" for size in SIZES for kind in ("light", "dark", "large-text", "long")]


def rest(milliseconds: int) -> None:
    """Let the window work; QTest.qWait would keep its worker from working meanwhile."""
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()


def made_up(folder: Path, kind: str, long: bool) -> tuple[Path, dict[str, tuple[float, float]]]:
    """Write a table of 100 benzamides; return it with the true means of both endpoints.

    `two` has a second endpoint, `stock` what is in stock, and `neighbours` is all measured and not additive.
    """
    rng = np.random.default_rng(4)
    names = ("pIC50 human receptor, radioligand displacement, 10 % serum", "pIC50 hERG automated patch clamp")
    more = {"two": f',"{names[1] if long else "hERG pIC50"}"', "stock": ",Stock,Cost (EUR),Lead time"}.get(kind, "")
    lines, truth = [f'ID,SMILES,R1,R2,R3,"{names[0] if long else "pIC50"}"{more}'], {}
    own, pairs = rng.normal(0.0, 0.3, (3, 5)), rng.normal(0.0, 0.6, (5, 4)) * (kind == "neighbours")
    for number, (a, b, c) in enumerate(itertools.product(range(5), range(5), range(4)), start=100):
        compound = f"Discovery Chemistry North benzamide {number} (racemate, batch 2, HCl)" if long else f"BZ-{number}"
        structure = f"O=C(N{R1[a][1]})c1ccc({R2[b][1]})c({R3[c][1]})c1".replace("()", "")
        effect = EFFECTS[0][a] + EFFECTS[1][b] + EFFECTS[2][c]
        truth[compound] = (6.3 + effect, 4.6 + own[0, a] + own[1, b] + own[2, c] + 0.45 * effect)
        known = kind == "neighbours" or rng.random() < 0.14
        values = [f"{one + pairs[b, c] + rng.normal(0.0, NOISE):.2f}" if known else "" for one in truth[compound]]
        cells = [f'"{compound}"', structure, R1[a][0], R2[b][0], R3[c][0], *values[: 2 if kind == "two" else 1]]
        if kind == "stock":
            cells += ["yes", "", ""] if rng.random() < 0.4 else ["no", str(rng.integers(8, 60) * 10), "3 weeks"]
        lines.append(",".join(cells))
    path = folder / f"Benzamide series 4 {kind}.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path, truth


def words(shown: QWidget) -> list[str]:
    """Return the visible words: of labels, buttons, fields and headers, without cells, plots and numbers."""
    texts: list[str] = []
    for one in shown.findChildren(QWidget):
        if one.visibleRegion().isEmpty():
            continue
        if isinstance(one, (QLabel, QAbstractButton)):
            texts.append(one.text())
        elif isinstance(one, QComboBox):
            texts.append(one.currentText())
        elif isinstance(one, QLineEdit):
            texts.append(one.text() or one.placeholderText())
        elif isinstance(one, QHeaderView) and (model := one.model()) is not None:
            seen = (place for place in range(one.count()) if not one.isSectionHidden(place))
            texts += [str(model.headerData(place, one.orientation()) or "") for place in seen]
    plain = (re.sub(r"<[^>]*>|&(?=\w)", "", text) for text in texts)
    return [word for text in plain for word in text.split() if re.search(r"[^\W\d_]{2}", word)]


class Photographer:
    """A window in one look, and the pictures taken of it."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name, self.work = folder, name, Path(tempfile.mkdtemp())
        self.kind, _, self.size = name.rpartition("-")
        colours: Choice = "dark" if self.kind == "dark" else "light"
        text = 200 if self.kind == "large-text" else 100
        self.settings = Settings(self.work / "settings.ini")
        self.settings.folder, self.settings.theme, self.settings.text_size = self.work, colours, text
        theme().choose(colours)
        theme().enlarge(text)
        self.made: list[Path] = []
        self.words: dict[str, list[str]] = {}
        self.assay = np.random.default_rng(7)
        self.open()

    def open(self) -> None:
        """Open a window of the right size."""
        self.window: Any = make_window(self.settings)
        self.window.resize(*SIZES[self.size])
        self.window.show()

    def until(self, reached: Callable[[], object], what: str, seconds: float = PATIENCE) -> None:
        """Let the window work until something is reached; what must come and does not ends the program."""
        end = time.monotonic() + seconds
        while not reached() and time.monotonic() < end:
            rest(5)
        if not reached() and seconds == PATIENCE:
            sys.exit(f"Waited in vain for {what}; the window says: {self.window.messages.text}")

    def shoot(self, name: str, widget: QWidget | None = None) -> None:
        """Take a picture once nothing is being done or drawn."""
        session = self.window.session
        lanes = (session.tasks, session.background, session.tables)
        for _ in range(2):
            rest(30)
            self.until(lambda: not any(lane.busy for lane in lanes), "the worker")
            self.until(lambda: drawing_pool().activeThreadCount() == 0, "the drawing")
        for drawn in self.window.findChildren(Structures):
            self.until(lambda one=drawn: not one.busy, "a structure")  # type: ignore[misc]
        for canvas in self.window.findChildren(Canvas):
            self.until(lambda one=canvas: one.visibleRegion().isEmpty() or one.shown, "a plot")  # type: ignore[misc]
        rest(20)
        path = self.folder / f"{name}-{self.name}.png"
        (widget or self.window).grab().save(str(path))
        self.words[name] = words(widget or self.window)
        self.made.append(path)

    def page(self, page: str, name: str) -> None:
        """Show a page and take its picture."""
        self.window.show_page(PageName[page.upper()])
        if page.upper() == "GOAL" or name in README:
            goal = self.window.goal
            patience = 4 * FORECAST if name in README else FORECAST
            self.until(lambda: not (goal.ahead.busy or goal.other.busy), "the forecast", patience)
        self.shoot(name)

    def dialogs(self, prefix: str) -> None:
        """Take a picture of whatever the menus open."""
        for name, action in vars(self.window.actions_).items():
            if isinstance(action, QAction) and action.isEnabled() and "…" in action.text() and name not in PLANNING:
                action.trigger()
                self.opened(f"{prefix}-{name}")

    def opened(self, name: str) -> None:
        """Take a picture of the dialog or menu that is open, if one is, and close it."""
        for turn in range(3):
            rest(30)
            shown = QApplication.activePopupWidget() or QApplication.activeModalWidget()
            if shown is None:
                return
            if turn == 0:
                self.shoot(name, shown)
            shown.close()

    def done(self, start: Callable[[Callable[..., None]], object]) -> Any:
        """Return what a command of the session hands back."""
        found: list[Any] = []
        start(lambda given=None: found.append(given))
        self.until(lambda: bool(found), "a command")
        return found[0]

    def measure(self, start: int = 0, end: int | None = None) -> None:
        """Enter the results of the open round, or some of them; with the last one, close it."""
        status = self.window.session.view.status
        ids, names = status.library.ids, [one.name for one in status.endpoints]
        results = [
            Result(ids[item.compound], round(mean + NOISE * self.assay.normal(), 2), name)
            for item in status.open_round.items
            for _ in range(item.replicates)
            for mean, name in zip(self.truth[ids[item.compound]], names, strict=False)
        ]
        self.done(lambda then: self.window.session.record(results[start:end], then))
        if end is None:
            self.done(lambda then: self.window.session.close_round(then=then))

    def to_the_end(self) -> None:
        """Plan and measure until the campaign has decided."""
        for _ in range(12):
            if self.done(self.window.session.plan) is None:
                return
            self.measure()

    def creation(self, kind: str, name: str = "") -> Any:
        """Return a new campaign over a table, with a picture of each view when a name is given."""
        table, self.truth = made_up(self.work, kind, self.kind == "long")
        self.window.new_campaign()
        creation = self.window.creation
        if name:
            self.shoot(f"{name}-empty", creation)
        creation.start_with(table)
        self.until(lambda: creation.goal_pane.checked and creation.columns_pane.complete, "the check")
        for view in creation.views.keys if name else ():
            creation.views.choose(view)
            self.shoot(f"{name}-{view}", creation)
        creation.views.choose("table")
        return creation

    def create(self, creation: Any, **fields: str) -> None:
        """Make the campaign of a new campaign, some fields of its goal filled in."""
        for name, text in fields.items():
            getattr(creation.goal_pane, name).edit.setText(text)
        before = self.window.session.view
        self.until(lambda: creation.complete, "the goal")
        creation.create_button.click()
        self.until(lambda: self.window.session.view is not before, "the campaign")


def journey(at: Photographer) -> None:
    """Take pictures of one campaign from the start to its confirmed shortlist."""
    window = at.window
    at.shoot("start")
    (at.work / "bad.csv").write_text(BAD, encoding="utf-8")
    window.new_campaign()
    window.creation.start_with(at.work / "bad.csv")
    at.until(lambda: window.creation.table_pane.complete, "the table")
    at.until(lambda: window.creation.columns_pane.result, "the check")
    at.shoot("new-problems", window.creation)
    window.creation.reject()
    creation = at.creation("plain", "new")
    for text, name in (("", "missing"), ("a fifth", "wrong"), (str(NOISE), "goal")):
        creation.goal_pane.noise.edit.setText(text)
        rest(400)  # until what was typed is looked at
        at.shoot(f"new-{name}", creation)
    at.create(creation, slack="0.5", per_round="96")
    for page in PageName:
        at.page(page.name, f"{page.name.lower()}-before")
    window.show_page(PageName.GOAL)
    window.goal.form.field("epsilon").edit.setText("0,7")
    at.page("goal", "goal")
    window.goal.form.field("per_round").edit.setText("a plate")
    at.shoot("goal-wrong")
    window.goal.change.leave_button.click()
    at.done(window.session.plan)
    at.page("round", "round-empty")
    (at.work / "later.csv").write_text(LATER, encoding="utf-8")
    window.adding.read(at.work / "later.csv")
    at.until(lambda: window.adding.dialog is not None, "the table")
    at.opened("compounds-later")
    at.measure(end=9)
    at.page("round", "round")
    ids = [
        at.window.session.view.status.library.ids[item.compound]
        for item in at.window.session.view.status.open_round.items
    ]
    QGuiApplication.clipboard().setText(f"ID\tValue\n{ids[4]}\t7.1\n{ids[5]}\t6.9\nBZ-999\t7.0\n{ids[7]}\toops\n")
    page = window.round
    page.reading.paste()
    at.until(lambda: page.stack.currentWidget() is page.preview, "the preview")
    at.shoot("round-paste")
    page.preview.cancelled.emit()
    number = next(one.number for values in page.model.values for one in values)
    for name, ask in (("exclude", page.values.exclude), ("correct", page.values.correct)):
        ask(number)
        at.opened(f"dialog-{name}")
    at.dialogs("open-round")
    at.measure(start=9)
    at.page("candidates", "candidates-mid")
    at.to_the_end()
    window.candidates.select(int(window.candidates.model.rows[4]))
    at.page("candidates", "candidates")
    window.candidates.filter.setText("no compound is called so")
    rest(250)
    at.shoot("candidates-none")
    window.candidates.filter.setText("")
    at.dialogs("decided")
    window.session.replay.go(window.session.replay.rounds[0])
    at.shoot("replay")
    window.session.replay.go(None)
    for name in ("goal", "history", "library"):
        at.page(name, f"{name}-decided")
    pictures_of_sar(at, "sar")
    window.round_commands.confirm()
    at.until(lambda: at.window.session.view.status.open_round, "the confirmation round", FORECAST)
    if at.window.session.view.status.open_round:  # not when every compound that is in was measured
        at.page("round", "confirmation-round")
        at.measure()
    at.page("candidates", "candidates-confirmed")
    window.show_page(PageName.GOAL)
    for name in ("endpoint", "controls"):
        getattr(window.goal.ways, f"ask_{name}")()
        at.opened(f"{name}-later")
    window.help_and_preferences.about()
    at.opened("about")


def pictures_of_sar(at: Photographer, name: str) -> None:
    """Take every picture of the SAR page."""
    at.window.show_page(PageName.SAR)
    which, kind = at.window.sar.which, at.window.sar.pairs.kind
    for choice, key in [*((which, key) for key, _ in SAR_PICTURES), *((kind, key) for key in kind.keys)]:
        which.choose(PAIRS)
        choice.choose(key)
        at.shoot(f"{name}-{key}")


def trade_offs(at: Photographer) -> None:
    """Take pictures of a profile's curves, and of a campaign for trade-offs."""
    creation = at.creation("two")
    step = creation.goal_pane
    step.objective.setCurrentIndex(step.objective.findData(PROFILE))
    at.shoot("new-profile", creation)
    step.goal.setCurrentIndex(step.goal.findData("pareto"))
    at.shoot("new-pareto-missing", creation)
    for place, box in enumerate(step.endpoints.boxes):
        box.unknown.setChecked(False)
        box.noise.edit.setText(str(NOISE))
        box.margin.edit.setText("0.4")
        box.direction.setCurrentIndex(place)
    combo = step.strategy.combo
    at.until(lambda: combo.findData("proven") >= 0, "the strategies")
    combo.setCurrentIndex(combo.findData("proven"))
    at.shoot("new-pareto", creation)
    at.create(creation, per_round="192")
    at.done(at.window.session.plan)
    at.page("round", "trade-off-round")
    at.measure()
    at.to_the_end()
    at.window.candidates.which.choose("all")
    at.page("candidates", "trade-offs")
    at.page("goal", "trade-off-goal")
    pictures_of_sar(at, "trade-off-sar")


def stock_and_plates(at: Photographer) -> None:
    """Take pictures of stock, plans, unknown noise and controls."""
    creation = at.creation("stock")
    box = creation.goal_pane.endpoints.boxes[0]
    box.unknown.setChecked(True)
    box.noise.edit.setText("")
    creation.goal_pane.controls.edit.setText("REF-1 = 7,1")
    at.shoot("new-stock", creation)
    at.create(creation, slack="0.5")
    at.page("library", "library-stock")
    at.window.plan()
    rest(300)
    if at.window.round.choice.isVisible():
        at.shoot("round-choice")
        at.window.round.choice.cards["fastest"].go.click()
    at.until(lambda: at.window.session.view.status.open_round, "the round")
    at.page("round", "round-orders")
    at.measure()
    at.page("candidates", "candidates-stock")


def not_additive(at: Photographer) -> None:
    """Take pictures of a series whose effects do not add up."""
    at.create(at.creation("neighbours"), noise=str(NOISE), slack="0.5")
    for page in ("goal", "candidates", "sar"):
        at.page(page, f"{page}-not-additive")
    at.window.strip.badge.click()
    at.shoot("statement")


def tour(at: Photographer) -> None:
    """Take pictures of the guided tour, in a window of its own."""
    at.window.close()
    at.open()
    at.window.tour.start()
    at.until(lambda: at.window.session.view is not None, "the practice campaign")
    for step in range(5):
        at.window.tour.show_step(step)
        at.shoot(f"tour-{step + 1}")


def contact_sheet(pictures: list[Path], target: Path) -> None:
    """Write all pictures small onto one, each with its name."""
    sheet = Image.new("RGB", (COLUMNS * TILE[0], -(-len(pictures) // COLUMNS) * (TILE[1] + LINE)), "white")
    for place, path in enumerate(pictures):
        x, y = place % COLUMNS * TILE[0], place // COLUMNS * (TILE[1] + LINE)
        with Image.open(path) as picture:
            sheet.paste(ImageOps.contain(picture.convert("RGB"), (TILE[0] - LINE, TILE[1])), (x, y + LINE))
        ImageDraw.Draw(sheet).text((x, y + 2), path.stem, fill="black")
    sheet.save(target)


def main() -> int:
    """Return the exit code."""
    parser = argparse.ArgumentParser(prog="dev.py screenshots", description="Pictures of every page and dialog.")
    parser.add_argument("folder", type=Path, help="where to put them")
    parser.add_argument("--readme", action="store_true", help="write the README's pictures, too")
    parser.add_argument("--only", choices=LOOKS, action="append", help="this look and no other; may be repeated")
    options = parser.parse_args()
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    wanted = options.only or LOOKS
    if options.readme and "light-1280" not in wanted:
        parser.error("the README's pictures are of light-1280")
    application = QApplication([])
    dress(application, Settings(Path(tempfile.mkdtemp()) / "settings.ini"))
    for kind in ("getOpenFileName", "getOpenFileNames", "getSaveFileName", "getExistingDirectory"):
        setattr(QFileDialog, kind, staticmethod(lambda *_, **__: ("", "")))  # the system's own, not pictured
    for name in wanted:
        began = time.monotonic()
        at = Photographer(folder, name)
        for part in (journey, trade_offs, stock_and_plates, not_additive, tour):
            part(at)
        at.window.close()
        lines = [f"{len(found)}\t{picture}\t{' '.join(found)}" for picture, found in at.words.items()]
        (folder / f"words-{name}.tsv").write_text("\n".join(["words\tpicture\ttext", *lines, ""]), encoding="utf-8")
        contact_sheet(at.made, folder / f"contact-sheet-{name}.png")
        print(f"{name}: {len(at.made)} pictures in {time.monotonic() - began:.0f} s", flush=True)
    for name in README if options.readme else ():
        with Image.open(folder / f"{name}-light-1280.png") as large:
            small = large.convert("RGB").quantize(256, dither=Image.Dither.NONE)
        small.save(PICTURES / f"{name}.png", optimize=True)
    print(f"They are in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
