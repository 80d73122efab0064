"""The roles of columns in a new campaign, chosen in the headings: taken away, given to others and given back."""

import itertools

import pytest

from tests.gui.helpers import until
from tests.gui.imports import creation_on
from tests.gui.test_import_columns import leave
from tests.gui.test_new_campaign import choose_role, roles


@pytest.fixture
def table(tmp_path):
    """A table of 12 amides with a column of every role that can be chosen, and two measured values."""
    lines = ["Name,SMILES,R1,R2,R3,IC50 (nM),hERG IC50 (nM),Stock"]
    parts = (("Me", "C"), ("Et", "CC"), ("Pr", "CCC")), (("F", "F"), ("Cl", "Cl")), (("H", ""), ("OMe", "(OC)"))
    for n, ((a, amine), (b, tail), (c, other)) in enumerate(itertools.product(*parts)):
        smiles = f"O=C(N{amine})c1cc({tail})cc{other}c1"
        lines.append(f"X-{n},{smiles},{a},{b},{c},{10 + 7 * n},{1000 + 90 * n},{'yes' if n % 2 else 'no'}")
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def seen(creation):
    """What is shown of the choice of columns, and what comes of it."""
    form, goal = creation.columns_pane.form, creation.goal_pane
    return {
        "headings": roles(creation),
        "id": form.id.currentData(),
        "structure": form.smiles.currentData(),
        "sites": form.chosen_sites,
        "measured": [form.endpoint.itemText(place) for place in range(form.endpoint.count())],
        "objective": (form.endpoint.currentText(), form.unit.text(), form.direction.currentText()),
        "boxes": [box.name for box in goal.endpoints.boxes],
        "goal": goal.sentence.text(),
        "ready": creation.at_once.isEnabled(),
    }


def chosen(qtbot, creation, column, role):
    """Choose a role and wait until the form, the headings and the goal have followed."""
    was = choose_role(creation, column, role)
    pane, goal = creation.columns_pane, creation.goal_pane
    qtbot.wait(220)
    until(qtbot, lambda: not pane._job.busy and not creation._handing.isActive())
    until(qtbot, lambda: creation.complete or pane.result is None)
    until(qtbot, lambda: not (goal._job.busy or goal.endpoints.building))
    return was


@pytest.mark.slow
def test_role_taken_away_and_given_back_leaves_all_as_before(qtbot, window, table):
    creation = creation_on(qtbot, window, table)
    until(qtbot, lambda: creation.complete)
    before = seen(creation)
    for column in ("Name", "SMILES", "R3", "IC50 (nM)", "Stock"):
        was = chosen(qtbot, creation, column, "Not used")
        now = seen(creation)
        assert now["headings"] == before["headings"] | {column: "not used"}
        assert column not in (now["id"], now["structure"], *now["sites"], *now["measured"])
        assert now["ready"]
        assert chosen(qtbot, creation, column, was) == "Not used"
        assert seen(creation) == before
    # To another role and back; R1 names no compound, so that meanwhile the table cannot be used.
    for column, role, ready in (("hERG IC50 (nM)", "Cost", True), ("R1", "ID", False)):
        was = chosen(qtbot, creation, column, role)
        now = seen(creation)
        assert now["headings"][column] == {"Cost": "cost"}.get(role, role)
        assert now["ready"] is ready
        chosen(qtbot, creation, column, was)
        assert seen(creation) == before
    creation.reject()
    assert "is lost" in creation.messages.text
    creation.reject()  # no: keep working
    leave(creation)


def test_nothing_comes_back_by_itself_that_was_taken_away(qtbot, window, table, tmp_path):
    creation = creation_on(qtbot, window, table)
    until(qtbot, lambda: creation.complete)
    panel = creation.columns_pane.panel
    for column in ("Name", "SMILES", "IC50 (nM)", "hERG IC50 (nM)"):
        chosen(qtbot, creation, column, "Not used")
    assert panel.heading.text() == "Nothing is measured"
    assert not creation.at_once.isEnabled()
    assert creation.goal_pane.sentence.text() == ""
    for column in ("R1", "R2", "R3"):
        chosen(qtbot, creation, column, "Not used")
    assert panel.heading.text() == "No column holds substituents"
    assert {role for column, role in roles(creation).items() if column != "Stock"} == {"not used"}
    for column, role in (("R1", "Substituent"), ("R2", "Substituent"), ("hERG IC50 (nM)", "Measured value")):
        chosen(qtbot, creation, column, role)
    creation.goal_pane.file.edit.setText(str(tmp_path / "made.assaypilot"))
    until(qtbot, lambda: creation.complete)
    creation.create_button.click()
    until(qtbot, lambda: window.session.view is not None)
    status = window.session.view.status
    assert [site.name for site in status.library.sites] == ["R1", "R2"]
    assert [endpoint.name for endpoint in status.endpoints] == ["hERG IC50 (nM)"]
    assert status.library.smiles is None
    assert status.library.ids[0] != "X-0"  # made from the substituents
    # The next table with these headers: as it was left.
    creation = creation_on(qtbot, window, table)
    until(qtbot, lambda: creation.columns_pane.complete)
    assert roles(creation)["Name"] == roles(creation)["SMILES"] == "not used"
    leave(creation)
