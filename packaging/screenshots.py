"""Makes pictures of every page and dialog without a display: `python3 packaging/dev.py screenshots FOLDER`.

The compounds are made up, and so are their values: a simulated assay of an additive table. Each look gets a contact
sheet. With `--readme` the pictures of the README are written small into packaging/pictures, too.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PIL import Image, ImageDraw, ImageOps
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget

from assaypilot.engine.domain.measurements import Result
from assaypilot.gui.app import dress, make_window
from assaypilot.gui.plots.canvas import Canvas
from assaypilot.gui.resources.theme import Choice, theme
from assaypilot.gui.runtime.settings import Settings
from assaypilot.gui.structures.drawing import drawing_pool
from assaypilot.gui.window.page import PageName

PICTURES = Path(__file__).parent / "pictures"
README = {
    "candidates": "candidates-decided",
    "goal": "goal-tried",
    "round": "round-half-filled",
    "sar": "sar-map",
    "trade-offs": "trade-off-candidates",
}
"""The pictures of the README, by the names they have there."""
COLUMNS, TILE, LINE = 6, (330, 206), 14
"""Of a contact sheet: pictures in a row, their size, the height of a name; pixels."""
PATIENCE, FORECAST = 60.0, 5.0
"""Seconds to wait for what must come, and for a forecast, which may still be simulated in its picture."""
NOISE, MOST_ROUNDS = 0.2, 12
PAGES = {
    "library": PageName.LIBRARY,
    "goal": PageName.GOAL,
    "round": PageName.ROUND,
    "candidates": PageName.CANDIDATES,
    "sar": PageName.SAR,
    "history": PageName.HISTORY,
}
PLANNING = ("new", "plan", "confirm", "audit")
"""Actions of the menus that do more than ask."""

R1 = {"Me": "C", "Et": "CC", "iPr": "C(C)C", "cPr": "C1CC1", "tBu": "C(C)(C)C"}
R2 = {"H": "", "F": "F", "Cl": "Cl", "CF3": "C(F)(F)F", "OMe": "OC"}
R3 = {"H": "", "F": "F", "CN": "C#N", "SO2Me": "S(C)(=O)=O"}
EFFECTS = ((0.0, 0.25, 0.35, 0.6, -0.3), (0.0, 0.2, 0.5, 0.65, -0.1), (0.0, 0.25, 0.7, 0.1))
LATER = "ID,R1,R2,R3\nLATER-1,cPent,H,F\nLATER-2,SF5,F,CN\nLATER-3,,Cl,H\n"
BAD = "Name;R1;R2;IC50 (nM)\n<b>CPD_$1%</b>;Me;H;35\nB-2;;Cl;n.d.\nB-3;Et;Cl;>10000\nB-3;Me;Cl;12\n=SUM(A1);Et;Cl;7,5\n"


@dataclass(frozen=True, slots=True)
class Look:
    """How a window looks while it is photographed."""

    colours: Choice
    size: tuple[int, int]
    text: int = 100
    """Size of the text, per cent."""
    long: bool = False
    """Whether names are as long as they get."""


SMALL, LARGE = (1280, 800), (1920, 1080)
LOOKS = {
    "light-1280": Look("light", SMALL),
    "dark-1280": Look("dark", SMALL),
    "light-1920": Look("light", LARGE),
    "dark-1920": Look("dark", LARGE),
    "long-1280": Look("light", SMALL, long=True),
    "large-text-1920": Look("light", LARGE, 200),
    "large-text-1280": Look("light", SMALL, 200),
}


def made_up(folder: Path, name: str, long: bool) -> tuple[Path, dict[str, tuple[float, ...]]]:
    """Write a table of 100 benzamides called after `name`; return it with the true means of both endpoints.

    `two` has a second endpoint, `stock` what is in stock, and `neighbours` is all measured and not additive.
    """
    rng = np.random.default_rng(4)
    first, second = ("pIC50", "hERG pIC50")
    if long:
        first, second = "pIC50 human receptor, radioligand displacement, 10 % serum", "pIC50 hERG automated patch clamp"
    more = {"two": f',"{second}"', "stock": ",Stock,Cost (EUR),Lead time"}.get(name, "")
    lines = [f'ID,SMILES,R1,R2,R3,"{first}"{more}']
    truth: dict[str, tuple[float, ...]] = {}
    own = [rng.normal(0.0, 0.3, len(labels)) for labels in (R1, R2, R3)]
    both = rng.normal(0.0, 0.6, (len(R2), len(R3)))
    for number, (a, b, c) in enumerate(itertools.product(range(5), range(5), range(4)), start=100):
        compound = f"Discovery Chemistry North benzamide {number} (racemate, batch 2, HCl)" if long else f"BZ-{number}"
        structure = f"O=C(N{[*R1.values()][a]})c1ccc({[*R2.values()][b]})c({[*R3.values()][c]})c1".replace("()", "")
        mean = 6.3 + EFFECTS[0][a] + EFFECTS[1][b] + EFFECTS[2][c]
        truth[compound] = (mean, 4.6 + own[0][a] + own[1][b] + own[2][c] + 0.45 * (mean - 6.3))
        values = [f"{one + NOISE * rng.standard_normal():.2f}" for one in truth[compound]]
        known = rng.random() < 0.14
        if name == "neighbours":
            known, values[0] = True, f"{mean + both[b, c] + NOISE * rng.standard_normal():.2f}"
        cells = [f'"{compound}"', structure, [*R1][a], [*R2][b], [*R3][c], values[0] if known else ""]
        if name == "two":
            cells.append(values[1] if known else "")
        if name == "stock":
            cells += ["yes", "", ""] if rng.random() < 0.4 else ["no", str(rng.integers(8, 60) * 10), "3 weeks"]
        lines.append(",".join(cells))
    path = folder / f"Benzamide series 4 {name}.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path, truth


class Photographer:
    """A window in one look, and the pictures taken of it."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name, self.look = folder, name, LOOKS[name]
        self.work = Path(tempfile.mkdtemp())
        self.settings = Settings(self.work / "settings.ini")
        self.settings.folder = self.work
        self.settings.theme = self.look.colours
        self.settings.text_size = self.look.text
        theme().choose(self.look.colours)
        theme().enlarge(self.look.text)
        self.made: list[Path] = []
        self.window: Any = self.open()
        self.assay = np.random.default_rng(7)

    def open(self) -> Any:
        """Return a new window of the right size."""
        window = make_window(self.settings)
        window.resize(*self.look.size)
        window.show()
        return window

    def until(self, reached: Callable[[], bool], what: str, seconds: float = PATIENCE) -> None:
        """Let the window work until something is reached; what must come and does not ends the program."""
        end = time.monotonic() + seconds
        while not reached():
            if time.monotonic() > end:
                if seconds < PATIENCE:
                    return
                sys.exit(f"Waited in vain for {what}; the window says: {self.window.messages.text}")
            QTest.qWait(5)

    def settle(self) -> None:
        """Wait until nothing is being done or drawn."""
        session = self.window.session
        lanes = (session.tasks, session.beside, session.tables)
        for _ in range(2):
            QTest.qWait(40)
            self.until(lambda: not any(lane.busy for lane in lanes), "the worker")
            self.until(lambda: drawing_pool().activeThreadCount() == 0, "the drawing")
        for canvas in self.window.findChildren(Canvas):
            self.until(lambda one=canvas: one.visibleRegion().isEmpty() or one.shown, "a plot")  # type: ignore[misc]
        QTest.qWait(30)

    def shoot(self, name: str, widget: QWidget | None = None) -> None:
        """Take a picture once nothing is being done or drawn."""
        self.settle()
        path = self.folder / f"{name}-{self.name}.png"
        (widget or self.window).grab().save(str(path))
        self.made.append(path)

    def page(self, page: str, name: str) -> None:
        """Show a page and take its picture."""
        window = self.window
        window.show_page(PAGES[page])
        if page == "goal":
            self.until(lambda: not (window.goal.ahead.busy or window.goal.other.busy), "the forecast", FORECAST)
        self.shoot(name)

    def dialogs(self, prefix: str) -> None:
        """Take a picture of whatever the menus open."""
        for name, action in vars(self.window.actions_).items():
            if isinstance(action, QAction) and action.isEnabled() and "…" in action.text() and name not in PLANNING:
                action.trigger()
                QTest.qWait(50)
                self.opened(f"{prefix}-{name}")

    def opened(self, name: str) -> None:
        """Take a picture of the dialog or menu that is open, if one is, and close it."""
        for turn in range(3):
            shown = QApplication.activePopupWidget() or QApplication.activeModalWidget()
            if shown is None:
                return
            if turn == 0:
                self.shoot(name, shown)
            shown.close()
            QTest.qWait(20)

    # ------------------------------------------------------------------ the campaign

    @property
    def status(self) -> Any:
        """The state of the campaign."""
        return self.window.session.view.status

    def done(self, start: Callable[[Callable[..., None]], object]) -> Any:
        """Return what a command of the session hands back."""
        found: list[Any] = []
        start(lambda *given: found.append(given[0] if given else None))
        self.until(lambda: bool(found), "a command")
        return found[0]

    def results(self, truth: dict[str, tuple[float, ...]]) -> list[Result]:
        """Return what an assay says for the open round."""
        issued, ids = self.status.open_round, self.status.library.ids
        return [
            Result(ids[item.compound], round(truth[ids[item.compound]][place] + NOISE * self.assay.normal(), 2), name)
            for item in issued.items
            for _ in range(item.replicates)
            for place, name in enumerate(one.name for one in self.status.endpoints)
        ]

    def measured(self, truth: dict[str, tuple[float, ...]], first: int = 0) -> None:
        """Enter the results of the open round after the first few, and close it."""
        session = self.window.session
        self.done(lambda then: session.record(self.results(truth)[first:], then))
        self.done(lambda then: session.close_round(then=then))

    def to_the_end(self, truth: dict[str, tuple[float, ...]]) -> None:
        """Plan and measure until the campaign has decided."""
        for _ in range(MOST_ROUNDS):
            if self.done(self.window.session.plan) is None:
                return
            self.measured(truth)

    # ------------------------------------------------------------------ the wizard

    def wizard(self, table: Path, name: str = "") -> Any:
        """Return the wizard at its goal step over a table, with pictures of each step when a name is given."""
        shoot = self.shoot if name else lambda *_: None
        self.window.new_campaign()
        wizard = self.window.wizard
        shoot(f"{name}-0-empty", wizard)
        wizard.start_with(table)
        self.until(lambda: wizard.table_step.complete, "the table")
        shoot(f"{name}-1-table", wizard)
        wizard.next.click()
        self.until(lambda: wizard.columns_step.complete, "the check")
        shoot(f"{name}-2-columns", wizard)
        wizard.next.click()
        for view in ("findings", "sites", "model") if name else ():
            wizard.check_step.views.choose(view)
            shoot(f"{name}-3-{view}", wizard)
        self.settle()
        wizard.next.click()
        shoot(f"{name}-4-missing", wizard)
        return wizard

    def create(self, wizard: Any) -> None:
        """Make the campaign of a wizard whose goal is complete."""
        before = self.window.session.view
        self.until(lambda: wizard.goal_step.complete and wizard.next.isEnabled(), "the goal")
        wizard.next.click()
        self.until(lambda: self.window.session.view is not before, "the campaign")
        self.settle()


