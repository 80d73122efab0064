"""Looking back over the rounds: what was shown then is shown again, and now is where it was."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.domain.library import Library, Site
from assaypilot.engine.domain.measurements import Result
from assaypilot.gui.plots.trust import RoundsScene
from assaypilot.gui.window.page import PageName
from tests.gui.helpers import copied, idle, made, status, until, wait_for

ROUNDS = 4
EFFECTS = ((0.0, 0.9, -0.4), (0.0, 0.5, -0.7))


def assay(campaign):
    """What comes back for the open round."""
    now = campaign.status()
    results = []
    for item in now.open_round.items:
        codes = now.library.codes[item.compound]
        mean = 6.0 + sum(EFFECTS[site][int(code)] for site, code in enumerate(codes))
        wiggle = [0.1, -0.1, 0.05, -0.05]
        results += [Result(now.library.ids[item.compound], mean + wiggle[n % 4]) for n in range(item.replicates)]
    return results


def four_rounds(folder):
    """A campaign of four rounds, the fifth open with one result."""
    path = folder / "four.assaypilot"
    library = Library.product([Site(f"R{k + 1}", tuple("ABC")) for k in range(2)])
    with made(path, library, slack=0.1, per_round=16, max_replicates=8) as campaign:
        for _ in range(ROUNDS):
            assert campaign.plan() is not None
            campaign.record(assay(campaign), close=True)
        assert campaign.plan() is not None
        campaign.record(assay(campaign)[:1])
    return path


@pytest.fixture
def path(tmp_path):
    return copied(tmp_path, four_rounds)


@pytest.fixture
def window(qtbot, open_window, path):
    window = open_window(path)
    window.show_page(PageName.CANDIDATES)
    window.candidates.which.choose("all")
    idle(qtbot, window)
    window.activateWindow()
    return window


def table(window):
    """What the table reads."""
    model = window.candidates.model
    return [[column.text(int(row)) for column in model.columns if column.smiles is None] for row in model.rows]


def settled(qtbot, window, number):
    wait_for(qtbot, window, lambda: window.session.replay.round == number and window.session.replay.wanted == number)


def test_the_slider_shows_each_round_as_it_stood_on_the_same_axes(qtbot, window, path):
    page, bar = window.candidates, window.candidates.replay
    now, own, axes = table(window), page.canvas.picture.ends(), []
    assert page.canvas.picture.within is None
    assert bar.isVisible()
    assert bar.words.text() == ""
    assert not bar.back.isVisible()
    bar.slider.setFocus()
    used = status(window).measurements_used
    with Campaign.open(path, read_only=True) as campaign:
        past = {number: campaign.status_at(number) for number in range(ROUNDS + 1)}
    for number in reversed(range(ROUNDS + 1)):
        QTest.keyClick(bar.slider, Qt.Key.Key_Left)
        settled(qtbot, window, number)
        then = past[number]
        places = [page.model.place_of(key) for key in ("id", "status", "estimate", "interval")]
        shown = {page.model.columns[places[0]].text(int(row)) for row in page.model.rows}
        assert shown == set(then.library.ids)
        for compound in range(len(then.library)):
            texts = [page.model.columns[place].text(compound) for place in places[1:]]
            estimate = then.candidates.estimate[compound]
            assert texts[0] == ("undecided", "in", "out", "not estimable")[int(then.candidates.status[compound])]
            assert texts[1] == ("" if estimate != estimate else f"{estimate:.2f}")
        when = f"after round {number} of {ROUNDS}" if number else "before the first round"
        whole = bar.words.accessibleName()
        assert whole.startswith(f"As it stood {when}; {then.measurements_used} of {used} measurements.")
        assert "Nothing can be changed here; exports are of now." in whole
        assert page.canvas.picture.status.events == then.events
        figure = page.canvas.picture.draw((8.0, 2.6), 100.0)
        needed = page.canvas.picture.ends()
        ends = (*figure.axes[0].get_xlim(), *figure.axes[0].get_ylim())
        if needed is not None:  # before the first round there is no estimate here
            axes.append(ends)
            assert ends[0] <= needed[0] < needed[1] <= ends[1]
            assert ends[2] <= needed[2] < needed[3] <= ends[3]
    assert len(axes) == ROUNDS
    assert len(set(axes)) == 1
    QTest.keyClick(bar.slider, Qt.Key.Key_Left)  # there is nothing before the start
    settled(qtbot, window, 0)
    QTest.keyClick(bar.slider, Qt.Key.Key_End)
    settled(qtbot, window, None)
    assert table(window) == now
    assert bar.words.text() == ""
    assert page.canvas.picture.within is None
    assert page.canvas.picture.ends() == own != axes[0]


def test_exports_and_commands_are_of_now(qtbot, window):
    page = window.candidates
    page.which.choose("alive")
    before = page.on_screen()
    alive = len(before.order)
    page.replay.slider.setValue(0)
    settled(qtbot, window, 0)
    assert page.model.rowCount() == 9 > alive
    assert window.session.view.status is status(window)
    window.copy()
    assert "As it stood before the first round" in window.messages.text
    assert page.on_screen() == before
    assert window.session.replay.round is None
    page.replay.slider.setValue(0)
    settled(qtbot, window, 0)
    # Whatever is done is done to the campaign as it is, and seen there.
    window.session.exclude(1, "bubble", judgement=True)
    until(qtbot, lambda: status(window).measurements[0].excluded is not None)
    settled(qtbot, window, None)
    assert page.replay.words.text() == ""


def test_the_pictures_of_sar_follow(qtbot, window):
    window.candidates.replay.slider.setValue(2)
    settled(qtbot, window, 2)
    window.show_page(PageName.SAR)
    page = window.sar
    page.which.buttons["rounds"].click()
    wait_for(qtbot, window, lambda: isinstance(page.scene, RoundsScene))
    assert len(page.scene.table()[1]) == 3
    assert page.replay.words.text() == "After round 2"
    page.replay.slider.setValue(0)
    settled(qtbot, window, 0)
    assert "Nothing had been measured then." in page.empty.text()
    page.replay.back.click()
    settled(qtbot, window, None)
    until(qtbot, lambda: isinstance(page.scene, RoundsScene) and len(page.scene.table()[1]) == ROUNDS + 1)
    # What was not seen meanwhile is of now when it is seen.
    window.show_page(PageName.CANDIDATES)
    assert window.candidates.replay.words.text() == ""


def test_replay_is_hidden_before_the_first_closed_round(qtbot, campaign):
    campaign.show_page(PageName.CANDIDATES)
    assert not campaign.candidates.replay.isVisible()
    assert campaign.session.replay.rounds == []
    campaign.session.replay.step(-1)
    assert campaign.session.replay.wanted is None


def test_keys_go_through_the_rounds_from_any_page(qtbot, window):
    window.show_page(PageName.LIBRARY)
    earlier, later, now = window.actions_.replays
    assert [action.shortcut().toString() for action in window.actions_.replays] == [
        "Alt+Left", "Alt+Right", "Alt+Home",
    ]  # fmt: skip
    earlier.trigger()
    assert window.page is window.candidates
    settled(qtbot, window, ROUNDS)
    earlier.trigger()
    settled(qtbot, window, ROUNDS - 1)
    later.trigger()
    settled(qtbot, window, ROUNDS)
    now.trigger()
    settled(qtbot, window, None)
