"""The journeys that ``tests.benchmarks.window`` measures: through a whole campaign, and over a million compounds."""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import tempfile
import time
from operator import attrgetter
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from PySide6.QtCore import QItemSelection, QItemSelectionModel, Qt, qInstallMessageHandler
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.settings import Settings as CampaignSettings
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library, Site
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.system.resources import give_memory_back
from assaypilot.gui.app import TURN, dress, make_window, preload
from assaypilot.gui.runtime.settings import Settings
from assaypilot.gui.sar.sar_page import PICTURES
from assaypilot.gui.structures.drawing import drawing_pool
from assaypilot.gui.window.main_window import MainWindow
from assaypilot.gui.window.page import PageName
from tests.benchmarks.stalls import Heart, heading

AMINES = tuple("C" * n for n in range(1, 9)) + tuple(f"{'C' * n}O" for n in range(1, 9)) + tuple(
    f"{'C' * n}N1CC{'C' * m}1" for n in range(1, 4) for m in range(1, 4)
)  # fmt: skip
TAILS = ("F", "Cl", "Br", "C", "CC", "CCC", "C#N", "OC", "OCC", "C(F)(F)F", "C(C)C", "C9CC9", "SC", "S(C)(=O)=O",
         "N(C)C", "NC(C)=O", "C(N)=O", "OC(F)F", "c9ccncc9", "n9cccn9")  # fmt: skip
NOISE = 0.2
OWN = 0.3
"""SD of what a compound has beyond the sum of its groups: without it two rounds decide everything."""
SETTLED = 0.06


class Journey:
    """A window, the heart that watches it, and the truth behind its table."""

    def __init__(self, folder, *, where):
        self.folder = folder
        settings = Settings(folder / "settings" / "settings.ini")
        settings.folder = folder
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        dress(application, settings)
        self.heart = Heart(where=where)
        with self.heart.step("the window is made (before anybody sees it)"):
            self.window: MainWindow = make_window(settings)
        self.step("the window is shown", self.window.show)
        sys.setswitchinterval(TURN)
        self.step("what may be wanted is loaded", preload)
        self.rng = np.random.default_rng(1)
        self.effects: list[np.ndarray] = []

    @property
    def view(self):
        """What the window shows."""
        assert self.window.session.view is not None
        return self.window.session.view

    def settle(self):
        """Wait until nothing is being done or drawn."""
        session = self.window.session
        quiet = 0
        while quiet < 3:
            self.heart.turn(SETTLED / 3)
            done = not any(one.busy for one in (session.tasks, session.background, session.tables))
            done = done and drawing_pool().activeThreadCount() == 0
            quiet = quiet + 1 if done else 0

    def step(self, name, action, reached=lambda: True):
        """Do something and wait until it is reached and all is settled."""
        with self.heart.step(name):
            action()
            self.heart.until(reached, name)
            self.settle()

    def page(self, place, name):
        """Show a page."""
        self.step(f"page {name}", lambda: self.window.show_page(place))

    def close(self):
        """Close the window."""
        self.settle()
        self.window.close()
        self.heart.stop()

    # ------------------------------------------------------------------ the assay

    def measured(self, shown):
        """What the lab sends back, as a spreadsheet copies it."""
        library = self.view.status.library
        lines = ["ID\tpIC50"]
        for item, back in zip(shown.items, shown.returned, strict=True):
            own = OWN * np.random.default_rng(item.compound).standard_normal()
            mean = mean_of(self.effects, library.codes[item.compound]) + own
            noise = NOISE * self.rng.standard_normal(item.replicates - back)
            lines += [f"{library.ids[item.compound]}\t{mean + one:.2f}" for one in noise]
        return "\r\n".join(lines) + "\r\n"


def mean_of(effects, codes):
    """The true mean of a compound."""
    return 6.0 + float(sum(values[code] for values, code in zip(effects, codes, strict=True)))


def table(folder):
    """A made-up series of 10,000 amides with structures; some hundred were measured before."""
    rng = np.random.default_rng(0)
    effects = [rng.normal(0.0, 0.3, n) for n in (25, 20, 20)]
    lines = ["ID,SMILES,R1,R2,R3,pIC50"]
    for number, (a, b, c) in enumerate(itertools.product(range(25), range(20), range(20)), start=1):
        smiles = f"O=C(N{AMINES[a]})c1cc({TAILS[b]})cc({TAILS[c]})c1"
        value = 6.0 + effects[0][a] + effects[1][b] + effects[2][c] + NOISE * rng.standard_normal()
        known = f"{value:.2f}" if number % 37 == 0 else ""
        lines.append(f"CPD-{number},{smiles},A{a},{TAILS[b]},{TAILS[c]},{known}")
    path = folder / "amides.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def journey(folder, *, where):
    """From a table to an export."""
    made = table(folder)
    run = Journey(folder, where=where)
    window, heart = run.window, run.heart
    imported(run, made)
    rng = np.random.default_rng(0)
    library = run.view.status.library
    run.effects = [rng.normal(0.0, 0.3, len(site.substituents)) for site in library.sites]
    run.page(PageName.CANDIDATES, "Candidates, before the first round")
    run.page(PageName.SAR, "SAR, the first time")
    for number in (1, 2):
        one_round(run, number)
    look(run, window.candidates, PageName.CANDIDATES, "Candidates", FILTERS)
    pictures(run)
    look(run, window.library, PageName.LIBRARY, "Library", FILTERS)
    run.page(PageName.HISTORY, "History")
    for ending in (".csv", ".xlsx"):
        path = folder / f"out{ending}"
        run.step(f"export 10,000 to {ending}", lambda path=path: window.exporting.to(path, "all"), path.exists)
    taken_back(run)
    path = run.view.path
    run.step("open the campaign again", lambda: window.open_path(path), lambda: window.session.view is not None)
    run.close()
    summary(heart)