def journey(at: Photographer) -> None:
    """Take pictures of one campaign from the start to its confirmed shortlist."""
    window = at.window
    at.shoot("start")
    bad = at.work / "bad.csv"
    bad.write_text(BAD, encoding="utf-8")
    window.new_campaign()
    window.wizard.start_with(bad)
    at.until(lambda: window.wizard.table_step.complete, "the table")
    window.wizard.next.click()
    at.until(lambda: window.wizard.columns_step.result is not None, "the check")
    at.shoot("wizard-2-problems", window.wizard)
    window.wizard.reject()
    table, truth = made_up(at.work, "plain", at.look.long)
    wizard = at.wizard(table, "wizard")
    step = wizard.goal_step
    step.noise.edit.setText("a fifth")
    at.shoot("wizard-4-wrong", wizard)
    step.noise.edit.setText(str(NOISE))
    step.slack.edit.setText("0.5")
    step.per_round.edit.setText("96")
    at.shoot("wizard-4-goal", wizard)
    at.create(wizard)
    for page in PAGES:
        at.page(page, f"{page}-before")
    window.show_page(PageName.GOAL)
    form = window.goal.form
    form.field("epsilon").edit.setText("0,7")
    at.page("goal", "goal-tried")
    form.field("per_round").edit.setText("a plate")
    at.shoot("goal-wrong")
    window.goal.change.leave_button.click()
    at.done(window.session.plan)
    at.page("round", "round-empty")
    later = at.work / "later.csv"
    later.write_text(LATER, encoding="utf-8")
    window.adding.read(later)
    at.until(lambda: window.adding.dialog is not None, "the table")
    at.opened("compounds-later")
    at.done(lambda then: window.session.record(at.results(truth)[:9], then))
    at.page("round", "round-half-filled")
    ids = [at.status.library.ids[item.compound] for item in at.status.open_round.items]
    QGuiApplication.clipboard().setText(f"ID\tValue\n{ids[4]}\t7.1\n{ids[5]}\t6.9\nBZ-999\t7.0\n{ids[7]}\toops\n")
    page = window.round
    page.paste()
    at.until(lambda: page.stack.currentWidget() is page.preview, "the preview")
    at.shoot("round-paste")
    page.preview.cancelled.emit()
    number = next(one.number for values in page.model.values for one in values)
    for name, ask in (("exclude", page.exclude), ("correct", page.correct)):
        ask(number)
        at.opened(f"dialog-{name}")
    at.dialogs("open-round")
    at.measured(truth, first=9)
    at.page("candidates", "candidates-mid")
    at.to_the_end(truth)
    window.candidates.select(int(window.candidates.model.rows[4]))
    at.page("candidates", "candidates-decided")
    window.candidates.filter.setText("no compound is called so")
    QTest.qWait(250)
    at.shoot("candidates-none")
    window.candidates.filter.setText("")
    at.dialogs("decided")
    first = window.session.replay.rounds[0]
    window.session.replay.go(first)
    at.shoot("replay")
    window.session.replay.go(None)
    for page_name in ("goal", "history", "library"):
        at.page(page_name, f"{page_name}-decided")
    pictures_of_sar(at, "sar")
    window.round_commands.confirm()
    at.until(lambda: at.status.open_round is not None, "the confirmation round", FORECAST)
    if at.status.open_round is not None:  # not when every compound that is in was measured
        at.page("round", "confirmation-round")
        at.measured(truth)
    at.page("candidates", "candidates-confirmed")
    for name, ask in (("ask_endpoint", "endpoint"), ("ask_together", "together"), ("ask_controls", "controls")):
        window.show_page(PageName.GOAL)
        getattr(window.goal.ways, name)()
        at.opened(f"{ask}-later")
    window.help_and_preferences.about()
    at.opened("about")


