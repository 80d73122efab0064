"""Stock in the window: what is ordered and arrives, lists in and out, columns that say so."""

import pytest

from assaypilot.engine.domain.stock import IN_STOCK, TO_MAKE, StockLine, StockTerms
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import read_table
from assaypilot.gui.library.library_commands import read_list
from assaypilot.gui.new_campaign.columns_form import ColumnsForm
from tests.gui.helpers import idle, made, small_table, until, wait_for


def stocked(tmp_path, *, leads=True):
    """A campaign of 18 compounds, ten of them in stock; CN and most of CF3 have to be made."""
    raw = read_table(small_table(tmp_path / "small.csv"))
    library = import_table(raw, propose(raw)).library
    path = tmp_path / "stock.assaypilot"
    here = [c for c in range(18) if library.substituents(c)["R3"] == "F"]

    to_make = [StockLine(c, TO_MAKE, 100.0 * c, float(7 + c) if leads else None) for c in range(18)]
    lines = [StockLine(c, IN_STOCK) if c in here else to_make[c] for c in range(18)]
    stock = lines, StockTerms(currency="EUR")
    made(path, library, stock=stock, slack=0.5, per_round=24, max_replicates=4).close()
    return path


@pytest.fixture
def window(open_window, tmp_path, qtbot):
    return open_window(stocked(tmp_path))


def plan(window, qtbot):
    window.plan()
    wait_for(qtbot, window, lambda: window.session.view.status.open_round is not None)


def test_from_the_plan_to_what_has_arrived(window, qtbot):
    plan(window, qtbot)
    page, status = window.round, window.session.view.status
    assert page.stack.currentWidget() is page.list
    assert page.orders.isVisible()
    assert "To order: 1 compound" in page.orders.heading.text()
    waited = status.stock.orders[0]
    assert page.orders.model.columns[0].text(0) == status.library.ids[waited.compound]
    window.session.withdraw_round()
    idle(qtbot, window)
    page.orders.table.choose(0)
    page.orders.here.click()
    idle(qtbot, window)
    status = window.session.view.status
    assert status.stock.word(waited.compound) == "in stock"
    assert not page.orders.isVisible()
    assert window.session.view.undo == "Arrivals"
    window.session.undo()
    idle(qtbot, window)
    assert page.orders.isVisible()


def test_stock_list_is_read_and_orders_are_written(window, qtbot, tmp_path):
    table = tmp_path / "list.csv"
    table.write_text("ID,Stock,Cost\nC-2,in stock,\nnobody,yes,\nC-4,to be made,-1\n", encoding="utf-8")
    messages = []
    window.session.message.connect(messages.append)
    window.stocking.read(table)
    until(qtbot, lambda: bool(messages))
    assert "Stock of 2 compounds read from list.csv. 2 lines could not be used: row 3, ID: 'nobody'" in messages[0]
    assert window.session.view.status.stock.word(1) == "in stock"
    plan(window, qtbot)
    if window.session.view.status.stock.orders:
        window.stocking.to(tmp_path / "orders.csv")
        until(qtbot, lambda: (tmp_path / "orders.csv").exists())
    bad = tmp_path / "bad.csv"
    bad.write_text("ID,Stock\nX,yes\n", encoding="utf-8")
    with pytest.raises(AssayPilotError, match="'X' is no compound"):
        read_list(bad, window.session.view.status.library, 7.0, lambda share, text: None)


def test_columns_of_stock_are_mapped(tmp_path, qtbot):
    table = tmp_path / "t.csv"
    table.write_text(
        "ID,R1,R2,Stock,Price,Weeks\nA,H,H,yes,,\nB,Me,H,no,5,3 weeks\nC,H,F,no,6,2 weeks\n", encoding="utf-8"
    )
    raw = read_table(table)
    form = ColumnsForm()
    qtbot.addWidget(form)
    form.show_columns(raw)
    form.fill(propose(raw), structures=False, remembered=False)
    assert (form.stock.currentText(), form.cost.currentText(), form.lead.currentText()) == ("Stock", "Price", "(none)")
    form.lead.setCurrentIndex(form.lead.findData("Weeks"))
    form.cost.setCurrentIndex(0)
    mapping = propose(raw, form.options())
    assert (mapping.stock, mapping.cost, mapping.lead) == ("Stock", None, "Weeks")
    assert [line.lead for line in import_table(raw, mapping).stock] == [None, 21.0, 14.0]


def test_round_shows_cost_and_lead_time_of_its_compounds(window, qtbot):
    plan(window, qtbot)
    page = window.round
    assert not {"cost", "lead"} & {column.key for column in page.model.columns}, "all of this round was in stock"
    window.session.withdraw_round()
    idle(qtbot, window)
    page.orders.table.choose(0)
    page.orders.here.click()
    idle(qtbot, window)
    plan(window, qtbot)
    status = window.session.view.status
    columns = {column.key: column for column in page.model.columns}
    assert columns["cost"].title == "Cost\nEUR"
    expected = {
        status.library.ids[item.compound]: (columns["cost"].text(line), columns["lead"].text(line))
        for line, item in enumerate(status.open_round.items)
    }
    made = [name for name, texts in expected.items() if texts != ("", "")]
    assert made
    place = status.library.find(made[0])
    assert expected[made[0]] == (f"{100 * place:,}", str(7 + place))
