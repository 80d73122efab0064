"""What the tests of the window share: waiting, tables, a window of its own settings."""

from __future__ import annotations

import csv
import itertools
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
from PySide6.QtWidgets import QApplication, QDialog
from pytestqt.qtbot import QtBot

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.state import Round, Settings, Status
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import read_table
from assaypilot.gui.new_campaign.dialog import NewCampaign
from assaypilot.gui.new_campaign.goal_pane import GoalPane
from assaypilot.gui.session.view import View
from assaypilot.gui.structures.drawing import drawing_pool
from assaypilot.gui.window.main_window import MainWindow
from assaypilot.gui.window.page import PageName

TRUTH = {"R1": {"H": 0.0, "Me": 0.4, "Cl": 0.9}, "R2": {"H": 0.0, "OMe": -0.3, "CF3": 0.7}, "R3": {"F": 0.0, "CN": 0.5}}


def small_table(path: Path, *, smiles: bool = False) -> Path:
    """A table of 18 compounds, additive, with two earlier values."""
    lines = ["ID,R1,R2,R3,pIC50" + (",SMILES" if smiles else "")]
    for number, labels in enumerate(itertools.product(*(effects for effects in TRUTH.values())), start=1):
        known = {1: "6.05", 5: "6.15"}.get(number, "")
        lines.append(f"C-{number},{','.join(labels)},{known}" + (",c1ccccc1C(=O)NC" if smiles else ""))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def true_values(now: Status) -> dict[str, float]:
    """The true mean of every compound of ``small_table``."""
    return {
        name: 6.0 + sum(TRUTH[site][label] for site, label in now.library.substituents(place).items())
        for place, name in enumerate(now.library.ids)
    }


