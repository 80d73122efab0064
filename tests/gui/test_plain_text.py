"""Text of a table is never markup, mathematics or a formula: one campaign of nasty names through all of the window."""

import csv
import io
import itertools
import os

import numpy as np
import pytest
from matplotlib.text import Text
from PySide6.QtGui import QAction, QGuiApplication, QTextDocument
from PySide6.QtGui import Qt as QtText
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLabel, QMenu, QTableView, QWidget

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.settings import Settings
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library
from assaypilot.engine.domain.measurements import Result
from assaypilot.gui.help.about import AboutDialog
from assaypilot.gui.plots.canvas import Canvas
from assaypilot.gui.plots.pointing import PointingCanvas
from assaypilot.gui.tables.rows import RowsModel
from assaypilot.gui.window.page import PageName
from tests.gui.helpers import creation_of, dialog, goal_of, idle, open_round, plan_round, status, until, view, wait_for

CAMPAIGN = "<b>Series</b> $4$ & R1 [*] %s"
SITES = ("R1 $width x <$energy", "R2 <img src=//host/x>", "&amp; R3 %(x)s {0}")
LABELS = (
    ("<b>H</b>", "$\\frac{1}{0}$", "CF3 <i> & Me"),
    ("=HYPERLINK(1)", "@SUM(A1)", "a\u202eb Ünï"),
    ("#N/A$_2$", "%s %d {x!r}"),
)
ENDPOINTS = ("pIC50 $x_1 <img src=//host/y>", "hERG <b>&</b> $^{}$")
NASTY = ("CPD_$1_$2%", "R1 $width x <$energy", "<img src=//host/x>", "=cmd|' /C calc'!A0", "-1+2", "a&b <b>c</b>")
IDS = (*NASTY, *(f"<i>{n}</i> $C_{{{n}}}$ & %{n}" for n in range(12)))
RECIPES = tuple(itertools.product(*LABELS))
SMILES = "c1ccccc1C(=O)NC"
MARKS = ("<b>", "<i>", "<img", "&amp;", " & ", "$")


def nasty_campaign(folder, *, pareto):
    """A campaign in which every text that a table can bring is one that something could take for more than text."""
    rows = list(itertools.product(*LABELS))
    library = Library.listed(SITES, rows, ids=IDS, smiles=[SMILES] * len(rows))
    endpoints = [Endpoint(ENDPOINTS[0], noise_sd=0.2, epsilon=0.3 if pareto else None)]
    settings = Settings(ENDPOINTS[0], epsilon=0.5, slack=0.5)
    if pareto:
        endpoints.append(Endpoint(ENDPOINTS[1], direction="min", noise_sd=0.2, epsilon=0.3))
        settings = Settings(goal="pareto", objectives=ENDPOINTS, epsilon=0.3)
    path = folder / "nasty.assaypilot"
    history = [Result(IDS[0], 6.1, ENDPOINTS[0]), Result(IDS[2], 6.4, ENDPOINTS[0])]
    Campaign.create(
        path, library=library, endpoints=endpoints, settings=settings, name=CAMPAIGN, history=history
    ).close()
    return path


def truth(name, endpoint):
    """An additive value."""
    place = IDS.index(name)
    a, b, c = place // 6, place // 2 % 3, place % 2
    return 6.0 + 0.4 * a + 0.3 * b + 0.5 * c if endpoint == ENDPOINTS[0] else 4.5 + 0.2 * a + 0.35 * c


def as_read(shown):
    """A tooltip or a label of automatic format as people read it."""
    if not QtText.mightBeRichText(shown):
        return shown
    document = QTextDocument()
    document.setHtml(shown)
    return document.toPlainText()


def squeezed(text):
    """A text without regard to line ends and to which kind of space."""
    return " ".join(text.replace("\xa0", " ").split())


