"""The SAR page: pictures that answer, one selection on all pages, files with their data beside."""

import itertools

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog

from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library
from assaypilot.engine.domain.measurements import Result
from assaypilot.gui.plots.choices import MOST_FIXED, HeatChoices
from assaypilot.gui.plots.heat import HeatScene
from assaypilot.gui.plots.sites import ContributionScene
from assaypilot.gui.plots.trust import PredictionScene, RoundsScene
from assaypilot.gui.resources.theme import theme
from assaypilot.gui.sar import sar_page as sar
from assaypilot.gui.sar.sar_page import PAIRS, PICTURES
from assaypilot.gui.sar.sar_pairs import KINDS as PAIR_KINDS
from assaypilot.gui.window.exporting import data_path
from assaypilot.gui.window.main_window import MainWindow
from assaypilot.gui.window.page import PageName
from tests.gui.helpers import (
    answered,
    decided_campaign,
    made,
    plan_round,
    rows_of,
    show,
    status,
    until,
    wait_for,
)

KINDS = (HeatScene, ContributionScene, PredictionScene, RoundsScene)


def drawn(qtbot, window):
    """The page, its picture drawn."""
    page = window.sar
    until(qtbot, lambda: page.scene is not None and page.canvas.shown and not window.session.background.busy)
    return page


@pytest.fixture
def page(qtbot, open_window, tmp_path):
    """The PageName.SAR page of a small campaign with structures, after a round."""
    window = open_window(decided_campaign(tmp_path, smiles=True))
    window.show_page(PageName.SAR)
    return drawn(qtbot, window)


def window_of(page):
    found = page.window()
    assert isinstance(found, MainWindow)
    return found


def choose(qtbot, page, key):
    """Show a picture, by clicking on its name."""
    page.which.buttons[key].click()
    kind = KINDS[[name for name, _ in PICTURES].index(key)]
    until(qtbot, lambda: isinstance(page.scene, kind) and page.canvas.shown)
    drawn(qtbot, window_of(page))


def place(page, target):
    found = page.canvas.place_of(target)
    return found.toPoint()


def heat(page):
    assert isinstance(page.scene, HeatScene)
    return page.scene


def test_every_picture_is_drawn_when_it_is_chosen(qtbot, page):
    names = set()
    for key, _ in PICTURES:
        choose(qtbot, page, key)
        names.add(page.canvas.accessibleName())
        assert page.heat.isVisible() == (key == "map")
        assert page.sites.isVisible() == (key == "contributions")
        header, rows = page.scene.table() if page.scene is not None else ([], [])
        assert rows
        assert {len(row) for row in rows} == {len(header)}
    assert len(names) == len(PICTURES)


def test_sar_is_calculated_only_when_shown(qtbot, campaign, monkeypatch):
    calls = []
    whole = sar.look
    monkeypatch.setattr(sar, "look", lambda *given: calls.append(1) or whole(*given))
    answered(qtbot, campaign)
    assert calls == []
    campaign.show_page(PageName.SAR)
    drawn(qtbot, campaign)
    assert len(calls) == 1
    campaign.show_page(PageName.LIBRARY)
    campaign.show_page(PageName.SAR)
    choose(qtbot, campaign.sar, "contributions")
    assert len(calls) == 1  # what is known is not worked out again
    campaign.session.exclude(1, "outlier", judgement=True)
    until(qtbot, lambda: len(calls) == 2)
    drawn(qtbot, campaign)


def test_hovering_says_what_a_cell_is_and_a_click_selects_everywhere(qtbot, page):
    scene, canvas, window = heat(page), page.canvas, window_of(page)
    target = scene.cell(1, 1)
    QTest.mouseMove(canvas, place(page, target))
    until(qtbot, canvas.card.isVisible)
    assert canvas.card.heading.text() == target.heading
    assert "2 compounds" in canvas.card.words.text()
    assert canvas.card.picture.shown == "CNC(=O)c1ccccc1"
    QTest.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=place(page, target))
    assert window.session.selection.compound == target.compound
    name = status(window).library.ids[target.compound or 0]
    assert page.panel.name.text() == name
    until(qtbot, lambda: canvas.shown)
    assert scene._selected_cell() == (1, 1)
    page.panel.go.click()
    assert window.page is window.candidates
    assert window.candidates.panel.name.text() == name
    table = window.candidates.table
    assert window.candidates.model.source(table.currentIndex()) == target.compound
    assert not canvas.card.isVisible()


def test_map_marks_the_compound_that_is_selected_among_the_candidates(qtbot, page):
    window, scene = window_of(page), heat(page)
    other = scene.cell(1, 1).compound
    assert scene._selected_cell() != (1, 1)
    window.show_page(PageName.CANDIDATES)
    window.candidates.which.choose("all")
    window.candidates.table.choose(window.candidates.model.view_row(other))
    window.show_page(PageName.SAR)
    until(qtbot, lambda: heat(drawn(qtbot, window))._selected_cell() == (1, 1))


