"""Sites taken together: the pages say so wherever it matters."""

import csv

import numpy as np

from assaypilot.engine.cli import main
from assaypilot.gui.window.page import PageName
from tests.gui.helpers import until


def written(path):
    """Write a series whose sites R1 and R2 act together."""
    rng = np.random.default_rng(5)
    both, own = rng.normal(0.0, 0.7, (4, 3)), [rng.normal(0.0, 0.8, n) for n in (4, 3, 3)]
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["ID", "R1", "R2", "R3", "pIC50"])
        for a in range(4):
            for b in range(3):
                for c in range(3):
                    value = 6 + own[0][a] + own[1][b] + own[2][c] + both[a, b] + 0.15 * rng.normal()
                    writer.writerow([f"C{a}{b}{c}", "HFIJ"[a], "ABC"[b], "XYZ"[c], f"{value:.3f}"])
    return path


def test_pages_show_lack_of_additivity_and_interactions(qtbot, open_window, tmp_path):
    series = written(tmp_path / "series.csv")
    for name, words in (("plain", ()), ("together", ("--interaction", "R1,R2"))):
        file = tmp_path / f"{name}.assaypilot"
        terms = ["--endpoint", "pIC50;sd=0.15", "--epsilon", "0.5", "--strategy", "proven"]
        new = ["new", str(file), "--table", str(series), *terms, *words]
        assert main(new) == 0
        window = open_window(file)
        until(qtbot, lambda window=window: window.session.view is not None)
        window.show_page(PageName.SAR)
        until(qtbot, window.sar.additive.isVisible)
        text = window.sar.additive.text()
        window.show_page(PageName.GOAL)
        promised = window.statement.words.text()
        if words:
            assert "R1 with R2 are taken together" in text
            assert "add up as far as their values show" in promised
        else:
            assert "ffects do not add up" in text
            assert "effects do not add up" in promised
            assert window.goal.void.isVisible()
            assert window.goal.void.words.text() == promised
