"""Makes pictures of every page and dialog without a display: `python3 packaging/dev.py screenshots FOLDER`.

The compounds are made up, and so are their values: a simulated assay of an additive table. Each look gets a contact
sheet. With `--readme` the pictures of the README are written small into packaging/pictures, too.
"""

from __future__ import annotations

import argparse
import csv
import os
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
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget

from assaypilot.engine.domain.derived import PROFILE
from assaypilot.engine.domain.measurements import Result
from assaypilot.gui.app import dress, make_window
from assaypilot.gui.plots.canvas import Canvas
from assaypilot.gui.resources.theme import Choice, theme
from assaypilot.gui.runtime.settings import Settings
from assaypilot.gui.sar.sar_page import PAIRS
from assaypilot.gui.sar.sar_page import PICTURES as SAR_PICTURES
from assaypilot.gui.structures.drawing import Structures, drawing_pool
from assaypilot.gui.window.page import PageName

PICTURES = Path(__file__).parent / "pictures"
BENZAMIDES = Path(__file__).with_name("benzamides.csv")
README = ("candidates", "goal", "round", "sar-map", "trade-offs")
COLUMNS, TILE, LINE = 6, (330, 206), 14  # of a contact sheet: pictures in a row, their size, the height of a name
PATIENCE, FORECAST = 120.0, 5.0  # seconds for what must come, and for a forecast, which may be unfinished then
NOISE = 0.2
PLANNING = ("new", "plan", "confirm", "audit")  # actions of the menus that do more than ask
COMPOUND = ["ID", "SMILES", "R1", "R2", "R3", "pIC50"]
KINDS = {"two": ["hERG pIC50"], "stock": ["Stock", "Cost (EUR)", "Lead time"]}
TITLES = {"plain": "Benzamides", "two": "Benzamides, potency and hERG", "stock": "Benzamides to order"}
TITLES["neighbours"] = "Benzamides, R2 and R3"
LONG = {"pIC50": "pIC50 human receptor, radioligand displacement, 10 % serum"}
LONG["hERG pIC50"] = "pIC50 hERG automated patch clamp"
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


def benzamides(path: Path, kind: str, long: bool) -> dict[str, list[float]]:
    """Write a table of 100 benzamides, those of `neighbours` not additive; return the means of both endpoints."""
    truth, columns = {}, COMPOUND + KINDS.get(kind, [])
    with BENZAMIDES.open(newline="", encoding="utf-8") as source, path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([LONG.get(name, name) if long else name for name in columns])
        for row in csv.DictReader(source):
            row["ID"] = f"Discovery Chemistry North {row['ID']} (racemate, batch 2, HCl)" if long else row["ID"]
            row["pIC50"] = row["not additive"] if kind == "neighbours" else row["pIC50"]
            truth[row["ID"]] = [float(row["true pIC50"]), float(row["true hERG pIC50"])]
            writer.writerow([row[name] for name in columns])
    return truth


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
        session, find = self.window.session, self.window.findChildren

        def busy() -> bool:
            working = [lane.busy for lane in (session.tasks, session.background, session.tables)]
            working += [drawn.busy for drawn in find(Structures)]
            working += [not (one.shown or one.visibleRegion().isEmpty()) for one in find(Canvas)]
            return any(working) or drawing_pool().activeThreadCount() > 0

        for _ in range(2):
            rest(30)
            self.until(lambda: not busy(), "what is being done or drawn")
        path = self.folder / f"{name}-{self.name}.png"
        (widget or self.window).grab().save(str(path))
        self.made.append(path)

    def page(self, page: str, name: str) -> None:
        """Show a page and take its picture; a forecast may be unfinished then, but not in the README."""
        self.window.show_page(PageName[page.upper()])
        goal, patience = self.window.goal, 4 * FORECAST if name in README else FORECAST
        if page == "goal" or name in README:
            self.until(lambda: not (goal.ahead.busy or goal.other.busy), "the forecast", patience)
        self.shoot(name)

    def opened(self, name: str) -> None:
        """Take a picture of the dialog or menu that is open, if one is, and close it."""
        rest(30)
        if shown := QApplication.activePopupWidget() or QApplication.activeModalWidget():
            self.shoot(name, shown)
            shown.close()
            rest(30)

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
        table = self.work / f"{TITLES[kind]}.csv"
        self.truth = benzamides(table, kind, self.kind == "long")
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
    for name, text in (("bad.csv", BAD), ("later.csv", LATER)):
        (at.work / name).write_text(text, encoding="utf-8")
    window.new_campaign()
    window.creation.start_with(at.work / "bad.csv")
    at.until(lambda: window.creation.table_pane.complete, "the table")
    at.until(lambda: window.creation.columns_pane.result, "the check")
    at.shoot("new-problems", window.creation)
    window.creation.reject()
    creation = at.creation("plain", "new")
    creation.goal_pane.noise.edit.setText("a fifth")
    rest(400)  # until what was typed is looked at
    at.shoot("new-wrong", creation)
    at.create(creation, noise=str(NOISE), slack="0.5", per_round="96")
    for page in PageName:
        at.page(page.name, f"{page.name.lower()}-before")
    window.show_page(PageName.GOAL)
    window.goal.form.field("epsilon").edit.setText("0,7")
    at.page("goal", "goal")
    window.goal.change.leave_button.click()
    at.done(window.session.plan)
    at.page("round", "round-empty")
    window.adding.read(at.work / "later.csv")
    at.until(lambda: window.adding.dialog is not None, "the table")
    at.opened("compounds-later")
    at.measure(end=9)
    at.page("round", "round")
    status = window.session.view.status
    ids = [status.library.ids[item.compound] for item in status.open_round.items]
    QGuiApplication.clipboard().setText(f"ID\tValue\n{ids[4]}\t7.1\n{ids[5]}\t6.9\nBZ-999\t7.0\n{ids[7]}\toops\n")
    page = window.round
    page.reading.paste()
    at.until(page.preview.isVisible, "the preview")
    at.shoot("round-paste")
    page.preview.cancelled.emit()
    number = next(one.number for values in page.model.values for one in values)
    for name, ask in (("exclude", page.values.exclude), ("correct", page.values.correct)):
        ask(number)
        at.opened(f"dialog-{name}")
    at.measure(start=9)
    at.page("candidates", "candidates-mid")
    at.to_the_end()
    window.candidates.select(int(window.candidates.model.rows[4]))
    at.page("candidates", "candidates")
    for name, action in vars(window.actions_).items():
        if isinstance(action, QAction) and action.isEnabled() and "…" in action.text() and name not in PLANNING:
            action.trigger()
            at.opened(f"dialog-{name}")
    window.candidates.tools.draw_structure().draw("CNC(=O)c1cccc([*:1])c1")
    at.opened("dialog-draw")
    window.session.replay.go(window.session.replay.rounds[0])
    at.shoot("replay")
    window.session.replay.go(None)
    for name in ("goal", "history", "library"):
        at.page(name, f"{name}-decided")
    window.show_page(PageName.SAR)
    which, kind = window.sar.which, window.sar.pairs.kind
    for choice, key in [*((which, key) for key, _ in SAR_PICTURES), *((kind, key) for key in kind.keys)]:
        which.choose(PAIRS)
        choice.choose(key)
        at.shoot(f"sar-{key}")
    window.show_page(PageName.GOAL)
    for name in ("endpoint", "controls"):
        getattr(window.goal.ways, f"ask_{name}")()
        at.opened(f"{name}-later")
    window.help_and_preferences.about()
    at.opened("about")