def texts_of(widget):
    """(kind, text as people read it, object) of everything below a widget."""
    for one in [widget, *widget.findChildren(QWidget)]:
        yield "tip", as_read(one.toolTip()), one
        if isinstance(one, QLabel):
            plain = one.textFormat() == QtText.TextFormat.PlainText
            yield "label", one.text() if plain else as_read(one.text()), one
        elif isinstance(one, QAbstractButton):
            yield "button", one.text().replace("&&", "\0").replace("&", "").replace("\0", "&"), one
    for action in widget.findChildren(QAction):
        yield "action", action.text().replace("&&", "\0").replace("&", "").replace("\0", "&"), action
        yield "tip", as_read(action.toolTip()), action


def check(widget):
    """How many names stood below a widget, all of them whole wherever a piece of one is."""
    names = [squeezed(name) for name in (CAMPAIGN, *SITES, *itertools.chain(*LABELS), *ENDPOINTS, *IDS)]
    found = 0
    for kind, shown, one in texts_of(widget):
        text = squeezed(shown)
        found += any(name in text for name in names)
        if kind == "label" and "…" in text:
            continue  # cut off for want of room; its tooltip is the whole
        # What a reader of markup leaves of our names is their words without their signs.
        for stripped, name in STRIPPED.items():
            bare = text.replace(name, "")
            assert stripped not in bare, f"{kind} {one}: {text!r} has lost what was in {name!r}"
    return found


def stripped_of(name):
    """What is left of a name that is taken for markup."""
    document = QTextDocument()
    document.setHtml(name)
    return squeezed(document.toPlainText())


STRIPPED = {}


@pytest.fixture(autouse=True)
def stripped_names(qapp):
    for name in (CAMPAIGN, *SITES, *ENDPOINTS, *IDS):
        left = stripped_of(name)
        if len(left) > 4 and left != squeezed(name):
            STRIPPED[left] = squeezed(name)
    assert len(STRIPPED) > 10


def check_model(model):
    """How many cells and headings show or explain themselves with a name, all of them as it is."""
    found = 0
    for column, one in enumerate(model.columns):
        tip = model.headerData(column, QtText.Orientation.Horizontal, QtText.ItemDataRole.ToolTipRole)
        assert squeezed(as_read(tip)) == squeezed(one.tip or one.title)
        for row in range(model.rowCount()):
            index, source = model.index(row, column), int(model.rows[row])
            expected = one.cell_tip(source) if one.cell_tip is not None else one.text(source)
            tip = as_read(model.data(index, QtText.ItemDataRole.ToolTipRole))
            assert squeezed(tip) == squeezed(expected)
            found += any(mark in expected for mark in MARKS)
    return found


