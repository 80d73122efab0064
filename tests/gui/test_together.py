"""Sites taken together in the window: chosen in a new campaign, and said wherever it matters."""

import csv

import numpy as np
import pytest

from assaypilot.engine.cli import main
from assaypilot.gui.window.page import PageName
from tests.gui.helpers import until
from tests.gui.imports import check_of
from tests.gui.test_import_check import take_back, texts


@pytest.fixture
def series(tmp_path):
    """A series whose sites R1 and R2 act together."""
    return written(tmp_path / "series.csv", "R1,R2,R3")


def written(path, sites):
    """A table in which the sites named first and second act together."""
    rng = np.random.default_rng(5)
    both, own = rng.normal(0.0, 0.7, (4, 3)), [rng.normal(0.0, 0.8, n) for n in (4, 3, 3)]
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["ID", *sites.split(","), "pIC50"])
        for a in range(4):
            for b in range(3):
                for c in range(3):
                    value = 6 + own[0][a] + own[1][b] + own[2][c] + both[a, b] + 0.15 * rng.normal()
                    writer.writerow([f"C{a}{b}{c}", "HFIJ"[a], "ABC"[b], "XYZ"[c], f"{value:.3f}"])
    return path


def test_interaction_is_added_and_removed_in_a_new_campaign(qtbot, window, series):
    creation = check_of(qtbot, window, series)
    sites = creation.check_pane.sites
    creation.views.choose("sites")
    assert (sites.first.currentText(), sites.second.currentText()) == ("R1", "R2")
    sites.together.click()
    until(qtbot, lambda: "Steps (1)" in sites.heading.text())
    until(qtbot, lambda: "rank 14 of 14" in texts(sites))
    until(qtbot, lambda: "R1 and R2 are taken together" in texts(sites))
    sites.together.click()
    assert "already" in sites.problem.text()
    sites.second.setCurrentText("R1")
    sites.together.click()
    assert sites.problem.text() == "Choose two different sites."
    result = creation.columns_pane.result
    assert result.mapping.interactions == ("R1,R2",)
    assert result.imported.library.interactions == (("R1", "R2"),)
    take_back(sites, "R1 and R2")
    until(qtbot, lambda: sites.heading.text() == "Steps")
    until(qtbot, lambda: "rank 8 of 8" in texts(sites))


def test_the_pair_is_proposed_whose_effects_do_not_add_up(qtbot, window, tmp_path):
    sites = check_of(qtbot, window, written(tmp_path / "second.csv", "R2,R3,R1")).check_pane.sites
    assert {sites.first.currentText(), sites.second.currentText()} == {"R2", "R3"}
    assert "R2 and R3 act together" in sites.sign.text() or "R3 and R2 act together" in sites.sign.text()
    sites.together.click()
    until(qtbot, lambda: "Steps (1)" in sites.heading.text())
    until(qtbot, lambda: not sites.sign.isVisibleTo(sites))  # nothing is left to explain


def test_pages_show_lack_of_additivity_and_interactions(qtbot, open_window, series, tmp_path):
    for name, words in (("plain", ()), ("together", ("--interaction", "R1,R2"))):
        file = tmp_path / f"{name}.assaypilot"
        terms = ["--endpoint", "pIC50;sd=0.15", "--epsilon", "0.5", "--strategy", "proven"]
        new = ["new", str(file), "--table", str(series), *terms, *words]
        assert main(new) == 0
        window = open_window(file)
        until(qtbot, lambda window=window: window.session.view is not None)
        window.show_page(PageName.SAR)
        until(qtbot, window.sar.additive.isVisible)
        said = window.sar.additive.text()
        window.show_page(PageName.GOAL)
        promised = window.statement.words.text()
        if words:
            assert "R1 with R2 are taken together" in said
            assert "add up as far as their values show" in promised
        else:
            assert "ffects do not add up" in said
            assert "effects do not add up" in promised
            assert window.goal.void.isVisible()
            assert window.goal.void.words.text() == promised
