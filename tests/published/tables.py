"""Tables as programs export them, each read without any option: ``python -m tests.published.tables``.

Writes REPORT-tables.md. The tables and what is right of each stand in tests/engine/tables/exports; public tables are
read where they are at hand, and what was understood of them is shown.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.check import check_report
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import read_table
from tests.engine.tables.exports import EXPORTS, Export
from tests.public import DATA

REPORT = Path(__file__).with_name("REPORT-tables.md")
PUBLIC = ("CHEMBL2321810_rgd_table.csv", "CHEMBL3638592_rgd_table.csv", "antiadrenergic_22_fw_table.csv",
          "freewilson1964_tetracycline_10.csv", "tropane_isoxazole_5x2.csv", "baybe_aryl_halide.csv",
          "pct_CHEMBL313_sel.smi", "pct_cSrc_dataset.csv", "rdkit_cmet_ligands.sdf", "PDE10_Roche.txt",
          "real/amidation_960.csv", "real/arylation_1536.csv", "real/deoxyfluorination_740.csv",
          "real/redoxmers_1408.csv", "real/ugi_lipids_1200.csv")  # fmt: skip


def read(path: Path) -> dict[str, Any]:
    """Return what ``check`` reports of a file without any option."""
    raw = read_table(path)
    mapping = propose(raw)
    return check_report(raw, mapping, import_table(raw, mapping))


def endpoints(report: dict[str, Any]) -> dict[str, tuple[str, str, str, int, int]]:
    """Return direction, scale, unit, exact values and bounds by endpoint."""
    keys = ("direction", "transform", "unit", "measured", "censored")
    return {one["name"]: tuple(one[key] for key in keys) for one in report["endpoints"]}  # type: ignore[misc]


def faults(export: Export, report: dict[str, Any]) -> list[str]:
    """Return what was understood wrongly."""
    sites = [site["name"] for site in report["sites"] if site["name"] != "Core"]
    right = len(sites) == export.sites if isinstance(export.sites, int) else tuple(sites) == export.sites
    found = endpoints(report)
    wrong = [] if right else ["sites"]
    wrong += [
        name for name, key, told in (("id", "id_column", export.id), ("structures", "smiles_column", export.smiles),
                                     ("compounds", "compounds", export.compounds)) if report[key] != told
    ]  # fmt: skip
    return wrong + [name for name in {*found, *export.endpoints} if found.get(name) != export.endpoints.get(name)]


def shown(report: dict[str, Any]) -> str:
    """Return the endpoints in a cell of the report."""
    better = {"max": "higher", "min": "lower"}
    parts = []
    for name, (direction, transform, unit, exact, bounds) in endpoints(report).items():
        scale = "log" if transform == "log" else "as is"
        parts.append(f"{name}{f' [{unit}]' if unit else ''}: {better[direction]}, {scale}, {exact} + {bounds}")
    return "; ".join(parts).replace("|", "/")


def main() -> int:
    """Write the report; 1 when a table is misread."""
    lines = [
        "# Tables read at the first try",
        "",
        "Made by `python -m tests.published.tables`, without any option. Endpoints: which way is better on the scale "
        "of the model, the scale, exact values + bounds.",
        "",
        "| table | outcome | compounds | sites | endpoints | s |",
        "|---|---|---|---|---|---|",
    ]
    misread = 0
    for export in EXPORTS:
        start = time.perf_counter()
        report = read(export.path)
        wrong = faults(export, report)
        misread += bool(wrong)
        outcome = f"wrong: {', '.join(wrong)}" if wrong else "taken and named" if export.said else "read right"
        lines.append(
            f"| {export.name} | {outcome} | {report['compounds']} | {len(report['sites'])} | {shown(report)} | "
            f"{time.perf_counter() - start:.1f} |"
        )
    summary = f"{len(EXPORTS) - misread} of {len(EXPORTS)} exports are read right."
    lines += ["", summary, "", "## Public tables, as understood", "", *lines[4:6]]
    for name in PUBLIC:
        if not (DATA / name).exists():
            continue
        start = time.perf_counter()
        try:
            report = read(DATA / name)
        except AssayPilotError as error:
            lines.append(f"| {name} | refused: {error} | | | | {time.perf_counter() - start:.1f} |")
            continue
        lines.append(
            f"| {name} | read | {report['compounds']} | {len(report['sites'])} | {shown(report)} | "
            f"{time.perf_counter() - start:.1f} |"
        )
    REPORT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(summary)
    return int(misread > 0)


if __name__ == "__main__":
    sys.exit(main())