def until(qtbot: QtBot, reached: Callable[[], bool], timeout: int = 10_000) -> None:
    """Let the window work until something is reached, and ask more often at first than pytest-qt does."""
    end = time.monotonic() + timeout / 1000
    for asked in itertools.count():
        if reached():
            return
        assert time.monotonic() < end, f"not reached in {timeout} ms"
        qtbot.wait(min(1 + asked // 4, 10))


def idle(qtbot: QtBot, window: MainWindow) -> None:
    """Wait until nothing is being done or drawn."""
    session = window.session
    until(
        qtbot,
        lambda: (
            not (session.tasks.busy or session.beside.busy or session.ahead.busy or session.tables.busy)
            and drawing_pool().activeThreadCount() == 0
        ),
        30_000,
    )


def show(qtbot: QtBot, window: MainWindow, page: PageName) -> None:
    """Show a page, and wait until it is filled and drawn."""
    window.show_page(page)
    idle(qtbot, window)


def plan_round(qtbot: QtBot, window: MainWindow) -> None:
    """Plan the next round."""
    window.plan()
    until(qtbot, lambda: status(window).open_round is not None)
    idle(qtbot, window)


def view(window: MainWindow) -> View:
    """What the window shows."""
    assert window.session.view is not None
    return window.session.view


def status(window: MainWindow) -> Status:
    """The state of the campaign in a window."""
    return view(window).status


def open_round(window: MainWindow) -> Round:
    """The open round."""
    found = status(window).open_round
    assert found is not None
    return found


def dialog() -> QDialog:
    """The dialog that is open."""
    found = QApplication.activeModalWidget()
    assert isinstance(found, QDialog)
    return found


def quick_campaign(
    folder: Path, *, smiles: bool = False, per_round: int = 96, max_replicates: int = 4, strategy: str = "proven"
) -> Path:
    """The campaign a new campaign would make of ``small_table``, made without it: once, then copied."""
    small_table(folder / "small.csv", smiles=smiles)
    return Path(shutil.copy(_made(smiles, per_round, max_replicates, strategy), folder / "small.assaypilot"))


@cache
def _made(smiles: bool, per_round: int, max_replicates: int, strategy: str) -> Path:
    folder = Path(_kept().name, f"{smiles} {per_round} {max_replicates} {strategy}")
    folder.mkdir()
    raw = read_table(small_table(folder / "small.csv", smiles=smiles))
    imported = import_table(raw, propose(raw))
    endpoint = replace(imported.endpoints[0], noise_sd=0.2)
    path = folder / "small.assaypilot"
    settings = Settings(
        endpoint.name, epsilon=0.5, slack=0.5, per_round=per_round, max_replicates=max_replicates, strategy=strategy
    )
    Campaign.create(
        path, library=imported.library, endpoints=[endpoint], settings=settings, history=imported.history
    ).close()
    return path


@cache
def _kept() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="assaypilot-", ignore_cleanup_errors=True)


def decided_campaign(folder: Path, *, smiles: bool = False) -> Path:
    """The same after a round, which decides it: made once, then copied."""
    small_table(folder / "small.csv", smiles=smiles)
    return Path(shutil.copy(_decided(smiles), folder / "small.assaypilot"))


@cache
def _decided(smiles: bool) -> Path:
    path = Path(shutil.copy(_made(smiles, 96, 4, "proven"), Path(_kept().name, f"decided {smiles}.assaypilot")))
    with Campaign.open(path) as campaign:
        issued = campaign.plan()
        assert issued is not None
        now = campaign.status()
        assay = noisy(true_values(now))
        names = [now.library.ids[item.compound] for item in issued.items for _ in range(item.replicates)]
        campaign.record([Result(name, assay(name), "pIC50") for name in names])
        if campaign.status().open_round is not None:
            campaign.close_round()
    return path


def creation_of(window: MainWindow) -> NewCampaign:
    """The new campaign that is being made."""
    assert window.creation is not None
    return window.creation


def to_goal(qtbot: QtBot, window: MainWindow, path: Path) -> GoalPane:
    """The goal of a new campaign over a table."""
    window.new_campaign()
    creation = creation_of(window)
    creation.start_with(path)
    until(qtbot, lambda: creation.columns_pane.complete)
    return goal_of(qtbot, creation)


def goal_of(qtbot: QtBot, creation: NewCampaign) -> GoalPane:
    """The goal of a new campaign, once it is about the table as it was checked last."""
    step = creation.goal_pane
    until(qtbot, lambda: step.checked is not None and step.checked is creation.columns_pane.result)
    until(qtbot, lambda: not step.endpoints.building)
    return step


def create_campaign(qtbot: QtBot, window: MainWindow, table: Path, file: Path, *, per_round: int = 96) -> None:
    """Go through a new campaign as a user would and wait for the campaign."""
    step = to_goal(qtbot, window, table)
    step.noise.edit.setText("0.2")
    step.slack.edit.setText("0.5")
    step.per_round.edit.setText(str(per_round))
    step.file.edit.setText(str(file))
    creation = creation_of(window)
    until(qtbot, lambda: step.complete and creation.complete)
    creation.create_button.click()
    until(qtbot, lambda: window.session.view is not None)


def answered(qtbot: QtBot, window: MainWindow) -> None:
    """Plan a round, enters all its results and close it."""
    done: list[object] = []
    window.session.plan(done.append)
    until(qtbot, lambda: len(done) == 1)
    assay = noisy(true_values(status(window)))
    shown, ids = open_round(window), status(window).library.ids
    names = [ids[item.compound] for item in shown.items for _ in range(item.replicates)]
    window.session.record([Result(name, assay(name), "pIC50") for name in names], done.append)
    until(qtbot, lambda: len(done) == 2)
    window.session.close_round(then=lambda: done.append(None))
    until(qtbot, lambda: len(done) == 3)
    idle(qtbot, window)


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a csv file, by header."""
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def noisy(values: dict[str, float], seed: int = 3) -> Callable[[str], float]:
    """A made-up assay over true values."""
    rng = np.random.default_rng(seed)
    return lambda name: round(values[name] + 0.2 * float(rng.standard_normal()), 3)
