"""Which columns are proposed as sites where none is called so, conditions of a reaction among them."""

import pytest

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import parse_text
from assaypilot.engine.tables.options import TableOptions


def proposed(text):
    with pytest.raises(AssayPilotError) as caught:
        propose(parse_text(text.replace("|", "\t")))
    return str(caught.value).split("--sites ")[-1].removesuffix(".")


def reactions(header, rows):
    return "\n".join([header, *rows])


def test_steps_of_temperature_and_concentration_are_sites_beside_names():
    rows = [
        f"{n}|{('KOH', 'DBU')[n % 2]}|{('THF', 'DMF')[n // 2 % 2]}|{(0.1, 0.2)[n // 4 % 2]}|{(60, 80, 100)[n % 3]}|"
        f"{'PENDING' if n > 5 else 40.5 + n}|{int(n < 6)}"
        for n in range(24)
    ]
    table = reactions("|base|solvent|concentration|temperature|yield|priority", rows)
    assert propose(parse_text(table.replace("|", "\t"))).sites == ("base", "solvent", "concentration", "temperature")


def test_a_table_of_numbers_alone_has_its_conditions_proposed_as_a_shell_takes_them():
    rows = [f"{(1, 2.5, 5)[n % 3]}|{(25, 50)[n // 3 % 2]}|{30 + 1.5 * n}|4.5" for n in range(18)]
    mapping = propose(parse_text(reactions("catalyst (mol%)|T / °C|Conversion [%]|Cost", rows).replace("|", "\t")))
    assert mapping.sites == ("catalyst (mol%)", "T / °C")
    assert "--sites 'catalyst (mol%),T / °C'" in mapping.warnings[0]


def test_results_that_repeat_are_not_proposed():
    rows = [f"{(1, 2, 4)[n % 3]}|{('a', 'b')[n % 2]}" for n in range(12)]
    assert proposed(reactions("MIC (nM)|Ar", rows)) == "Ar"


def test_what_is_left_is_named_once_and_what_is_used_is_not():
    text = "ID|R1|SMILES|pIC50|Salt|Project\na|Me|CC|5|HCl|P7\nb|H|C|6|HCl|P7\nc|Et|CCC|7|TFA|P7\nd|Pr|CCCC|8|TFA|P7"
    notes = propose(parse_text(text.replace("|", "\t"))).notes
    assert [note for note in notes if note.startswith("Not used")] == [
        "Not used: columns Salt, Project. If Salt is a site, too, name all of them with --sites."
    ]
    plain = propose(parse_text("ID\tR1\tpIC50\na\tMe\t5\nb\tH\t6")).notes
    assert not any(note.startswith("Not used") for note in plain)
    cores = propose(parse_text(text.replace("|", "\t")), TableOptions(cores=("c1ccncc1[*:1]",))).notes
    assert "Not used: columns Salt, Project." in cores


def test_a_cost_without_a_stock_is_said_to_make_everything_wait():
    text = "ID|R1|pIC50|Cost\na|Me|5|20\nb|H|6|30\nc|Et|7|25\nd|Pr|8|25".replace("|", "\t")
    (said,) = [one for one in propose(parse_text(text)).warnings if "in stock" in one]
    assert said == (
        "No column says what is in stock, so by column Cost every compound has to be made before it is measured. If "
        "they are at hand: --cost=."
    )
    assert not any("in stock" in one for one in propose(parse_text(text), TableOptions(cost="")).warnings)
    assert not any("in stock" in one for one in propose(parse_text(text), TableOptions(cost="Cost")).warnings)
    stocked = (
        text.replace("Cost", "Cost\tIn stock").replace("20", "20\tyes").replace("30", "30\tno").replace("25", "25\tno")
    )
    assert not any("No column says" in one for one in propose(parse_text(stocked)).warnings)
