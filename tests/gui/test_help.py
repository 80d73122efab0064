"""F1: every page and dialog has its topic, every link leads somewhere, and nothing comes from outside."""

import importlib
import inspect
import pkgutil
import re

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog

import assaypilot.gui
from assaypilot.gui.help.help_window import (
    CHAPTERS,
    FOLDER,
    HOME,
    PRESENT,
    close_help,
    help_window,
    show_help,
    topic_of,
    topics,
)
from assaypilot.gui.window.page import Page, PageName
from assaypilot.gui.window.start_page import StartPage
from tests.gui.helpers import dialog, idle, until


@pytest.fixture
def help_(qtbot, open_window):
    idle(qtbot, open_window())
    yield show_help()
    close_help()


def shown_classes():
    """Every page and every dialog there is."""
    found = {StartPage}
    for entry in pkgutil.walk_packages(assaypilot.gui.__path__, "assaypilot.gui."):
        module = importlib.import_module(entry.name)
        for _, kind in inspect.getmembers(module, inspect.isclass):
            if issubclass(kind, (QDialog, Page)) and kind.__module__.startswith("assaypilot.gui"):
                found.add(kind)
    return sorted(found - {Page}, key=lambda kind: kind.__name__)


def test_every_page_and_dialog_has_a_topic(qapp):
    without = []
    for kind in shown_classes():
        abstract = any(other is not kind and issubclass(other, kind) for other in shown_classes())
        key = getattr(kind, "topic", None) or next(
            (PRESENT[k.__name__] for k in kind.__mro__ if k.__name__ in PRESENT), None
        )
        if key not in topics() and not abstract:
            without.append(kind.__name__)
    assert without == []
    assert set(PRESENT.values()) <= set(topics())


def test_every_link_leads_to_a_topic_and_every_topic_is_read():
    links = {(topic.key, link) for topic in topics().values() for link in topic.links}
    assert [pair for pair in links if pair[1] not in topics()] == []
    reached = {link for _, link in links} | set(PRESENT.values()) | {HOME, "keys"}
    assert set(topics()) - reached == {"windows", "best-one", "strategy"} - reached
    assert {path.stem for path in FOLDER.glob("*.md")} == {file for file, _ in CHAPTERS} | {"tour"}
    heads = sum(
        path.read_text(encoding="utf-8").count("\n# ") + 1 for path in FOLDER.glob("*.md") if path.stem != "tour"
    )
    assert heads == len(topics())  # none under a key that is taken, none with a heading that cannot be read


@pytest.mark.parametrize(
    "words",
    ["epsilon", "soft zone", "confidence", "undecided", "not estimable", "bounds", "assay noise", "one measurement",
     "additivity add up", "guaranteed"],
)  # fmt: skip
def test_every_word_of_statistics_is_explained(words):
    assert [topic.key for topic in topics().values() if topic.chapter == "Words" and topic.contains(words)]


def test_texts_are_short_and_plain():
    for topic in topics().values():
        assert len(topic.text) < 1700, topic.key
        assert not re.search(r"<[a-z/!]|https?:|!\[", topic.text), topic.key  # no markup, nothing from outside


def test_f1_opens_at_what_is_shown(qtbot, campaign):
    for place in PageName:
        campaign.show_page(place)
        campaign.actions_.help.trigger()
        opened = help_window()
        assert opened.shown == topic_of(campaign.pages[place])
    idle(qtbot, campaign)
    campaign.close()
    assert help_window() is None  # it goes with the last window


def test_f1_in_a_dialog_explains_the_dialog(qtbot, campaign):
    campaign.show_page(PageName.CANDIDATES)
    campaign.exporting.ask(None)
    asked = dialog()
    until(qtbot, lambda: asked.focusWidget() is not None and asked.isActiveWindow())
    QTest.keyClick(asked.focusWidget(), Qt.Key.Key_F1)
    opened = help_window()
    assert opened.shown == "export"
    assert opened.isVisible()
    assert asked.isVisible()
    QTest.keyClick(opened, Qt.Key.Key_Escape)
    assert not opened.isVisible()
    asked.reject()
    close_help()


def test_links_search_and_the_way_back(qtbot, help_):
    assert "Bring a table" in help_.reader.toPlainText()
    assert not help_.back.isEnabled()
    help_.reader.anchorClicked.emit(QUrl("soft-zone"))
    assert "both right answers" in help_.reader.toPlainText()
    assert help_.windowTitle().startswith("The soft zone")
    QTest.keyClick(help_, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert help_.shown == HOME
    help_.search.setText("plate shared dilution no such word")
    help_.search.settle()
    assert help_.list.count() == 0
    assert not help_.none.isHidden()
    help_.search.setText("WORK LIST")
    help_.search.settle()
    titles = [help_.list.item(row).text().strip() for row in range(help_.list.count())]
    assert "Work list" in titles
    assert "Trade-offs" not in titles
    assert help_.shown in topics()
    help_.search.setText("")
    help_.search.settle()
    help_.list.setCurrentRow(help_.list.count() - 1)
    assert help_.shown == "keys"
    assert "Ctrl+E" in help_.reader.toPlainText()
    help_.reader.anchorClicked.emit(QUrl("https://somewhere.example/"))
    assert help_.shown == "keys"