@pytest.mark.slow
def test_choosing_a_hidden_compound_shows_all_candidates(qtbot, page):
    window = window_of(page)
    while not (status(window).candidates.status == 2).any():
        answered(qtbot, window)
    window.show_page(PageName.CANDIDATES)
    assert window.candidates.which.key == "alive"
    out = np.flatnonzero(status(window).candidates.status == 2)
    window.show_page(PageName.SAR)
    window.session.selection.choose(int(out[0]))
    window.show_page(PageName.CANDIDATES)
    assert window.candidates.which.key == "all"
    assert window.candidates.panel.name.text() == status(window).library.ids[int(out[0])]


def test_sites_can_be_chosen_swapped_fixed_and_ordered(qtbot, page):
    choices = page.heat

    def wait(right):
        until(qtbot, lambda: isinstance(page.scene, HeatScene) and right(page.scene))
        drawn(qtbot, window_of(page))

    assert [key for key, box in choices.fixing.items() if box.isVisible()] == [2]
    QTest.keyClick(choices.across, Qt.Key.Key_Down)  # R2 -> R3
    wait(lambda scene: scene.sites == (0, 2))
    assert [key for key, box in choices.fixing.items() if box.isVisible()] == [1]
    assert heat(page).view.compounds.sum() == 18
    QTest.keyClick(choices.fixing[1], Qt.Key.Key_Down)
    wait(lambda scene: scene.fixed == {1: 0})
    assert heat(page).view.compounds.sum() == 6
    assert heat(page).rest == "R2 = H"
    choices.swap.click()
    wait(lambda scene: scene.sites == (2, 0))
    QTest.keyClick(choices.down, Qt.Key.Key_Up)
    wait(lambda scene: scene.sites == (1, 0))
    assert heat(page).fixed == {}  # what is shown is not fixed
    QTest.keyClick(choices.down, Qt.Key.Key_Up)  # the same as the other one: they change places
    wait(lambda scene: scene.sites == (0, 1))
    assert heat(page).rows == ["Cl", "Me", "H"]
    QTest.keyClick(choices.order, Qt.Key.Key_Down)
    wait(lambda scene: scene.rows == ["H", "Me", "Cl"])


@pytest.mark.slow
@pytest.mark.parametrize("key", [name for name, _ in PICTURES])
def test_the_keyboard_goes_through_every_picture(qtbot, page, key):
    choose(qtbot, page, key)
    canvas = page.canvas
    window_of(page).activateWindow()
    canvas.setFocus()
    until(qtbot, canvas.hasFocus)
    targets = []
    for arrow in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_Left, Qt.Key.Key_Up):
        QTest.keyClick(canvas, arrow)
        targets.append((canvas.target.heading, canvas.target.axes))
        assert canvas.card.isVisible()
        assert canvas.target.heading in canvas.accessibleDescription()
        at = canvas.place_of(canvas.target)
        assert at is not None
        again = canvas.under(at)
        if key != "predictions":  # of points that lie on each other either may be meant
            assert again.heading == canvas.target.heading
    assert len(set(targets)) >= 2
    wanted = canvas.target.compound if canvas.target is not None else None
    QTest.keyClick(canvas, Qt.Key.Key_Return)
    if key != "rounds":
        assert wanted is not None
        assert window_of(page).session.selection.compound == wanted
    QTest.keyClick(canvas, Qt.Key.Key_Escape)
    assert canvas.target is None
    assert not canvas.card.isVisible()


def test_labels_show_their_structures(qtbot, open_window, tmp_path):
    labels = ("[*:1]C", "[*:1]CC"), ("[*:2]F", "[*:2]Cl")
    library = Library.listed(("R1", "R2"), list(itertools.product(*labels)))
    history = [Result(library.ids[k], 6.0 + k / 4, "pIC50") for k in (0, 1, 2)]
    path = tmp_path / "labels.assaypilot"
    made(path, library, history=history).close()
    window = open_window(path)
    window.show_page(PageName.SAR)
    page = drawn(qtbot, window)
    scene = heat(page)
    label = scene.at(0, -1.0, 0.0, (0.1, 0.1))
    assert label.smiles == library.sites[0].substituents[int(scene.view.rows[0])]
    above = scene.at(0, 1.0, -1.0, (0.1, 0.1))
    assert above.smiles == library.sites[1].substituents[int(scene.view.columns[1])]
    assert scene.at(0, 9.0, 9.0, (0.1, 0.1)) is None


def test_before_any_value_the_page_says_what_to_do(qtbot, open_window, tmp_path):
    library = Library.listed(("R1", "R2"), list(itertools.product("AB", "CD")))
    path = tmp_path / "none.assaypilot"
    made(path, library, endpoints=[Endpoint("pIC50", noise_sd=0.2), Endpoint("hERG", noise_sd=0.2)]).close()
    window = open_window(path)
    window.show_page(PageName.SAR)
    page = window.sar
    assert page.empty.isVisible()
    assert "Plan a round" in page.empty.text()
    assert not page.export_button.isEnabled()
    assert not page.again.isVisible()
    plan_round(qtbot, window)
    window.show_page(PageName.SAR)
    assert "Round 1 is with the lab" in page.empty.text()
    done = []
    window.session.record([Result(library.ids[0], 6.0, "pIC50"), Result(library.ids[3], 7.0, "pIC50")], done.append)
    until(qtbot, lambda: bool(done))
    drawn(qtbot, window)
    assert not page.empty.isVisible()
    assert page.endpoint.isVisible()
    QTest.keyClick(page.endpoint, Qt.Key.Key_Down)
    until(qtbot, page.empty.isVisible)
    assert "of hERG yet" in page.empty.text()
    QTest.keyClick(page.endpoint, Qt.Key.Key_Up)
    drawn(qtbot, window)


