"""One campaign after another in one window: nothing of the first is left in the second."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.state import Settings as Terms
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import read_table
from assaypilot.gui.window.main_window import MainWindow
from assaypilot.gui.window.page import PageName
from tests.gui.helpers import idle, status, until

SIZES = {"few": (2, 2), "some": (4, 3), "many": (9, 8)}


def campaign_of(folder: Path, name: str, *, goal: str = "epsilon-best") -> Path:
    """A campaign with a decided round; its size and goal follow from its name."""
    rows, columns = SIZES[name]
    lines = ["ID,R1,R2,pIC50"]
    for k, (a, b) in enumerate(itertools.product(range(rows), range(columns))):
        lines.append(f"{name}-{k},A{a},B{b},{6 + 0.2 * a + 0.1 * b:.2f}")
    table = folder / f"{name}.csv"
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    raw = read_table(table)
    imported = import_table(raw, propose(raw))
    endpoint = replace(imported.endpoints[0], noise_sd=0.2)
    path = folder / f"{name}.assaypilot"
    terms = Terms(endpoint.name, goal=goal, epsilon=0.3, slack=0.3, per_round=96)
    with Campaign.create(path, library=imported.library, endpoints=[endpoint], settings=terms) as campaign:
        issued = campaign.plan()
        assert issued is not None
        ids = campaign.status().library.ids
        names = [ids[item.compound] for item in issued.items for _ in range(item.replicates)]
        campaign.record([Result(one, 6.5, "pIC50") for one in names])
    return path


@pytest.mark.parametrize(("first", "second"), list(itertools.permutations(SIZES, 2)))
def test_nothing_of_the_first_campaign_is_left_in_the_second(
    qtbot: QtBot, open_window: Callable[..., MainWindow], tmp_path: Path, first: str, second: str
) -> None:
    goals = dict(zip(SIZES, ("best", "epsilon-best", "epsilon-best"), strict=True))
    files = {name: campaign_of(tmp_path, name, goal=goals[name]) for name in (first, second)}
    window = open_window(files[first])
    until(qtbot, lambda: window.session.view is not None)
    for place in PageName:
        window.show_page(place)
        idle(qtbot, window)
    last = len(status(window).library) - 1
    for place, page in ((PageName.LIBRARY, window.library), (PageName.CANDIDATES, window.candidates)):
        window.show_page(place)
        page.table.put_in_order(("id", Qt.SortOrder.DescendingOrder))
        page.table.choose(last)
    window.candidates.which.choose("all")
    window.candidates.select(last)
    window.candidates.filter.setText(first)
    window.candidates.filter.settle()
    window.candidates.plot.use({"kind": "scatter", "y": "near"})
    window.messages.note("Of the first campaign.")
    idle(qtbot, window)
    assert window.session.selection.compound == last

    window.open_path(files[second])
    until(qtbot, lambda: status(window).library.ids[0].startswith(second))
    idle(qtbot, window)
    assert window.messages.text == ""
    assert window.session.selection.compound in (None, *window.candidates.model.rows[:1])
    for place in (PageName.HISTORY, PageName.ROUND, PageName.LIBRARY, PageName.CANDIDATES):
        window.show_page(place)
        idle(qtbot, window)
    candidates = window.candidates
    assert candidates.filter.text() == ""
    assert candidates.plot.key == "answer"
    assert candidates.model.sorted_by == ("status", Qt.SortOrder.AscendingOrder)
    assert window.library.model.sorted_by is None
    assert candidates.panel.name.text().startswith(second)
    assert all(status(window).library.ids[row].startswith(second) for row in candidates.table.selected_rows())


GOALS = {"few": "best", "some": "epsilon-best", "many": "epsilon-best"}


def _sort(window: MainWindow, draw: random.Random) -> None:
    table = draw.choice([window.candidates.table, window.library.table])
    table.put_in_order((draw.choice(["id", "measured", "site0"]), Qt.SortOrder.DescendingOrder))


def _select(window: MainWindow, draw: random.Random) -> None:
    window.candidates.which.choose("all")
    window.candidates.select(draw.randrange(len(status(window).library)))


def _filter(window: MainWindow, draw: random.Random) -> None:
    page = draw.choice([window.candidates, window.library])
    page.filter.setText(draw.choice(["A0", "nothing is called so", ">6.5"]))
    page.filter.settle()


def _draw_columns(window: MainWindow, draw: random.Random) -> None:
    window.candidates.plot.use({"kind": draw.choice(["scatter", "histogram"]), "x": "near"})


def _enclose(window: MainWindow, draw: random.Random) -> None:
    window.candidates.table.choose_rows(window.candidates.model.rows[: draw.randrange(1, 4)])


def _say(window: MainWindow, draw: random.Random) -> None:
    window.messages.note("Of the campaign before.")


def _undo(window: MainWindow, draw: random.Random) -> None:
    window.actions_.undo.trigger()


def _visit(window: MainWindow, draw: random.Random) -> None:
    window.show_page(draw.choice(list(PageName)))


ACTIONS = (_sort, _select, _filter, _draw_columns, _enclose, _say, _undo, _visit)


@pytest.mark.parametrize("seed", range(3))
def test_no_walk_through_campaigns_leaves_anything_behind(
    qtbot: QtBot, open_window: Callable[..., MainWindow], tmp_path: Path, seed: int
) -> None:
    draw = random.Random(seed)
    files = {name: campaign_of(tmp_path, name, goal=GOALS[name]) for name in SIZES}
    names = draw.sample(list(SIZES), 3)
    window = open_window(files[names[0]])
    until(qtbot, lambda: window.session.view is not None)
    for name in names[1:]:
        for action in draw.sample(ACTIONS, 6):
            action(window, draw)
            idle(qtbot, window)
        window.open_path(files[name])
        until(qtbot, lambda name=name: status(window).library.ids[0].startswith(name))
        idle(qtbot, window)
        ids, candidates = status(window).library.ids, window.candidates
        assert window.messages.text == ""
        for place in (PageName.LIBRARY, PageName.CANDIDATES):
            window.show_page(place)
            idle(qtbot, window)
        assert (candidates.filter.text(), window.library.filter.text()) == ("", "")
        assert (candidates.plot.key, candidates.which.key) == ("answer", "alive")
        assert candidates.model.sorted_by == ("status", Qt.SortOrder.AscendingOrder)
        assert window.library.model.sorted_by is None
        assert len(candidates.table.selected_rows()) <= 1
        assert max(candidates.model.rows, default=0) < len(ids)
        assert window.session.selection.compound in (None, *candidates.model.rows[:1])
        assert candidates.panel.name.text() in (*ids, "No compound selected")
