"""What the terminal says of a table that was checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..campaign.phrases import many
from .console import count, table

__all__ = ["check_lines"]

_ROWS = 10
"""Unused rows shown."""
_LABELS = 12
"""Substituents of one site shown."""


def check_lines(path: str, report: dict[str, Any]) -> list[str]:
    """Return the report of a check as lines."""
    made = "numbered in the order of the table" if report["cores"] else "made from the substituents"
    lines = [
        f"{Path(path).name}: {report['rows_used']:,} of {many(report['rows_read'], 'row')} used ({report['read_as']})",
        f"Ids: {report['id_column'] or made}; structures: {report['smiles_column'] or 'none'}",
        f"{many(report['compounds'], 'compound')} in the table, {report['library_size']:,} in the library; "
        f"rank {report['rank']} of {report['max_rank']}",
        "",
    ]
    for site in report["sites"]:
        labels = [f"{entry['label']} ({entry['count']})" for entry in site["substituents"]]
        more = f", and {len(labels) - _LABELS} more" if len(labels) > _LABELS else ""
        lines.append(f"Site {site['name']}: {many(len(labels), 'substituent')}: {', '.join(labels[:_LABELS])}{more}")
    if report["endpoints"]:
        lines += ["", *_endpoint_table(report)]
        lines += ["", *(model["sentence"] for model in report["model_report"].values())]
    else:
        lines += ["", "No column of measured values"]
    if report["not_used"]:
        lines += ["", "Not used:"]
        lines += table(
            ["Row", "Column", "Reason"],
            [(entry["row"], entry["column"], entry["reason"]) for entry in report["not_used"][:_ROWS]],
            indent="  ",
        )
        lines += [f"  {line}" for line in count(len(report["not_used"]), _ROWS, "(--json lists them all)")]
        errors = [entry for entry in report["not_used"] if entry["severity"] == "error"]
        if errors:
            rows = ", ".join(str(entry["row"]) for entry in errors[:_ROWS]) + (", ..." if len(errors) > _ROWS else "")
            lines.append(f"Left out, since only you know what was meant: row {rows}; correct the table to use them")
    return lines + [f"Note: {text}" for text in [*report["warnings"], *report.get("notes", [])]]


def _endpoint_table(report: dict[str, Any]) -> list[str]:
    rows = []
    for endpoint in report["endpoints"]:
        fit = report["additive_fit"].get(endpoint["name"]) or {}
        rows.append(
            (
                endpoint["name"],
                endpoint["unit"],
                # Of a concentration the logarithm is meant, and "higher" beside "nM" would say the contrary.
                f"{'higher' if endpoint['direction'] == 'max' else 'lower'}"
                f"{'' if endpoint['scale'] == endpoint['name'] else ' ' + endpoint['scale']}",
                endpoint["measured"],
                endpoint["censored"],
                _short(endpoint["noise_sd"]),
                _short(fit.get("r2")),
                _short(fit.get("q2")),
                _short(fit.get("residual_sd")),
            )
        )
    header = ["Endpoint", "Unit", "Better", "Measured", "Bounds", "Noise (SD)", "R2", "Q2", "Residual SD"]
    return table(header, rows)


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"
