"""What the tests of the import share: a new campaign on a table, its steps, and tables made for them."""

import itertools

from tests.gui.helpers import creation_of, until

HOSTILE = ("CPD_$1_$2%", "R1 $width x <$energy", "<img src=//host/x>", "<b>bold</b>", "&amp; & co")
"""Ids and headers that a careless program takes for markup, mathematics or formats."""


def creation_on(qtbot, window, table):
    """A new campaign with a table read."""
    window.new_campaign()
    creation = creation_of(window)
    creation.start_with(table)
    until(qtbot, lambda: creation.table_pane.complete)
    return creation


def columns_of(qtbot, window, table):
    """A new campaign that shows what the columns are, over a table that can be used."""
    creation = creation_on(qtbot, window, table)
    creation.views.choose("columns")
    until(qtbot, lambda: creation.columns_pane.complete)
    return creation


def check_of(qtbot, window, table):
    """A new campaign that shows the report on the additive model."""
    creation = columns_of(qtbot, window, table)
    creation.views.choose("model")
    return creation


def checked(qtbot, creation):
    """Wait for the check after a change."""
    qtbot.wait(220)
    until(qtbot, lambda: creation.columns_pane.complete)


def amides(path):
    """Structures without columns of substituents: 24 benzamides, one that shares nothing, with activities."""
    lines = ["ID,SMILES,pIC50"]
    amines, tails = ("C", "CC", "C(C)C", "C1CC1", "CCC", "CCO"), ("F", "Cl", "C#N", "OC")
    for number, (n, x) in enumerate(itertools.product(amines, tails)):
        value = 5.0 + 0.3 * amines.index(n) + 0.2 * tails.index(x)
        lines.append(f"BA-{number},O=C(N{n})c1ccc({x})cc1,{value:.2f}")
    lines.append("X-1,CCCCCC,5.0")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def sparse(path):
    """A series of two sites in which two substituents of R1 occur once."""
    lines = ["ID,R1,R2,pIC50"]
    value = {"Me": 0.0, "Et": 0.4, "Pr": 0.7, "tBu": 0.1, "Ph": 1.0}
    for number, (a, b) in enumerate(itertools.product(("Me", "Et", "Pr"), ("F", "Cl", "Br"))):
        lines.append(f"S-{number},{a},{b},{5 + value[a] + 0.3 * ['F', 'Cl', 'Br'].index(b):.2f}")
    lines += ["S-90,tBu,F,5.10", "S-91,Ph,Cl,6.30"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
