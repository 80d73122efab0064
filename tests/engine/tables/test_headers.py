"""What headers say, and the mapping of a table that follows from them and from what a user says."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import parse_text, read_table
from assaypilot.engine.tables.options import TableMapping, TableOptions, parse_endpoint_spec


def mapped(text, *specs, **options):
    table = parse_text("\n".join("\t".join(line.split("|")) for line in text.strip().split("\n")))
    return propose(table, TableOptions(endpoints=tuple(parse_endpoint_spec(spec) for spec in specs), **options))


def test_a_mapping_survives_json():
    mapping = mapped(
        "ID|SMILES|R1|R2|IC50 (nM)|IC50 SD|Date|Comment|Excluded|available\n"
        "a|C|Me|H|5|1|d||no|yes\nb|CC|H|H|6|1|d|||no",
        "IC50 (nM);sd=0.2",
        "other;unit=%",
        blank="h",
        product=True,
    )
    again = TableMapping.from_json(json.loads(json.dumps(mapping.as_json(), allow_nan=False)))
    assert again == mapping
    assert set(again.columns()) == {
        "ID", "SMILES", "R1", "R2", "IC50 (nM)", "IC50 SD", "Date", "Comment", "Excluded", "available",
    }  # fmt: skip


def imported(header, *values):
    rows = [f"c{n},{'Me' if n % 2 else 'H'},{'F' if n < 3 else 'Cl'},{value}" for n, value in enumerate(values)]
    raw = parse_text(f"ID,R1,R2,{header}\n" + "\n".join(rows) + "\n")
    return import_table(raw, propose(raw))


def test_text_classes_are_reported_as_no_values():
    table = imported("Activity range", "*", "**", "***", "*", "*", "*")
    assert table.endpoints == ()
    assert [site.name for site in table.library.sites] == ["R1", "R2"]
    assert any("Column Activity range gives classes (" in text and "no numbers" in text for text in table.warnings)


HEADER = (
    "ID", "SMILES", "Core", "para", "Status", "Decided in round", "act estimate", "act measured", "act low", "act high",
    "P(within 0.5)", "P(hERG < 5)", "Evidence", "Availability", "Goal", "Assay noise (SD)", "Events", "Campaign head",
)  # fmt: skip


def lines(header: Sequence[str] = HEADER) -> list[dict[str, str]]:
    return [
        dict.fromkeys(header, "1.5")
        | {"ID": f"C{k}", "SMILES": "C" * (k + 1), "para": "FH"[k % 2], "Core": "ab"[k // 2]}
        for k in range(4)
    ]  # fmt: skip


def test_an_exported_csv_needs_no_options(table: Callable[..., Path]) -> None:
    raw = read_table(table([HEADER, *(tuple(line[name] for name in HEADER) for line in lines())]))
    mapping = propose(raw)
    assert (mapping.id, mapping.smiles, mapping.sites) == ("ID", "SMILES", ("Core", "para"))
    assert [column.endpoint.name for column in mapping.endpoints] == ["act measured"]
    assert any("its estimates are no measurements" in note for note in mapping.notes)


@pytest.fixture
def table(tmp_path: Path) -> Callable[..., Path]:
    def write(rows: Sequence[Sequence[Any]]) -> Path:
        path = tmp_path / "x.csv"
        path.write_text("\n".join(",".join(map(str, row)) for row in rows), encoding="utf-8")
        return path

    return write


def test_a_stated_unit_that_contradicts_the_header_is_named():
    text = "ID|R1|R2|IC50 (nM)|Batch Molecular Weight\na|Me|F|159|301.2\nb|H|F|20|287.1\nc|H|Cl|90|303.6"
    found = mapped(text, "IC50 (nM);unit=uM")
    assert "IC50 (nM): its header says nM, and its values are read in µM, as stated." in found.warnings
    assert not any("its header says" in text for text in mapped(text, "IC50 (nM);unit=nM").warnings)
    assert [endpoint.value for endpoint in mapped(text).endpoints] == ["IC50 (nM)"]


PS = ("5.2", "6.1", "7.4", "8.0", "6.6", "5.9", "7.1", "6.8")


@pytest.mark.parametrize(
    ("header", "values", "better"),
    [
        ("pEGFR IC50", PS[:3], "max"), ("BACE1 Ki (pKi)", PS[:3], "max"), ("phERG", PS[:3], "min"),
        ("hERG (pIC50)", PS[:3], "min"), ("IC50", PS, "max"),
    ],
)  # fmt: skip
def test_values_that_can_only_be_negative_logarithms_are_none_of_concentrations(header, values, better):
    (endpoint,) = imported(header, *values).endpoints
    assert (endpoint.transform, endpoint.direction) == ("none", better)


@pytest.mark.parametrize(
    ("header", "values"),
    [("pERK IC50", ("5.2", "61", "740")), ("pERK IC50 (nM)", PS), ("IC50", PS[:3]), ("IC50", (*PS, "0.4"))],
)
def test_values_that_may_be_concentrations_stay_concentrations(header, values):
    (endpoint,) = imported(header, *values).endpoints
    assert endpoint.transform == "log"


def test_sds_that_can_only_be_those_of_logarithms_are_read_so():
    values = ("141", "12", "3300", "560", "45", "890")
    lines = "".join(f"c{n}|{'MH'[n % 2]}|{'FCB'[n % 3]}|{value}|0.2|3|29\n" for n, value in enumerate(values))
    raw = parse_text(f"ID|R1|R2|IC50 (nM)|SD|N|CV (%)\n{lines}".replace("|", "\t"))
    table = import_table(raw, propose(raw))
    (endpoint,) = table.endpoints
    assert [endpoint.sd_to_model(r.value, r.sd) for r in table.history] == pytest.approx([0.2] * 6)
    assert any("taken as those of logarithms" in text for text in table.warnings)
    # 10 % of each value is an SD of the values.
    lines = "".join(
        f"c{n}|{'MH'[n % 2]}|{'FCB'[n % 3]}|{value}|{float(value) / 10}|3\n" for n, value in enumerate(values)
    )
    raw = parse_text(f"ID|R1|R2|IC50 (nM)|SD|N\n{lines}".replace("|", "\t"))
    assert [r.sd for r in import_table(raw, propose(raw)).history] == pytest.approx([float(v) / 10 for v in values])
