"""What leaves the program and comes back through our own reader: the same compounds, sites and values."""

import dataclasses
from collections.abc import Callable, Mapping
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.settings import Settings
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library, Site
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.export.contents import Choice, contents
from assaypilot.engine.export.formats import write
from assaypilot.engine.export.sheet import Cell
from assaypilot.engine.tables.importer import ImportedTable, import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import read_table
from assaypilot.engine.tables.options import TableOptions, parse_endpoint_spec
from assaypilot.engine.tables.raw import RawTable
from assaypilot.engine.tables.results import read_results
from tests.engine.export.making import IC50, begin, nasty_library

ENDINGS = ("csv", "xlsx", "sdf")
WHOLE = Choice("all", tuple(range(9)))


def back(path: Path, status: Status, choice: Choice = WHOLE) -> RawTable:
    """What our reader finds in the file a campaign was exported to."""
    write(path, contents(status, choice))
    return read_table(path)


def imported(raw: RawTable, *endpoints: str) -> ImportedTable:
    return import_table(raw, propose(raw, TableOptions(endpoints=tuple(map(parse_endpoint_spec, endpoints)))))


def agree(cell: Cell, text: str) -> bool:
    """Whether a cell's text says what was in it."""
    if cell is None:
        return text == ""
    if isinstance(cell, (int, float)) and not isinstance(cell, bool):
        return float(text) == cell
    return text == str(cell)


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_same_values(tmp_path: Path, nasty: Status, ending: str) -> None:
    raw = back(tmp_path / f"x.{ending}", nasty)
    now = contents(nasty, WHOLE)
    sheet = now.shortlist if ending == "xlsx" else now.shortlist_with_provenance
    for name in sheet.header:
        header = name.replace("<", "‹").replace(">", "›") if ending == "sdf" else name
        if all(cell is None for cell in sheet.column(name)):
            continue
        for cell, text in zip(sheet.column(name), raw.column(header), strict=True):
            if name != "Exported":  # the minute may be over
                assert agree(cell, text), (name, cell, text)


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_same_compounds_and_sites(tmp_path: Path, nasty: Status, ending: str) -> None:
    found = imported(back(tmp_path / f"x.{ending}", nasty), "pIC50 estimate;sd=0.2").library
    library = nasty.library
    assert (found.ids, found.smiles, found.sites) == (library.ids, library.smiles, library.sites)
    assert found.codes.tolist() == library.codes.tolist()


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_shortlist_is_understood_without_a_word(tmp_path: Path, ending: str) -> None:
    """Whatever its sites are called, and although a workbook has a sheet of measurements too."""
    sites = (Site("para", ("H", "F")), Site("Core", ("a", "b")))
    codes = np.array([(0, 0), (0, 1), (1, 0)], dtype=np.int32)
    plain = Library(sites, codes, ("x", "y", "z"), ("C", "CC", "CCC") if ending != "csv" else None)
    pic50 = Endpoint("pIC50", noise_sd=0.2)
    history = [Result(name, 6.0 + k) for k, name in enumerate(plain.ids)]
    with begin(
        tmp_path / "x.assaypilot", library=plain, endpoints=(pic50,), objective="pIC50", history=history
    ) as campaign:
        raw = back(tmp_path / f"x.{ending}", campaign.status(), Choice("all", (0, 1, 2)))
    mapping = propose(raw)
    assert (mapping.id, mapping.sites) == ("ID", ("para", "Core"))
    assert [column.value for column in mapping.endpoints] == ["pIC50 measured"]


def test_measurements_of_a_workbook_can_be_recorded_again(tmp_path: Path, nasty: Status) -> None:
    path = tmp_path / "x.xlsx"
    write(path, contents(nasty))
    raw = read_table(path, sheet="Measurements")
    found = read_results(raw, nasty.library, nasty.endpoints)
    assert found.rejected == ()
    entered = [m.entered for m in nasty.measurements]
    assert len(found.results) == len(entered)
    same = attrgetter(
        "compound", "value", "endpoint", "plate", "well", "comment", "date", "n", "sd", "relation", "excluded"
    )
    assert list(map(same, found.results)) == list(map(same, entered))


# A text as a table can hold it: what reading would trim or take for nothing is no id.
IDS = (
    st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn", "Zl", "Zp", "Cf")), min_size=1, max_size=14)
    .map(lambda text: " ".join(text.split()))
    .filter(lambda text: any(letter.isalpha() and letter.isascii() for letter in text))
)


@pytest.fixture
def status_of(tmp_path: Path) -> Callable[[Mapping[str, float]], Status]:
    """The status of a campaign on compounds of these names, each measured once."""

    def make(values: Mapping[str, float]) -> Status:
        path = tmp_path / "x.assaypilot"
        path.unlink(missing_ok=True)
        library = dataclasses.replace(nasty_library(), ids=tuple(values))
        history = [Result(name, value, "IC50") for name, value in values.items()]
        with Campaign.create(
            path, library=library, endpoints=[IC50], settings=Settings("IC50", 0.5), history=history
        ) as campaign:
            return campaign.status()

    return make


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    names=st.lists(IDS, min_size=9, max_size=9, unique_by=str.casefold),
    values=st.lists(st.floats(1e-3, 1e7), min_size=9, max_size=9),
)
def test_any_names_and_values(
    tmp_path: Path, status_of: Callable[[Mapping[str, float]], Status], names: list[str], values: list[float]
) -> None:
    status = status_of(dict(zip(names, values, strict=True)))
    want = [round(float(value), 3) for value in status.candidates.estimate]
    for ending in ENDINGS:
        raw = back(tmp_path / f"x.{ending}", status)
        assert list(raw.column("ID")) == names, ending
        assert [float(text) for text in raw.column("pIC50 estimate")] == want, ending
    write(tmp_path / "x.xlsx", contents(status))
    raw = read_table(tmp_path / "x.xlsx", sheet="Measurements")
    assert [float(text) for text in raw.column("Value")] == values
    assert list(raw.column("ID")) == names
