"""What the tests of the window share: waiting, tables, a window of its own settings."""

import csv
import itertools
import shutil
import tempfile
import time
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
from PySide6.QtWidgets import QApplication, QDialog

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.settings import Settings
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import read_table
from assaypilot.gui.structures.drawing import drawing_pool

TRUTH = {"R1": {"H": 0.0, "Me": 0.4, "Cl": 0.9}, "R2": {"H": 0.0, "OMe": -0.3, "CF3": 0.7}, "R3": {"F": 0.0, "CN": 0.5}}

PATIENCE = 60.0
"""Seconds; what is reached takes a moment, and a busy machine is no reason to fail."""


def small_table(path, *, smiles=False):
    """A table of 18 compounds, additive, with two earlier values."""
    lines = ["ID,R1,R2,R3,pIC50" + (",SMILES" if smiles else "")]
    for number, labels in enumerate(itertools.product(*(effects for effects in TRUTH.values())), start=1):
        known = {1: "6.05", 5: "6.15"}.get(number, "")
        lines.append(f"C-{number},{','.join(labels)},{known}" + (",c1ccccc1C(=O)NC" if smiles else ""))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def true_values(now):
    """The true mean of every compound of ``small_table``."""
    return {
        name: 6.0 + sum(TRUTH[site][label] for site, label in now.library.substituents(place).items())
        for place, name in enumerate(now.library.ids)
    }