def trade_offs(at: Photographer) -> None:
    """Take pictures of a profile's curves, and of a campaign for trade-offs."""
    creation = at.creation("two")
    step = creation.goal_pane
    step.objective.setCurrentIndex(step.objective.findData(PROFILE))
    at.shoot("new-profile", creation)
    step.goal.setCurrentIndex(step.goal.findData("pareto"))
    for place, box in enumerate(step.endpoints.boxes):
        box.unknown.setChecked(False)
        box.noise.edit.setText(str(NOISE))
        box.margin.edit.setText("0.4")
        box.direction.setCurrentIndex(place)
    combo = step.strategy.combo
    at.until(lambda: combo.findData("proven") >= 0, "the strategies")
    combo.setCurrentIndex(combo.findData("proven"))
    rest(400)  # until what was typed is looked at
    at.shoot("new-pareto", creation)
    at.create(creation, per_round="192")
    at.done(at.window.session.plan)
    at.page("round", "trade-off-round")
    at.measure()
    at.to_the_end()
    at.window.candidates.which.choose("all")
    at.page("candidates", "trade-offs")
    at.page("sar", "trade-off-sar")


def stock_and_plates(at: Photographer) -> None:
    """Take pictures of stock, orders, unknown noise and controls."""
    creation = at.creation("stock")
    box = creation.goal_pane.endpoints.boxes[0]
    box.unknown.setChecked(True)
    box.noise.edit.setText("")
    creation.goal_pane.controls.edit.setText("REF-1 = 7,1")
    at.shoot("new-stock", creation)
    at.create(creation, slack="0.5")
    at.page("library", "library-stock")
    at.window.plan()
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
        for part in (journey, stock_and_plates, trade_offs, not_additive, tour):
            part(at)
        at.window.close()
        contact_sheet(at.made, folder / f"contact-sheet-{name}.png")
        print(f"{name}: {len(at.made)} pictures in {time.monotonic() - began:.0f} s", flush=True)
    for name in README if options.readme else ():
        with Image.open(folder / f"{name}-light-1280.png") as large:
            small = large.convert("RGB").quantize(256, dither=Image.Dither.NONE)
        small.save(PICTURES / f"{name}.png", optimize=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