def test_a_copied_picture_is_on_white(qtbot, page):
    QGuiApplication.clipboard().clear()
    theme().choose("dark")
    try:
        window_of(page).copy()
        until(qtbot, lambda: "clipboard" in window_of(page).messages.text)
    finally:
        theme().choose("light")
    image = QGuiApplication.clipboard().image()
    assert image.width() == pytest.approx(2 * page.canvas.width(), abs=3)
    assert image.pixelColor(2, 2).name() == "#ffffff"


STARTS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


def test_picture_is_written_in_each_format_with_its_data(qtbot, page, tmp_path):
    window, scene = window_of(page), heat(page)
    for suffix, start in STARTS.items():
        next(one for one in page.canvas.menu().actions() if suffix[1:].upper() in one.text()).trigger()
        asking = window.picture_files.asking
        assert isinstance(asking, QFileDialog)
        target = tmp_path / f"a {suffix[1:]}{suffix}"
        asking.fileSelected.emit(str(target))
        asking.reject()
        data = tmp_path / f"a {suffix[1:]} data.csv"
        wait_for(qtbot, window, data.exists)
        assert target.read_bytes().startswith(start)
        rows = rows_of(data)
        assert len(rows) == 9
        assert float(rows[0]["mean pIC50"]) == scene.view.mean[0, 0]
        assert (rows[0]["R1"], rows[0]["compounds"]) == (scene.rows[0], "2")
    assert QImage(str(tmp_path / "a png.png")).width() == pytest.approx(300 * page.canvas.inches[0], abs=2)


def test_data_never_replace_a_file_nobody_agreed_to_lose(tmp_path):
    picture = tmp_path / "x.png"
    assert data_path(picture, replaced=False).name == "x data.csv"
    (tmp_path / "x data.csv").write_text("mine")
    assert data_path(picture, replaced=False).name == "x data 2.csv"
    assert data_path(picture, replaced=True).name == "x data.csv"


def pairs(qtbot, page, kind):
    """The page with its table of pairs of one kind."""
    page.which.choose(PAIRS)
    until(qtbot, lambda: page.stack.currentWidget() is page.pairs)
    page.pairs.kind.choose(kind)
    return page


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=() if kind == "quadruples" else pytest.mark.slow) for kind, _ in PAIR_KINDS]
)
def test_a_row_of_pairs_selects_its_compounds_on_the_candidates_page(qtbot, page, kind):
    table = pairs(qtbot, page, kind).pairs.table
    window = window_of(page)
    for row in (1, 0):
        table.choose(row)
        wanted = page.pairs.model.compounds(row)
        assert len(wanted) == 4 if kind == "quadruples" else len(wanted) >= 2
        assert window.session.selection.compound == wanted[0]
        assert page.panel.name.text() == status(window).library.ids[wanted[0]]
        show(qtbot, window, PageName.CANDIDATES)
        assert sorted(window.candidates.table.selected_rows()) == sorted(wanted)
        assert window.candidates.table.current_row() == wanted[0]
        show(qtbot, window, PageName.SAR)
    window.show_page(PageName.CANDIDATES)
    window.candidates.select(wanted[-1])
    assert window.candidates.table.selected_rows() == [wanted[-1]]
    assert window.session.selection.group == ()


def test_pairs_are_sorted_filtered_and_copied(qtbot, page):
    table, model = pairs(qtbot, page, "cliffs").pairs.table, page.pairs.model
    every = model.rowCount()
    page.pairs.filter.setText("R1 cl")
    page.pairs.filter.settle()
    shown = model.rowCount()
    assert 0 < shown < every
    assert all("Cl" in "".join(row[1:3]) and row[0] == "R1" for row in model.as_text()[1:])
    table.put_in_order(("noise", Qt.SortOrder.DescendingOrder))
    noise = [float(row[-2]) for row in model.as_text()[1:]]
    assert noise == sorted(noise, reverse=True)
    table.clearSelection()
    page.copy()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0].split("\t") == ["Site", "From", "To", "Worse", "Better", "Difference", "Noise", "Elsewhere"]
    assert len(lines) == shown + 1


def test_map_of_a_library_of_many_sites_leaves_room_for_the_map(qtbot):
    sites = [f"R{k}" for k in range(1, 61)]
    choices = HeatChoices()
    qtbot.addWidget(choices)
    choices.show_library(Library.listed(sites, [["H"] * 60, ["Me"] * 60]))
    assert choices.down.count() == 60
    assert len(choices.fixing) == MOST_FIXED