def until(qtbot, reached):
    """Let the window work until something is reached, and ask more often at first than pytest-qt does."""
    end = time.monotonic() + PATIENCE
    for asked in itertools.count():
        if reached():
            return
        assert time.monotonic() < end, f"not reached in {PATIENCE} s"
        qtbot.wait(min(1 + asked // 4, 10))


def idle(qtbot, window):
    """Wait until nothing is being done or drawn."""
    session = window.session
    until(
        qtbot,
        lambda: (
            not (session.tasks.busy or session.background.busy or session.ahead.busy or session.tables.busy)
            and drawing_pool().activeThreadCount() == 0
        ),
    )


def wait_for(qtbot, window, reached):
    """Wait until something is reached, then until the window is idle."""
    until(qtbot, reached)
    idle(qtbot, window)


def show(qtbot, window, page):
    """Show a page, and wait until it is filled and drawn."""
    window.show_page(page)
    idle(qtbot, window)


def plan_round(qtbot, window):
    """Plan the next round."""
    window.plan()
    until(qtbot, lambda: status(window).open_round is not None)
    idle(qtbot, window)


def kept_text(model, row, place=0):
    """The values the campaign has for a line and endpoint, as its cells show them."""
    cells = (model.cell_text(row, place, at) for at in range(len(model.slots(row, place))))
    return "; ".join(filter(None, cells))


def enter(qtbot, window, line, text, cell=0):
    """Type a value into a cell of the round, and wait until it is kept."""
    before = len(status(window).measurements)
    window.round.values.enter(line, 0, text, cell)
    wait_for(qtbot, window, lambda: len(status(window).measurements) > before)


def view(window):
    """What the window shows."""
    assert window.session.view is not None
    return window.session.view


def status(window):
    """The state of the campaign in a window."""
    return view(window).status


def open_round(window):
    """The open round."""
    found = status(window).open_round
    assert found is not None
    return found


def dialog(kind=QDialog):
    """The dialog that is open, of the kind that is expected."""
    found = QApplication.activeModalWidget()
    assert isinstance(found, kind)
    return found


def made(path, library, *, endpoints=None, history=(), stock=None, warnings=(), **terms):
    """A campaign over a library, open: about all within 0.5 of the best pIC50, unless other terms are given."""
    return Campaign.create(
        path,
        library=library,
        endpoints=[Endpoint("pIC50", noise_sd=0.2)] if endpoints is None else endpoints,
        settings=Settings(**{"objective": "pIC50", "epsilon": 0.5} | terms),
        history=history,
        warnings=warnings,
        **({} if stock is None else {"stock": stock}),
    )


def returned(campaign, value):
    """What the lab returns for the open round: ``value(compound, endpoint's name)`` for every measurement asked for."""
    now = campaign.status()
    return [
        Result(now.library.ids[item.compound], value(item.compound, now.endpoints[k].name), now.endpoints[k].name)
        for item in now.open_round.items
        for place, k in enumerate(now.open_round.endpoints)
        for _ in range(item.of(place))
    ]


def copied(folder, make, *given):
    """A copy of the file that ``make(folder, *given)`` writes, which it does once for all tests."""
    return Path(shutil.copy(_once(make, given), folder))


@cache
def _once(make, given):
    return make(Path(tempfile.mkdtemp(dir=_kept().name)), *given)


@cache
def _kept():
    return tempfile.TemporaryDirectory(prefix="assaypilot-", ignore_cleanup_errors=True)


def quick_campaign(folder, *, smiles=False, per_round=96, max_replicates=4, strategy="proven"):
    """The campaign a new campaign would make of ``small_table``, made without it."""
    small_table(folder / "small.csv", smiles=smiles)
    return copied(folder, _small, smiles, per_round, max_replicates, strategy)


def _small(folder, smiles, per_round, max_replicates, strategy):
    raw = read_table(small_table(folder / "small.csv", smiles=smiles))
    imported = import_table(raw, propose(raw))
    endpoint = replace(imported.endpoints[0], noise_sd=0.2)
    terms = {"slack": 0.5, "per_round": per_round, "max_replicates": max_replicates, "strategy": strategy}
    path = folder / "small.assaypilot"
    made(path, imported.library, endpoints=[endpoint], history=imported.history, **terms).close()
    return path


def planned_campaign(folder, **terms):
    """The same with an open round."""
    small_table(folder / "small.csv")
    return copied(folder, _planned, *terms.items())


def _planned(folder, *terms):
    path = quick_campaign(folder, **dict(terms))
    with Campaign.open(path) as campaign:
        campaign.plan()
    return path


def decided_campaign(folder, *, smiles=False):
    """The same after a round, which decides it."""
    small_table(folder / "small.csv", smiles=smiles)
    return copied(folder, _decided, smiles)


def _decided(folder, smiles):
    path = quick_campaign(folder, smiles=smiles)
    with Campaign.open(path) as campaign:
        campaign.plan()
        now = campaign.status()
        assay = noisy(true_values(now))
        campaign.record(returned(campaign, lambda compound, _: assay(now.library.ids[compound])))
        if campaign.status().open_round is not None:
            campaign.close_round()
    return path


def creation_of(window):
    """The new campaign that is being made."""
    assert window.creation is not None
    return window.creation


def to_goal(qtbot, window, path):
    """The goal of a new campaign over a table."""
    window.new_campaign()
    creation = creation_of(window)
    creation.start_with(path)
    until(qtbot, lambda: creation.columns_pane.complete)
    return goal_of(qtbot, creation)


def goal_of(qtbot, creation):
    """The goal of a new campaign, once it is about the table as it was checked last."""
    step = creation.goal_pane
    until(qtbot, lambda: step.checked is not None and step.checked is creation.columns_pane.result)
    until(qtbot, lambda: not step.endpoints.building)
    return step


def create_campaign(qtbot, window, table, file, *, per_round=96):
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


def answered(qtbot, window):
    """Plan a round, enters all its results and close it."""
    done = []
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


def rows_of(path):
    """The rows of a csv file, by header."""
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def endless(words="half", started=None):
    """Work that goes on until it is cancelled, whatever it is given; ``started`` is set once it has begun."""

    def work(*given, report=None):
        report = given[-1] if report is None else report
        while True:
            report(0.5, words)
            if started is not None:
                started.set()
            time.sleep(0.005)

    return work


def noisy(values, seed=3):
    """A made-up assay over true values."""
    rng = np.random.default_rng(seed)
    return lambda name: round(values[name] + 0.2 * float(rng.standard_normal()), 3)