def imported(run, made):
    """A new campaign."""
    window = run.window
    run.step("new campaign opened", window.new_campaign)
    creation = window.creation
    run.step("new campaign: table read", lambda: creation.start_with(made), lambda: creation.table_pane.complete)
    run.step(
        "new campaign: checked",
        lambda: None,
        lambda: creation.goal_pane.checked is not None and creation.columns_pane.complete,
    )
    for view in creation.views.keys:
        run.step(f"new campaign: {view}", lambda view=view: creation.views.choose(view))

    def typed():
        creation.goal_pane.noise.edit.setText(str(NOISE))
        creation.goal_pane.slack.edit.setText("0.5")
        creation.goal_pane.per_round.edit.setText("500")
        creation.goal_pane.file.edit.setText(str(run.folder / "amides.assaypilot"))

    run.step("new campaign: goal typed", typed, lambda: creation.complete)
    run.step("new campaign: campaign created", creation.create_button.click, lambda: window.session.view is not None)


def one_round(run, number):
    """Plan, pastes all results and close."""
    window = run.window
    filled(run, number)
    run.step(f"round {number}: close asked", window.close_round)
    run.step(f"round {number}: closed", window.closing.confirm.click, lambda: run.view.status.open_round is None)


def filled(run, number):
    """Plan and paste all results."""
    window = run.window
    run.step(f"round {number}: plan", window.plan, lambda: run.view.status.open_round is not None)
    shown = run.view.status.open_round
    assert shown is not None
    QGuiApplication.clipboard().setText(run.measured(shown))
    run.page(PageName.ROUND, "Round")
    run.step(
        f"round {number}: {shown.measurements} values pasted", window.round.paste_button.click,
        lambda: window.round.stack.currentWidget() is window.round.preview,
    )  # fmt: skip
    run.step(
        f"round {number}: written", window.round.preview.write.click,
        lambda: run.view.status.open_round is not None and run.view.status.open_round.missing == 0,
    )  # fmt: skip


def taken_back(run):
    """A third round and its results, both undone and done again: what was closed cannot be undone."""
    filled(run, 3)
    undo, redo = run.window.actions_.undo, run.window.actions_.redo
    run.page(PageName.CANDIDATES, "Candidates")
    for action in (undo, undo, redo, redo):
        head, name = run.view.status.head, action.text().replace("&", "")
        run.step(name, action.trigger, lambda head=head: run.view.status.head != head)


