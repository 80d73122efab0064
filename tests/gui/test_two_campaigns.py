"""One campaign after another in one window: it then looks like a window that never held another one."""

from __future__ import annotations

import itertools
import shutil
from functools import cache, wraps
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSlider,
    QApplication,
    QComboBox,
    QDialog,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QScrollBar,
    QTableView,
    QWidget,
)
from shiboken6 import isValid

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.settings import Settings as Terms
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import read_table
from assaypilot.gui.app import make_window
from assaypilot.gui.plots.canvas import Canvas
from assaypilot.gui.runtime.settings import Settings
from assaypilot.gui.sar.sar_page import PAIRS, PICTURES
from assaypilot.gui.window.page import PageName
from tests.gui.helpers import idle, status, until, wait_for

R1, R2 = (
    ("C", "CC", "CCC", "C1CC1", "F", "Cl", "OC", "C#N", "C(F)(F)F"),
    ("F", "Cl", "C", "OC", "C#N", "CC", "CCC", "O"),
)
KINDS = {
    "nothing": ((3, 2), "epsilon-best", "auto", 0),
    "best": ((2, 2), "best", "proven", 2),
    "open": ((4, 3), "epsilon-best", "proven", 1),
    "many": ((9, 8), "epsilon-best", "auto", 2),
    "fronts": ((4, 4), "pareto", "auto", 2),
    "gone": ((5, 3), "epsilon-best", "auto", 3),
}
"""By name: substituents at both sites, goal, strategy, and how far it went (nothing, half a round, a round, two)."""
STEPS = settings(
    max_examples=settings.default.max_examples // 14,
    stateful_step_count=16,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
FEWEST, MOST = 3, 6
"""Things that are done in one campaign before another one is opened."""


def doing(**drawn):
    """A rule about something that is done in one campaign; it is counted."""

    def counted(act):
        @wraps(act)
        def acting(self, *given, **named):
            self.did += 1
            act(self, *given, **named)

        return precondition(lambda visitor: visitor.did < MOST)(rule(**drawn)(acting))

    return counted


def campaign_of(folder, name):
    """A campaign of its own size, goal and progress."""
    (rows, columns), goal, strategy, progress = KINDS[name]
    lines = ["ID,SMILES,R1,R2,pIC50,hERG"]
    for k, (a, b) in enumerate(itertools.product(range(rows), range(columns))):
        known = f"{6 + 0.2 * a + 0.1 * b:.2f}" if progress == 2 and k % 2 else ""
        lines.append(f"{name}-{k},O=C(N{R1[a]})c1ccc({R2[b]})cc1,{R1[a]},{R2[b]},{known},")
    table = folder / f"{name}.csv"
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    raw = read_table(table)
    imported = import_table(raw, propose(raw))
    names = ("pIC50", "hERG") if goal == "pareto" else ("pIC50",)
    endpoints = [Endpoint(one, noise_sd=0.2, epsilon=0.3) for one in names]
    path = folder / f"{name}.assaypilot"
    objectives = names if len(names) > 1 else ()
    terms = Terms(names[0], goal=goal, epsilon=0.3, slack=0.3, per_round=48, strategy=strategy, objectives=objectives)
    with Campaign.create(path, library=imported.library, endpoints=endpoints, settings=terms) as campaign:
        for turn in range(2 if progress == 3 else min(progress, 1)):
            issued = campaign.plan()
            if issued is None:
                break
            ids = campaign.status().library.ids
            asked = [ids[item.compound] for item in issued.items for _ in range(item.replicates)]
            asked = asked[: len(asked) // 2] if progress == 1 else asked
            values = [
                Result(one, 6 + (place % 7) / 4, each.name) for place, one in enumerate(asked) for each in endpoints
            ]
            campaign.record(values)
            if progress == 3 and turn == 0 and campaign.status().open_round is not None:
                campaign.close_round()
    return path


def seen(window, qtbot):
    """Everything that each page of a window shows and has chosen, one line each."""
    found = {"frame": _parts(window, window.stack)}
    for place in PageName:
        window.show_page(place)
        idle(qtbot, window)
        qtbot.wait(30)
        wait_for(qtbot, window, lambda: not window.goal.ahead.busy)
        found[place.title] = _parts(window.pages[place])
    found["undo"] = [f"{one.text()} {one.isEnabled()}" for one in (window.actions_.undo, window.actions_.redo)]
    found["dialogs"] = [type(one).__name__ for one in window.findChildren(QDialog) if one.isVisible()]
    return found


def _parts(top, without=None):
    lines = []
    for one in top.findChildren(QWidget):
        if not one.isVisibleTo(top) or (without is not None and without.isAncestorOf(one)):
            continue
        differences = _differences(one)
        if differences is not None:
            lines.append(f"{type(one).__name__} {one.accessibleName()}: {differences}")
    return lines


def _differences(one):
    if isinstance(one, QTableView):
        model, chosen = one.model(), one.selectionModel()
        first = [str(model.index(0, k).data()) for k in range(model.columnCount())] if model.rowCount() else []
        rows = sorted({index.row() for index in chosen.selectedIndexes()})
        header = one.horizontalHeader()
        return f"{model.rowCount()} rows, {rows} chosen, by {header.sortIndicatorSection()}, first {first}"
    if isinstance(one, Canvas):
        scene = getattr(one, "scene", None)
        return f"{type(scene).__name__} {getattr(scene, 'compound', None)} {getattr(scene, 'frame', None)}"
    if isinstance(one, QComboBox):
        return f"{one.currentText()} of {[one.itemText(k) for k in range(one.count())]}"
    if isinstance(one, QAbstractButton) and not isinstance(one.parentWidget(), QLineEdit):
        return f"{one.text()} {one.isChecked()} {one.isEnabled()}"
    if isinstance(one, QPlainTextEdit):
        return one.toPlainText()
    if isinstance(one, (QLabel, QLineEdit)):
        return one.text()
    if isinstance(one, QAbstractSlider) and not isinstance(one, QScrollBar):
        return str(one.value())
    return None


class Visitor(RuleBasedStateMachine):
    """Somebody who does something in a campaign, then opens another one in the same window.

    The test gives ``qtbot``, ``make`` (a fresh window), ``file_of`` a campaign, and what it looks like ``alone``.
    """

    numbers = itertools.count()

    def __init__(self):
        super().__init__()
        self.window = self.make()
        self.did = 0
        self.name = ""
        self.typed = set()
        """Campaigns with values that were typed and not kept, which their copies rightly show."""

    def settle(self):
        """Wait until nothing is done."""
        idle(self.qtbot, self.window)

    @initialize(name=st.sampled_from(list(KINDS)))
    def first(self, name):
        """Open a first campaign."""
        self.opened(name)

    def opened(self, name):
        """Open a campaign where it never was."""
        self.name = name
        file = self.file_of(name)
        folder = file.parent / f"copy {next(self.numbers)}"
        folder.mkdir()
        path = Path(shutil.copy(file, folder))
        for one in self.window.findChildren(QDialog):
            if one.isVisible():
                one.reject()
        self.window.open_path(path)
        until(self.qtbot, lambda: self.window.session.view is not None and self.window.session.view.path == path)
        self.settle()

    @precondition(lambda self: self.did >= FEWEST)
    @rule(name=st.sampled_from(list(KINDS)), much=st.sampled_from([True, False]))
    def another(self, name, much):
        """Open another one, perhaps after doing most things: everything looks as in a window of its own."""
        if much:
            self.much()
        name = next(one for one in (name, *KINDS) if one not in self.typed)
        self.opened(name)
        self.did = 0
        here = seen(self.window, self.qtbot)
        for place, lines in self.alone(name).items():
            mine = set(here[place]) - set(lines)
            gone = set(lines) - set(here[place])
            assert here[place] == lines, f"{name}, {place}: {mine or here[place]} instead of {gone or lines}"

    def much(self):
        """Leave something on every page."""
        self.settle()
        self.select(0.9)
        self.draw("scatter")
        for which in ("candidates", "library", "history"):
            self.narrow(which, "none")
            if which != "history":
                self.sort(which, "id")
        self.analyse(PAIRS, "C#N")
        self.analyse("contributions", "")
        self.paste()
        self.try_terms("a plate")
        self.look_back(0)
        self.settle()
        self.say()

    @doing(place=st.sampled_from(list(PageName)))
    def visit(self, place):
        """Look at a page."""
        self.window.show_page(place)

    @doing(which=st.sampled_from(["candidates", "library"]), key=st.sampled_from(["id", "measured", "site0"]))
    def sort(self, which, key):
        """Sort a table."""
        getattr(self.window, which).table.put_in_order((key, Qt.SortOrder.DescendingOrder))

    @doing(part=st.floats(0, 0.99))
    def select(self, part):
        """Select a compound on the Candidates page."""
        self.window.candidates.which.choose("all")
        self.window.candidates.select(int(part * len(status(self.window).library)))

    @doing(count=st.integers(2, 4))
    def enclose(self, count):
        """Select several."""
        page = self.window.candidates
        self.window.show_page(PageName.CANDIDATES)
        page.table.choose_rows(page.model.rows[:count])

    @doing(
        which=st.sampled_from(["candidates", "library", "history"]), text=st.sampled_from(["C#N", "none is so", ">6.5"])
    )
    def narrow(self, which, text):
        """Filter a table."""
        box = getattr(self.window, which).filter
        box.setText(text)
        box.settle()

    @doing(kind=st.sampled_from(["scatter", "histogram"]))
    def draw(self, kind):
        """Draw columns."""
        self.window.candidates.plot.use({"kind": kind, "x": "near", "colour": "mean"})

    @doing(notches=st.integers(1, 3))
    def zoom(self, notches):
        """Zoom into the plot."""
        self.window.show_page(PageName.CANDIDATES)
        self.settle()
        self.window.candidates.canvas.zoomed.emit(0.5, 0.5, 0.5**notches)

    @doing(key=st.sampled_from([*dict(PICTURES), PAIRS]), text=st.sampled_from(["", "C#N"]))
    def analyse(self, key, text):
        """Choose a picture of the SAR page."""
        page = self.window.sar
        self.window.show_page(PageName.SAR)
        self.settle()
        page.which.choose(key)
        self.settle()
        page.heat.swap.click()
        page.pairs.filter.setText(text)
        page.sites.box.setCurrentIndex(page.sites.box.count() - 1)

    @doing(number=st.integers(0, 1))
    def look_back(self, number):
        """Show an earlier round."""
        self.window.session.replay.go(number)

    @doing(text=st.sampled_from(["0.9", "a plate"]))
    def try_terms(self, text):
        """Type other settings, and open what the badge opens."""
        self.window.show_page(PageName.GOAL)
        self.window.goal.form.field("per_round").edit.setText(text)
        self.window.strip.badge.setChecked(True)

    @doing(text=st.sampled_from(["oops", "35 furlongs", "7.1"]))
    def type_result(self, text):
        """Type into a round."""
        page = self.window.round
        self.window.show_page(PageName.ROUND)
        if page.shown is not None and page.model.rowCount():
            self.typed.add(self.name)
            page.model.entered.emit(0, 0, 0, text)

    @doing()
    def paste(self):
        """Paste lines that stay in the preview."""
        QGuiApplication.clipboard().setText("ID\tValue\nnone of these\t7.0\nbest-1\toops\n")
        self.window.show_page(PageName.ROUND)
        self.window.round.reading.paste()

    @doing(then=st.sampled_from(["undo", "redo", "plan", "close", "withdraw"]))
    def do(self, then):
        """Change the campaign, or ask to, and do not wait for it."""
        if then in ("undo", "redo"):
            getattr(self.window.actions_, then).trigger()
        elif then == "plan":
            self.window.plan()
        elif self.window.round.shown is not None and status(self.window).open_round is not None:
            self.window.close_round() if then == "close" else self.window.round.ends.withdraw()

    @doing()
    def say(self):
        """Leave a message with a question."""
        self.window.messages.ask("Of the campaign before.", "Really?", ("Yes", lambda: None))

    @doing()
    def wait(self):
        """Let what was begun come to its end."""
        self.settle()

    def teardown(self):
        """Close the window."""
        idle(self.qtbot, self.window)
        for one in QApplication.topLevelWidgets():
            if isinstance(one, QDialog) and one.isVisible():
                one.reject()
        self.window.close()


@pytest.fixture
def fresh(qtbot, tmp_path, settings):
    """Windows that remember nothing."""
    made = []

    def make():
        own = Settings(tmp_path / f"settings {len(made)}" / "settings.ini")
        own.folder = tmp_path
        window = make_window(own, None, practice=False)
        window.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        made.append(window)
        window.show()
        qtbot.waitExposed(window)
        return window

    yield make
    for window in made:
        if isValid(window):
            idle(qtbot, window)
            window.close()


def test_a_second_campaign_looks_as_in_a_window_of_its_own(qtbot, fresh, tmp_path):
    @cache
    def file_of(name):
        return campaign_of(tmp_path, name)

    @cache
    def alone(name):
        window = fresh()
        window.open_path(file_of(name))
        wait_for(qtbot, window, lambda: window.session.view is not None)
        found = seen(window, qtbot)
        window.close()
        return found

    own = {"make": fresh, "file_of": file_of, "alone": alone}
    kind = type("Visitor", (Visitor,), {"qtbot": qtbot} | {name: staticmethod(one) for name, one in own.items()})
    run_state_machine_as_test(kind, settings=STEPS)