def pictures_of_sar(at: Photographer, name: str) -> None:
    """Take every picture of the PageName.SAR page."""
    which = at.window.sar.which
    at.window.show_page(PageName.SAR)
    from assaypilot.gui.sar.sar_page import PAIRS
    from assaypilot.gui.sar.sar_page import PICTURES as KINDS

    for key, _ in KINDS:
        which.choose(key)
        at.shoot(f"{name}-{key}")
    which.choose(PAIRS)
    for key in at.window.sar.pairs.kind.keys:
        at.window.sar.pairs.kind.choose(key)
        at.shoot(f"{name}-{key}")


def trade_offs(at: Photographer) -> None:
    """Take pictures of a campaign for trade-offs."""
    table, truth = made_up(at.work, "two", at.look.long)
    wizard = at.wizard(table)
    step = wizard.goal_step
    step.goal.setCurrentIndex(step.goal.findData("pareto"))
    at.shoot("wizard-4-pareto-missing", wizard)
    for place, box in enumerate(step.endpoints.boxes):
        box.unknown.setChecked(False)
        box.noise.edit.setText(str(NOISE))
        box.margin.edit.setText("0.4")
        box.limit.edit.setText("<5.5" if place else "")
        box.direction.setCurrentIndex(place)
    step.per_round.edit.setText("192")
    combo = step.strategy.combo
    at.until(lambda: combo.findData("proven") >= 0, "the strategies")
    combo.setCurrentIndex(combo.findData("proven"))
    at.shoot("wizard-4-pareto", wizard)
    at.create(wizard)
    at.done(at.window.session.plan)
    at.page("round", "trade-off-round")
    at.measured(truth)
    at.to_the_end(truth)
    at.window.candidates.which.choose("all")
    at.page("candidates", "trade-off-candidates")
    at.page("goal", "trade-off-goal")
    pictures_of_sar(at, "trade-off-sar")


