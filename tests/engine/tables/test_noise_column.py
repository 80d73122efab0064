"""Classes of noise that a column of the table names."""

import pytest

from assaypilot.engine.endpoint import Endpoint
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.noise_classes import parse_noise_classes
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.noise_column import with_classes_of
from assaypilot.engine.tables.opening import parse_text

TABLE = "\n".join([
    "ID,R1,R2,Solubility,pIC50", "a,Me,H,poor,5", "b,H,H,good,6", "c,Me,F,,5.2", "d,H,F,poor,", "a,Me,H,poor,5.1", ""
])  # fmt: skip


def told(text: str, table: str = TABLE) -> Endpoint:
    raw = parse_text(table)
    one = Endpoint("pIC50", noise_sd=0.2, noise_classes=parse_noise_classes(text))
    return with_classes_of(one, raw, import_table(raw, propose(raw)))


def test_a_column_gives_compounds_their_class():
    raw = parse_text(TABLE)
    own = told("solubility: poor=0.5").noise_classes
    assert own is not None
    assert own.compounds == (("a", "poor"), ("d", "poor"))
    library = import_table(raw, propose(raw)).library
    assert own.with_other(0.2).of(library).tolist() == [0.5, 0.2, 0.2, 0.5]
    assert own.with_other(0.2).in_words == "0.2; 0.5 where Solubility is poor"
    assert type(own).from_json(own.as_json()) == own


def test_a_site_stays_a_site():
    own = told("R1: Me=0.5").noise_classes
    assert own is not None
    assert own.compounds == ()


@pytest.mark.parametrize(
    ("text", "table", "why"),
    [
        ("Colour: red=0.5", TABLE, "no site or column 'Colour'"),
        ("Solubility: awful=0.5", TABLE, "no compound is awful in Solubility"),
        ("Solubility: poor=0.5", TABLE.replace("poor,5.1", "good,5.1"), "a is poor and good"),
    ],
)
def test_what_does_not_fit_is_refused(text, table, why):
    with pytest.raises(AssayPilotError, match=why):
        told(text, table)
