"""The panel that explains a compound: in every state, whole, copied as it is, at the same place for the next one."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from assaypilot.engine.campaign.reasons import OwnValue, Source
from assaypilot.engine.domain.library import Library, Site
from assaypilot.engine.export.pictures import look
from assaypilot.engine.models.contributions import Contribution
from assaypilot.gui.candidates.why import value_lines
from assaypilot.gui.resources.theme import theme
from assaypilot.gui.widgets.layout import breakable, whole
from assaypilot.gui.window.page import PageName
from tests.gui.helpers import (
    answered,
    copied,
    decided_campaign,
    idle,
    made,
    plan_round,
    quick_campaign,
    returned,
    show,
    status,
    until,
    view,
    wait_for,
)

EFFECTS = ((0.0, 0.9, -0.4), (0.0, 0.5, -0.7))
SMILES = "CNC(=O)c1ccccc1"
LONG = "CPD-" + "0123456789" * 6


def nine_compounds(folder, ids=None):
    """Nine compounds after a decision: some are in, some out, and with structures; the second round is open."""
    library = Library.listed(("R1", "R2"), list(itertools.product("ABC", "ABC")))
    library = replace(library, smiles=(SMILES,) * 9, **({"ids": ids} if ids else {}))
    path = folder / "nine.assaypilot"
    means = [6.0 + EFFECTS[0][a] + EFFECTS[1][b] for a, b in itertools.product(range(3), range(3))]
    off = itertools.cycle((0.1, -0.1))
    with made(path, library, slack=0.2, per_round=16, max_replicates=20) as campaign:
        while not campaign.status().counts["out"]:
            campaign.plan()
            campaign.record(returned(campaign, lambda at, _: means[at] + next(off)), close=True)
        campaign.plan()
    return path


@pytest.fixture
def window(qtbot, open_window, tmp_path):
    return shown(qtbot, open_window, copied(tmp_path, nine_compounds))


def shown(qtbot, open_window, path):
    window = open_window(path)
    window.show_page(PageName.CANDIDATES)
    window.candidates.which.choose("all")
    idle(qtbot, window)
    window.activateWindow()
    return window


def first(window, code):
    return int(np.flatnonzero(status(window).candidates.status == code)[0])


def panel(window):
    return window.candidates.panel


def test_panel_explains_out_in_and_undecided(window):
    reasons = view(window).reasons
    for code, heading in ((0, "Why undecided"), (1, "Why in"), (2, "Why out")):
        if not (status(window).candidates.status == code).any():
            continue
        compound = first(window, code)
        window.candidates.select(compound)
        side, reasoning = panel(window), reasons.of(compound)
        assert side.why.heading.text() == heading
        assert side.why.words.text() == reasoning.why
        assert side.decide.isVisible() == bool(reasoning.decide)
        if code == 0:
            assert side.decide.text().startswith("What would decide it: the next decision ")
        assert side.picked.text() == reasoning.picked
        lines = [line.text() for line, _ in side.values.lines if line.isVisible()]
        assert lines == [line.text for line in value_lines(reasoning.values, named=False)]
        assert side.values.more.isVisible() != bool(lines)
    window.candidates.select(first(window, 2))
    assert "another compound is better" in panel(window).why.words.text()
    assert "Why out" in panel(window).why.accessibleName()


def test_why_is_a_sum_of_the_contributions_of_the_sar_page(qtbot, open_window, tmp_path):
    window = open_window(decided_campaign(tmp_path))
    found = look(status(window), 0).contributions
    for compound, codes in enumerate(status(window).library.codes[:6].tolist()):
        window.session.selection.choose(compound)
        show(qtbot, window, PageName.CANDIDATES)
        rows = panel(window).sources.rows
        numbers = [float(row[-1].split(" ")[0].replace("\N{MINUS SIGN}", "-")) for row in rows]
        assert sum(numbers) == pytest.approx(status(window).candidates.estimates["pIC50"][compound], abs=0.026)
        shown = [site.substituents[code].value for site, code in zip(found, codes, strict=True)]
        assert numbers[1:-1] == pytest.approx(shown, abs=0.006)


def test_why_sums_small_contributions_of_many_sites_and_names_what_was_never_measured(qtbot, window):
    sites = [Site(f"R{k}", ("A", "B")) for k in range(1, 13)]
    library = Library(sites, np.zeros((1, 12), dtype=np.int16), ("X",))
    known = [Contribution("A", 0.1 * k, 0.1 * k - 0.05, 0.1 * k + 0.05, 1) for k in range(11)]
    table = panel(window).sources
    table.show_sources(library, 0, [Source("pIC50", 6.0, (*known, Contribution("A", *[np.nan] * 3, 0)), 0.25)])
    assert [row[0] for row in table.rows] == ["", *(f"R{k}" for k in range(4, 12)), "", ""]
    assert table.rows[-2] == ("", "4 other sites", "+0.30")
    assert table.rows[1] == ("R4", "A", "+0.30 \N{PLUS-MINUS SIGN} 0.05")
    table.show_sources(library, 0, [Source("pIC50", 6.0, (Contribution("A", *[np.nan] * 3, 0), *known), 0.25)] * 2)
    assert table.rows[0] == ("", "", "pIC50", "pIC50")
    table.show_sources(library, 0, [])
    assert table.isHidden()


def test_replicates_of_a_round_share_a_line_and_a_value_with_a_note_has_its_own():
    def value(number, when, note="", *, used=True):
        return OwnValue("hERG", number, 1, when, note, used, left_out=not used)

    values = [value("5.0", "earlier"), value("5.1", "round 1"), value("9.0", "round 1", "left out: bubble", used=False)]
    values += [value("5.2", "round 1"), replace(value("5.3", "round 2"), n=3)]
    lines = value_lines(values, named=True)
    assert [one.text for one in lines] == [
        "Earlier: hERG 5.0", "Round 1: hERG 5.1, 5.2", "Round 1: hERG 9.0", "Round 2: hERG 5.3 (n = 3)",
    ]  # fmt: skip
    assert [one.left_out for one in lines] == [False, False, True, False]


def test_panel_names_groups_once_and_the_round_while_it_is_open(qtbot, open_window, tmp_path):
    window = open_window(quick_campaign(tmp_path, strategy="gaussian-process"))
    show(qtbot, window, PageName.CANDIDATES)
    assert [row[0] for row in panel(window).sources.rows] == ["", "R1", "R2", "R3", ""]
    assert "Substituents" not in dict(panel(window).details.rows)
    assert panel(window).picked.isHidden()
    plan_round(qtbot, window)
    show(qtbot, window, PageName.CANDIDATES)
    assert "ound 1" in panel(window).picked.text()
    assert panel(window).picked.isVisible()


def test_excluded_value_is_struck_through_with_its_reason(qtbot, window):
    used = status(window).measurements[0]
    window.candidates.select(used.compound)
    before = [line.font().strikeOut() for line, _ in panel(window).values.lines if line.isVisible()]
    assert not any(before)
    window.session.exclude(used.number, "bubble in the well", judgement=False)
    wait_for(qtbot, window, lambda: status(window).measurements[0].excluded is not None)
    line, note = panel(window).values.lines[0]
    assert line.font().strikeOut()
    assert note.isVisible()
    assert note.text().strip("\u00a0") == "left out: bubble in the well"
    assert "not used" in line.accessibleName()
    others = [one.font().strikeOut() for one, _ in panel(window).values.lines[1:] if one.isVisible()]
    assert others
    assert not any(others)


@pytest.mark.slow
def test_selection_moves_nothing_above_the_reasons(qtbot, window):
    window.resize(1400, 1000)  # high enough for the course of the set to stay below
    places = set()
    for compound in range(9):
        window.candidates.select(compound)
        qtbot.wait(1)
        shown = panel(window)
        tops = [widget.mapTo(window, widget.rect().topLeft()).y() for widget in (shown.structure, shown.details)]
        places.add((*tops, shown.why.mapTo(window, shown.why.rect().topLeft()).y(), window.candidates.sides.sizes()[1],
                    shown.canvas.mapTo(window, shown.canvas.rect().topLeft()).y()))  # fmt: skip
    assert len(places) == 1


def test_a_structure_is_copied_as_smiles_molfile_and_picture(qtbot, window):
    structure, clipboard = panel(window).structure, QGuiApplication.clipboard()
    window.candidates.select(3)
    structure.setFocus()
    until(qtbot, structure.hasFocus)
    clipboard.setText("nothing")
    QTest.keyClick(structure, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert clipboard.text() == SMILES
    assert "SMILES" in window.messages.text
    texts = [action.text() for action in structure.menu().actions()]
    assert texts == ["Copy &SMILES", "Copy &Molfile", "Copy &Picture", "Copy &ID"]
    by_name = {action.text(): action for action in structure.menu().actions()}
    by_name["Copy &ID"].trigger()
    assert clipboard.text() == status(window).library.ids[3]
    by_name["Copy &Molfile"].trigger()
    until(qtbot, lambda: clipboard.text().rstrip().endswith("M  END"))
    from rdkit import Chem

    molecule = Chem.MolFromMolBlock(clipboard.text())
    assert Chem.MolToSmiles(molecule) == Chem.CanonSmiles(SMILES)
    assert molecule.GetProp("_Name") == status(window).library.ids[3]
    by_name["Copy &Picture"].trigger()
    until(qtbot, lambda: not clipboard.image().isNull())
    image = clipboard.image()
    assert image.width() == 1200
    assert image.pixelColor(2, 2).name() == "#ffffff"
    assert any(image.pixelColor(x, 450).lightness() < 128 for x in range(image.width()))
    idle(qtbot, window)


def test_selected_words_are_copied_and_else_the_rows(qtbot, window):
    window.candidates.select(first(window, 2))
    words = panel(window).why.words
    words.setFocus()
    words.setSelection(0, 11)
    window.copy()
    assert QGuiApplication.clipboard().text() == words.text()[:11]
    window.candidates.table.setFocus()
    window.copy()
    assert "\t" in QGuiApplication.clipboard().text()


def test_long_words_are_broken_and_copied_whole():
    text = f"Against {LONG} it is 0.31 behind (n = 2)."
    made = breakable(text)
    assert whole(made) == text
    assert "(n =" not in made
    assert max(len(part) for word in made.split(" ") for part in word.split("\u200b")) <= 18


def cut(window):
    """The texts of the panel beside the candidates that leave it or lack room, once it is laid out."""
    side = window.candidates.sides.widget(1)
    right = side.mapToGlobal(side.rect().topRight()).x()
    texts = [one for one in side.findChildren(QLabel) if one.isVisible()]
    assert len(texts) > 10
    return [
        one.text()
        for one in texts
        if one.mapToGlobal(one.rect().topRight()).x() > right
        or (one.wordWrap() and one.height() < one.heightForWidth(one.width()))
    ]


@pytest.mark.usefixtures("dressed")
@pytest.mark.parametrize("percent", [pytest.param(100, marks=pytest.mark.slow), 200])
def test_no_text_of_the_panel_is_cut(qtbot, open_window, tmp_path, percent):
    ids = tuple(f"{LONG}-{n}" for n in range(9))
    window = shown(qtbot, open_window, copied(tmp_path, nine_compounds, ids))
    theme().enlarge(percent)
    try:
        window.resize(1280, 800)
        for compound in (first(window, 0), first(window, 2)):
            window.candidates.select(compound)
            idle(qtbot, window)
            until(qtbot, lambda: cut(window) == [])
    finally:
        theme().enlarge(100)


def test_sar_panel_explains_as_the_candidates_panel(qtbot, open_window,
                                                     tmp_path):  # fmt: skip
    window = open_window(quick_campaign(tmp_path, smiles=True))
    window.show_page(PageName.SAR)
    assert window.sar.panel.why.isHidden()
    answered(qtbot, window)
    window.session.selection.choose(5)
    idle(qtbot, window)
    show(qtbot, window, PageName.CANDIDATES)
    assert window.sar.panel.why.words.text() == window.candidates.panel.why.words.text()
    assert window.sar.panel.picked.text() == window.candidates.panel.picked.text() != ""