def stock_and_plates(at: Photographer) -> None:
    """Take pictures of stock, plans, unknown noise and controls."""
    table, truth = made_up(at.work, "stock", at.look.long)
    wizard = at.wizard(table)
    step = wizard.goal_step
    step.endpoints.boxes[0].unknown.setChecked(True)
    step.endpoints.boxes[0].noise.edit.setText("")
    step.slack.edit.setText("0.5")
    step.controls.edit.setText("REF-1 = 7,1")
    at.until(lambda: step.complete, "the goal")
    at.shoot("wizard-4-stock", wizard)
    at.create(wizard)
    at.page("library", "library-stock")
    at.window.plan()
    QTest.qWait(300)
    if at.window.round.choice.isVisible():
        at.shoot("round-choice")
        at.window.round.choice.cards["fastest"].go.click()
    at.until(lambda: at.status.open_round is not None, "the round")
    at.page("round", "round-orders")
    at.measured(truth)
    at.page("candidates", "candidates-stock")


def not_additive(at: Photographer) -> None:
    """Take pictures of a series whose effects do not add up."""
    table, _ = made_up(at.work, "neighbours", at.look.long)
    wizard = at.wizard(table)
    wizard.goal_step.noise.edit.setText(str(NOISE))
    wizard.goal_step.slack.edit.setText("0.5")
    at.create(wizard)
    for page in ("goal", "candidates", "sar"):
        at.page(page, f"{page}-not-additive")
    at.window.strip.badge.click()
    at.shoot("statement")
    at.window.strip.badge.click()


