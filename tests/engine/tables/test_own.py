"""A shortlist that the program wrote, read as a table of compounds again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from assaypilot.engine.tables import headers
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import read_table
from assaypilot.engine.tables.options import TableOptions, parse_endpoint_spec

HEADER = (
    "ID", "SMILES", "Core", "para", "Status", "Decided in round", "act estimate", "act low", "act high",
    "P(within 0.5)", "P(hERG < 5)", "Evidence", "Availability", "Goal", "Assay noise (SD)", "Events", "Campaign head",
)  # fmt: skip


def lines(header: Sequence[str] = HEADER) -> list[dict[str, str]]:
    return [
        dict.fromkeys(header, "1.5")
        | {"ID": f"C{k}", "SMILES": "C" * (k + 1), "para": "FH"[k % 2], "Core": "ab"[k // 2]}
        for k in range(4)
    ]  # fmt: skip


def test_sites_are_what_stands_between_id_and_status() -> None:
    assert headers.export_sites(HEADER) == ("Core", "para")
    assert headers.export_sites(["Name", "SMILES", "ID", "Picture", "R1", *HEADER[4:]]) == ("R1",)
    assert headers.export_sites(["Status", "ID", "R1", "Evidence", "Availability"]) == (), "moved: conventions hold"
    assert headers.export_sites([name for name in HEADER if name != "Evidence"]) == ()


def test_what_a_campaign_said_is_no_value() -> None:
    said = headers.export_columns(HEADER)
    assert set(HEADER) - set(said) == {"ID", "SMILES", "Core", "para", "act estimate"}
    # A lab's own columns are nobody's bounds.
    assert "dose low" not in headers.export_columns([*HEADER, "dose low"])
    assert headers.export_columns(["ID", "R1", "Status", "P(within 0.5)", "Events"]) == ()


def test_an_exported_csv_needs_no_options(table: Callable[..., Path]) -> None:
    raw = read_table(table([HEADER, *(tuple(line[name] for name in HEADER) for line in lines())]))
    mapping = propose(raw)
    assert (mapping.id, mapping.smiles, mapping.sites) == ("ID", "SMILES", ("Core", "para"))
    assert [column.endpoint.name for column in mapping.endpoints] == ["act estimate"]
    assert any("its estimates are no measurements" in note for note in mapping.notes)


def test_what_is_named_is_read_all_the_same(table: Callable[..., Path]) -> None:
    raw = read_table(table([HEADER, *(tuple(line[name] for name in HEADER) for line in lines())]))
    options = TableOptions(sites=("para",), endpoints=(parse_endpoint_spec("act low;sd=0.2"),))
    mapping = propose(raw, options)
    assert (mapping.sites, [column.value for column in mapping.endpoints]) == (("para",), ["act low"])


@pytest.fixture
def table(tmp_path: Path) -> Callable[..., Path]:
    def write(rows: Sequence[Sequence[Any]]) -> Path:
        path = tmp_path / "x.csv"
        path.write_text("\n".join(",".join(map(str, row)) for row in rows), encoding="utf-8")
        return path

    return write