def look(run, page, place, name, filters):
    """Filter, sorts, scrolls, selects, chooses columns and copy on a page with a table."""
    window, table = run.window, page.table
    model = table.rows_model
    run.page(place, name)
    if page is window.candidates:
        for key in ("all", "in", "alive", "all"):
            run.step(f"{name}: {key}", lambda key=key: window.candidates.which.choose(key))
    everything = model.rowCount()
    for text in filters:
        before = model.rowCount()

        def typed(text=text):
            page.filter.setText(text)

        run.step(f"{name}: filter {text!r}", typed, lambda before=before: model.rowCount() != before)
        page.filter.setText("")
        heart_until(run, lambda: model.rowCount() == everything)
    for at, column in enumerate(model.columns):
        if column.rank is None or table.isColumnHidden(at):
            continue
        for order, word in ((Qt.SortOrder.AscendingOrder, ""), (Qt.SortOrder.DescendingOrder, ", falling")):
            run.step(
                f"{name}: sort {' '.join(column.title.split())}{word}",
                lambda at=at, order=order: table.sortByColumn(at, order), lambda: not model.busy,
            )  # fmt: skip
    run.step(f"{name}: down by keys", lambda: [QTest.keyClick(table, Qt.Key.Key_Down) for _ in range(3)])
    run.step(f"{name}: Ctrl+End", lambda: press(table, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier))
    run.step(f"{name}: Ctrl+Home", lambda: press(table, Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier))
    frames = scrolled(run, table, f"{name}: scrolling 60 frames")
    print(f"{'':<8}a frame: median {np.median(frames):.1f} ms, longest {max(frames):.1f} ms")
    arrangement = table.arrangement
    if arrangement is not None:
        menu = arrangement.menu(page)
        run.step(f"{name}: menu of columns", lambda: menu.popup(page.mapToGlobal(page.rect().center())))
        menu.close()
        shown = [column.key for column in arrangement.columns]
        for wanted in ("available", "mw"):
            if wanted in [column.key for column in model.columns]:
                run.step(f"{name}: column {wanted}", lambda w=wanted: arrangement.show(w, w not in shown))
    table.setFocus()  # where the keyboard is in a picture, that is copied
    run.step(f"{name}: Ctrl+A", lambda: press(table, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier))
    run.step(f"{name}: copy all", page.copy)  # a million are refused
    bar = table.verticalScrollBar()
    bar.setValue(0)
    press(table, Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
    last = model.index(min(100_000, model.rowCount()) - 1, 0)
    flags = QItemSelectionModel.SelectionFlag
    part = QItemSelection(model.index(0, 0), last)
    table.selectionModel().select(part, flags.ClearAndSelect | flags.Rows)
    QGuiApplication.clipboard().clear()
    run.step(f"{name}: copy {last.row() + 1:,} rows", page.copy, lambda: bool(QGuiApplication.clipboard().text()))
    table.selectionModel().clearSelection()


FILTERS = ("CPD-77", "R2=Cl", ">6.5", "6..6.5", "has:c1ccncc1", "status=undecided MW<300")
OF_PRODUCT = ("A77", "R2=B7", ">6.5", "6..6.5")


def heart_until(run, reached):
    """Wait outside any step."""
    run.heart.until(reached, "a filter to be taken away")
    run.settle()


def press(widget, which, held):
    """Press a key."""
    QTest.keyClick(widget, which, held)


def scrolled(run, table, name):
    """Milliseconds of processor time that each of sixty frames took, a sixtieth of the table further each."""
    frames = []
    bar = table.verticalScrollBar()

    def scroll():
        for number in range(60):
            begun = time.thread_time()
            bar.setValue(bar.maximum() * number // 60)
            table.viewport().repaint()
            frames.append(1000 * (time.thread_time() - begun))
            QApplication.processEvents()

    run.step(name, scroll)
    bar.setValue(0)
    return frames


def pictures(run):
    """Every picture of the PageName.SAR page."""
    run.page(PageName.SAR, "SAR")
    for which, name in PICTURES:
        run.step(f"SAR: {name}", lambda which=which: run.window.sar.which.choose(which))


def million(folder, *, where):
    """A library of all products of three sites of a hundred, of which 2,000 were measured before."""
    rng = np.random.default_rng(0)
    sites = [Site(f"R{n}", tuple(f"{chr(64 + n)}{k}" for k in range(100))) for n in (1, 2, 3)]
    effects = [rng.normal(0.0, 0.3, 100) for _ in sites]
    library = Library.product(sites)
    known = rng.choice(len(library), 2_000, replace=False)
    history = [Result(library.ids[row], round(mean_of(effects, library.codes[row]), 2), "pIC50") for row in known]
    path = folder / "million.assaypilot"
    settings = CampaignSettings("pIC50", epsilon=0.5, slack=0.5, per_round=384)
    endpoints = [Endpoint("pIC50", noise_sd=NOISE)]
    Campaign.create(path, library=library, endpoints=endpoints, settings=settings, history=history).close()
    del library
    run = Journey(folder, where=where)
    window = run.window
    run.step("open 1,000,000 compounds", lambda: window.open_path(path), lambda: window.session.view is not None)
    look(run, window.library, PageName.LIBRARY, "Library", OF_PRODUCT)
    look(run, window.candidates, PageName.CANDIDATES, "Candidates", OF_PRODUCT)
    pictures(run)
    run.page(PageName.HISTORY, "History")
    run.close()
    summary(run.heart)


def summary(heart):
    """Print what matters most."""
    seen = heart.steps[1:]  # before the window is shown nobody waits for it to answer
    for name in ("stall", "process", "own"):
        worst = max(seen, key=attrgetter(name))
        over = sum(getattr(step, name) >= 100 for step in seen)
        print(f"{name}: longest {getattr(worst, name):.0f} ms ({worst.name}); 100 ms or more in {over} of {len(seen)}")
    print(f"most memory {max(step.memory for step in heart.steps):.0f} MB\n")


def main(description):
    """Make the journeys asked for and print what each step cost."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--only", choices=["journey", "million"])
    parser.add_argument("--where", action="store_true")
    asked = parser.parse_args()
    give_memory_back()  # as the program does when it starts
    qInstallMessageHandler(lambda kind, context, text: None)  # what the offscreen platform cannot do
    application = QApplication([])
    for name, run in (("journey", journey), ("million", million)):
        if asked.only in (None, name):
            print(heading())
            with tempfile.TemporaryDirectory() as folder:
                run(Path(folder), where=asked.where)
    application.quit()
