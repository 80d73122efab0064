"""What travels between processes arrives as it was sent; what the engine says is said in the window's words."""

import itertools
from dataclasses import replace

import pytest

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.opening import parse_text
from assaypilot.engine.tables.options import TableOptions
from assaypilot.gui.new_campaign.table_work import _check, blank_cells, check_table, known_cores
from assaypilot.gui.widgets.text import error_words
from tests.engine.tables.corpus import TEXT


def test_check_in_another_process_finds_the_same():
    lines = ["ID\tSMILES\tR1\tpIC50"]
    for number, (n, x) in enumerate(itertools.product(range(1, 41), ("F", "Cl", "Br", "I"))):
        lines.append(f"c{number}\t{'C' * n}{x}\t{x}\t{5 + n / 50:.2f}")
    raw = parse_text("\n".join(lines) + "\n")
    options = TableOptions(smiles="SMILES")
    here, there = _check(raw, options, lambda fraction, message: None), check_table(raw, options)
    assert there is not here
    assert there.imported.library == here.imported.library
    assert there.imported.history == here.imported.history
    assert there.facts == here.facts
    assert (there.warnings, there.sites, there.rank) == (here.warnings, here.sites, here.rank)
    with pytest.raises(AssayPilotError, match="there is no column 'nowhere'"):
        check_table(raw, replace(options, id="nowhere"))


def test_empty_cells_are_counted():
    raw = parse_text("ID\tR1\tR2\na\t\t-\nb\tMe\tn.d.\nc\t\tF\n")
    assert blank_cells(raw, ["R1", "R2", "ID", "gone"]) == {"R1": 2, "R2": 1}


def test_cores_are_drawn_with_the_names_of_their_sites():
    (found,) = known_cores(["c1ccc([*:2])cc1[*:7]"])
    assert "R2" in found.drawn
    assert "R7" in found.drawn
    assert "*:" not in found.drawn


def _all_words():
    """Everything the corpus makes the engine say, as the window would say it."""
    words = []
    for case in TEXT[:60]:
        text = case.data if isinstance(case.data, str) else None
        if text is None:
            continue
        for options in (TableOptions(), TableOptions(blank="h"), TableOptions(sites=("R1",))):
            try:
                checked = _check(parse_text(text), options, lambda fraction, message: None)
            except AssayPilotError as error:
                words.append(" ".join(error_words(error)))
                continue
            words += [*checked.warnings, *checked.imported.notes]
            words += [problem.reason for problem in checked.imported.not_used]
    return words


def test_no_option_of_the_command_line_is_named():
    words = _all_words()
    assert len(words) > 100
    assert [text for text in words if "--" in text] == []