def tour(at: Photographer) -> None:
    """Take pictures of the guided tour, in a window of its own."""
    first, at.window = at.window, at.open()
    at.window.tour.start()
    at.until(lambda: at.window.session.view is not None, "the practice campaign")
    for step in range(5):
        at.window.tour.show_step(step)
        at.shoot(f"tour-{step + 1}")
    at.window.close()
    at.window = first


def small(picture: Path, target: Path) -> None:
    """Write a copy with a palette of 256 colours."""
    target.parent.mkdir(exist_ok=True)
    Image.open(picture).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(target, optimize=True)


def contact_sheet(pictures: list[Path], target: Path) -> None:
    """Write all pictures small onto one, each with its name."""
    rows = -(-len(pictures) // COLUMNS)
    sheet = Image.new("RGB", (COLUMNS * TILE[0], rows * (TILE[1] + LINE)), "white")
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
    parser.add_argument("--only", choices=list(LOOKS), action="append", help="this look and no other; may be repeated")
    options = parser.parse_args()
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    application = QApplication([])
    dress(application, Settings(Path(tempfile.mkdtemp()) / "settings.ini"))
    for kind in ("getOpenFileName", "getSaveFileName", "getExistingDirectory"):  # the system's own, not pictured
        setattr(QFileDialog, kind, staticmethod(lambda *_, **__: ("", "")))
    wanted = options.only or list(LOOKS)
    if options.readme and "light-1280" not in wanted:
        parser.error("the README's pictures are of light-1280")
    for name in wanted:
        began = time.monotonic()
        at = Photographer(folder, name)
        for part in (journey, trade_offs, stock_and_plates, not_additive, tour):
            part(at)
        at.window.close()
        contact_sheet(at.made, folder / f"contact-sheet-{name}.png")
        print(f"{name}: {len(at.made)} pictures in {time.monotonic() - began:.0f} s", flush=True)
    if options.readme:
        for target, picture in README.items():
            small(folder / f"{picture}-light-1280.png", PICTURES / f"{target}.png")
    print(f"They are in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