def drawn_texts(canvas):
    """The texts of a picture, none of which is read as mathematics."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = canvas._draw((7.0, 3.0), 96.0)
    FigureCanvasAgg(figure).draw()
    texts = [one for one in figure.findobj(Text) if one.get_text()]
    for one in texts:
        if "$" in one.get_text():
            assert not one.get_parse_math(), one.get_text()
    return [one.get_text() for one in texts]


def pages_through(qtbot, window):
    """How many names were seen on all pages."""
    found = 0
    for place in (PageName.LIBRARY, PageName.ROUND, PageName.CANDIDATES, PageName.SAR, PageName.HISTORY):
        window.show_page(place)
        idle(qtbot, window)
        for table in window.stack.currentWidget().findChildren(QTableView):
            model = table.model()
            if isinstance(model, RowsModel):
                found += check_model(model)
                if model.rowCount():
                    table.selectRow(min(2, model.rowCount() - 1))
        idle(qtbot, window)
        found += check(window)
        for canvas in window.stack.currentWidget().findChildren(Canvas):
            if canvas.isVisible():
                # An error while drawing leaves it without a picture; what is scrolled out of sight waits for its own.
                until(qtbot, lambda canvas=canvas: canvas.shown or canvas.visibleRegion().isEmpty())
                drawn_texts(canvas)
        copies(qtbot, window)
    return found


def copies(qtbot, window):
    """Copy what the page copies, rows or a picture, and the data behind the picture there is."""
    clipboard, page = QGuiApplication.clipboard(), window.stack.currentWidget()
    clipboard.clear()
    page.copy()
    idle(qtbot, window)
    shown = [one for one in page.findChildren(PointingCanvas) if one.isVisible()]
    there = any(one.isVisible() and one.model().rowCount() for one in page.findChildren(QTableView))
    if there or shown:  # otherwise the page says why there is nothing yet
        assert clipboard.text() or not clipboard.image().isNull()
    for canvas in shown:
        clipboard.clear()
        canvas.copy_data()
        until(qtbot, lambda: bool(clipboard.text()))
        header, *rows = csv.reader(io.StringIO(clipboard.text(), newline=""), delimiter="\t")
        assert all(len(row) == len(header) for row in rows)
        known = {CAMPAIGN, *SITES, *itertools.chain(*LABELS), *ENDPOINTS, *IDS}
        assert known & {*header, *itertools.chain(*rows)}


@pytest.mark.slow
@pytest.mark.parametrize("pareto", [False, True], ids=["one endpoint", "two endpoints"])
def test_names_are_text_on_every_page_plot_tooltip_dialog_and_export(qtbot, open_window, tmp_path, pareto, monkeypatch):
    # Eight processes would take longer than all the rest; that exports are made in one is tested elsewhere.
    monkeypatch.setattr("assaypilot.engine.system.processes.in_another_process", here)
    window = open_window(nasty_campaign(tmp_path, pareto=pareto))
    assert "[*][*]" in window.windowTitle()  # what Qt shows as [*]
    assert pages_through(qtbot, window) > 100
    plan_round(qtbot, window)
    assert pages_through(qtbot, window) > 100
    preview(qtbot, window)
    results = answers(window)
    record(qtbot, window, results[:3])
    assert pages_through(qtbot, window) > 100
    assert any(mark in window.actions_.undo.text() for mark in ("&Undo", "Undo"))
    dialogs(qtbot, window)
    record(qtbot, window, results[3:])
    done = []
    window.session.close_round(then=lambda: done.append(1))
    wait_for(qtbot, window, lambda: bool(done))
    window.show_page(PageName.CANDIDATES)
    window.candidates.which.choose("all")
    for compound in range(len(IDS)):
        window.candidates.select(compound)
        assert window.candidates.panel.name.text() == IDS[compound]
        check(window.candidates)
    window.candidates.filter.setText(IDS[2])
    until(qtbot, lambda: window.candidates.model.rowCount() == 1)
    assert pages_through(qtbot, window) > 50
    window.candidates.filter.setText("")
    until(qtbot, lambda: window.candidates.model.rowCount() == len(IDS))
    window.exporting.to(tmp_path / "CPD_$1 %s & out.csv", "screen", as_columns=True)
    idle(qtbot, window)
    assert check(window)
    assert view(window).status.name == CAMPAIGN


def here(function, *arguments, report):
    """What a function returns, called in this process."""
    return function(*arguments, report)


def answers(window):
    """What the lab says of the open round."""
    now, shown = status(window), open_round(window)
    rng = np.random.default_rng(5)
    made = []
    for item in shown.items:
        for place, endpoint in enumerate(shown.endpoints):
            name, measured = now.library.ids[item.compound], now.endpoints[endpoint].name
            for number in range(1, item.of(place) + 1):
                value = round(truth(name, measured) + 0.2 * float(rng.standard_normal()), 2)
                made.append(Result(name, value, measured, round=shown.number, replicate=str(number)))
    return made


def record(qtbot, window, results):
    """Enter results."""
    done = []
    window.session.record(results, done.append)
    wait_for(qtbot, window, lambda: bool(done))


def preview(qtbot, window):
    """What a paste would write, names that are known and names that are not."""
    rows = [
        ["ID", ENDPOINTS[0]],
        [IDS[0], "7.1"],
        [IDS[2], "35"],
        ["<img src=//host/z> $x$", "7.0"],
        [IDS[3], "oops <b>"],
    ]
    block = io.StringIO(newline="")
    csv.writer(block, delimiter="\t").writerows(rows)
    QGuiApplication.clipboard().setText(block.getvalue())
    window.show_page(PageName.ROUND)
    window.round.reading.paste()
    until(qtbot, lambda: window.round.stack.currentWidget() is window.round.preview)
    assert check_model(window.round.preview.model) > 2
    check(window)
    window.round.preview.cancel.click()
    page = window.round
    page.values.enter(0, 0, "<b>7</b> $")
    page.table.choose(0, "result")
    assert page.model.wrong(0) is not None
    check(page)
    page.values.forget(0, 0)


def dialogs(qtbot, window):
    """Open every dialog that shows a name, and close it again."""
    from PySide6.QtWidgets import QListView

    number = next(one.number for one in status(window).measurements if one.round == 1)

    def unavailable():
        window.show_page(PageName.LIBRARY)
        window.library.table.choose(2)
        window.library.gone.click()

    opened = [
        unavailable, lambda: window.round.values.exclude(number), lambda: window.round.values.correct(number),
        lambda: window.exporting.ask(None), window.work_lists.ask, window.help_and_preferences.about,
    ]  # fmt: skip
    window.close_round()
    if status(window).open_round is not None:
        check(window.closing)
        window.closing.reject()
    for open_one in opened:
        open_one()
        shown = dialog()
        if shown is window.work_lists.dialog:
            shown.plate_size.choose("96")
            until(qtbot, lambda: window.work_lists.dialog is not None and window.work_lists.dialog.layout_ is not None)
            plate = shown.plate
            tips = {plate.tip(well) for well in plate.contents}
            assert any(name in tip for tip in tips for name in IDS)
        check(shown)
        for box in shown.findChildren(QComboBox):
            assert isinstance(box.view(), QListView)  # items are drawn as plain text
        assert isinstance(shown, AboutDialog) or shown.windowTitle()
        shown.reject()
        idle(qtbot, window)
    line = next(n for n, values in enumerate(window.round.model.values) if values)
    window.show_page(PageName.ROUND)
    window.round.table.choose(line, "result")
    window.round.values.menu(window.round.table.rect().center())
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    check(menu)
    menu.close()
    menu = window.candidates.arrangement.menu(window)
    check(menu)
    shown_names = [action.text().replace("&&", "&") for action in menu.actions()]
    assert all(squeezed(site) in shown_names for site in SITES)
    menu.deleteLater()


def test_names_are_text_in_every_step_of_a_new_campaign(qtbot, open_window, tmp_path):
    window = open_window()
    table = tmp_path / "<b>a table & $x$.csv" if os.name != "nt" else tmp_path / "a table & $x$.csv"
    block = io.StringIO(newline="")
    rows = [[name, *labels, str(6 + n / 10)] for n, (name, labels) in enumerate(zip(IDS, RECIPES, strict=True))]
    rows.append(["<img src=//host/z>", *RECIPES[0], "oops <b>no number</b>"])
    csv.writer(block).writerows([["ID", "R1", "R2", "R3", ENDPOINTS[0]], *rows])
    table.write_text(block.getvalue(), encoding="utf-8")
    window.new_campaign(table)
    creation = creation_of(window)
    goal_of(qtbot, creation)
    creation.goal_pane.show_more()
    found = 0
    for key in creation.views.keys:
        creation.views.choose(key)
        idle(qtbot, window)
        found += check(creation)
        for shown in creation.findChildren(QTableView):
            if isinstance(shown.model(), RowsModel) and shown.isVisibleTo(creation):
                found += check_model(shown.model())
    assert found > 20
    creation.reject()
    idle(qtbot, window)
