"""Values on another scale than their column says are asked about, and logarithms point the right way."""

import pytest

from assaypilot.engine.tables.headers import is_log_concentration
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import parse_text


def imported(header, *rows):
    labels = [("Me", "F"), ("H", "F"), ("Me", "Cl"), ("H", "Cl"), ("Et", "F"), ("Et", "Cl")]
    lines = [f"c{n},{a},{b},{row}" for n, ((a, b), row) in enumerate(zip(labels, rows, strict=False))]
    raw = parse_text(f"ID,R1,R2,{header}\n" + "\n".join(lines) + "\n")
    return import_table(raw, propose(raw))


def told(table):
    return "\n".join([*table.warnings, *table.notes])


@pytest.mark.parametrize("header", ["logIC50", "Log EC50 (M)", "log10(IC50)", "EGFR log Ki"])
def test_the_logarithm_of_a_concentration_is_better_when_low(header):
    table = imported(header, "-6", "-7", "-8.5", "-6.2")
    assert [one.direction for one in table.endpoints] == ["min"]
    assert "is taken as the logarithm of a concentration: lower is better" in told(table)


@pytest.mark.parametrize("header", ["pIC50", "-logIC50", "-log10(IC50)", "minus log IC50", "logP", "neg log Ki"])
def test_a_negative_logarithm_is_none_of_these(header):
    assert not is_log_concentration(header)


def test_values_that_look_like_logarithms_are_asked_about_in_a_table_too():
    values = ("6.1", "7", "8.2", "6.6")
    assert "lie between 6.1 and 8.2: are they pIC50 and not nM?" in told(imported("IC50 (nM)", *values))
    assert "are they logarithms, pIC50?" in told(imported("IC50", *values))
    assert "are they" not in told(imported("IC50 (nM)", *values, "120"))
    assert "are they" not in told(imported("pIC50", *values))


def test_fractions_in_a_column_of_per_cent_are_asked_about():
    assert "are they fractions and not per cent?" in told(imported("Inhibition (%)", "0.1", "0.55", "0.9", "0.2"))
    assert "fractions" not in told(imported("Inhibition (%)", "0", "1", "0", "1"))
    assert "fractions" not in told(imported("Inhibition (%)", "0.1", "55", "90", "20"))


def test_one_quantity_twice_is_read_once():
    two_units = imported("IC50 (nM),IC50 (uM)", "10,0.010", "250,0.25", "1000,1", ">3000,>3")
    assert [one.name for one in two_units.endpoints] == ["IC50 (nM)"]
    assert "Column IC50 (uM) holds IC50 (nM) in another unit" in told(two_units)
    fitted = imported("LogIC50,IC50", "-6,1e-6", "-7.3,5.0e-8", "-8,1e-8")
    assert [one.name for one in fitted.endpoints] == ["IC50"]
    other = imported("IC50 (nM),IC50 (uM)", "10,0.7", "250,0.25", "1000,1")
    assert [one.name for one in other.endpoints] == ["IC50 (nM)", "IC50 (uM)"]


def test_errors_and_uncertainties_are_no_endpoints():
    table = imported("IC50 (nM),IC50 (nM) error,pKi,pKi uncertainty", "10,1,8,0.2", "250,30,6,0.2", "1000,90,6.4,0.2")
    assert [one.name for one in table.endpoints] == ["IC50 (nM)", "pKi"]
    assert "a standard error is no SD: IC50 (nM) error, pKi uncertainty" in told(table)


def test_n_of_m_is_n():
    table = imported("IC50 (nM),IC50 (nM) N of M", "10,2 of 3", "250,3 of 3", "1000,1/2")
    assert [r.n for r in table.history] == [2, 3, 1]
