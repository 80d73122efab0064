"""Columns of calculated properties: empty until somebody wants to see them, then calculated in another process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from assaypilot.engine.campaign.state import Status
from assaypilot.engine.chemistry.properties import (
    Properties,
    ligand_efficiency,
    lipophilic_efficiency,
    properties_of,
)
from assaypilot.engine.endpoint import Endpoint
from assaypilot.engine.export.sheet import Column as Written
from assaypilot.engine.processes import in_another_process
from assaypilot.engine.progress import Report
from assaypilot.gui.models.base import Column, text_ranks

__all__ = ["PROPERTIES", "Calculated", "calculate", "exported", "property_columns"]

Floats = NDArray[np.float64]
_POTENCIES = ("pic50", "pec50", "pki", "pkd", "pka2")
"""Names of endpoints that are potencies on a log scale already."""
PROPERTIES = ("mw", "clogp", "tpsa", "hbd", "heavy", "le", "lle", "alert")
"""Keys of the columns."""


@dataclass(frozen=True, eq=False)
class Calculated:
    """The properties of every compound of a library, ``(n,)`` each, NaN without a structure."""

    mw: Floats
    clogp: Floats
    tpsa: Floats
    hbd: Floats
    heavy: Floats
    alerts: tuple[str, ...]


def calculate(smiles: Sequence[str], report: Report) -> Calculated:
    """The properties of structures, calculated in a process of its own."""
    found = in_another_process(properties_of, list(smiles), report=report)

    def numbers(of: Callable[[Properties], float]) -> Floats:
        return np.array([np.nan if one is None else of(one) for one in found], dtype=np.float64)

    return Calculated(
        numbers(lambda one: one.mw),
        numbers(lambda one: one.clogp),
        numbers(lambda one: one.tpsa),
        numbers(lambda one: one.hbd),
        numbers(lambda one: one.heavy_atoms),
        tuple("" if one is None else one.alert for one in found),
    )


def property_columns(status: Status, found: Calculated | None) -> list[Column]:
    """The columns, without values while nothing was calculated; none where no structure is known."""
    smiles = status.library.smiles
    if smiles is None or not any(smiles):
        return []
    nothing = np.full(len(status.library), np.nan)
    known = found or Calculated(nothing, nothing, nothing, nothing, nothing, ("",) * len(nothing))
    waiting = "" if found is not None else "…"

    def column(key: str, title: str, values: Floats, digits: int, tip: str) -> Column:
        return Column(
            key, title, lambda row: waiting if np.isnan(values[row]) else f"{values[row]:.{digits}f}", lambda: values,
            number=True, tip=tip, kind=lambda row: "muted" if waiting else None, width=58,
        )  # fmt: skip

    made = [
        column("mw", "MW", known.mw, 1, "Molecular weight, g/mol"),
        column("clogp", "cLogP", known.clogp, 2, "Calculated log P after Wildman and Crippen"),
        column("tpsa", "TPSA", known.tpsa, 1, "Topological polar surface area after Ertl, Å²"),
        column("hbd", "HBD", known.hbd, 0, "Hydrogen-bond donors: N–H and O–H groups"),
        column("heavy", "Heavy\natoms", known.heavy, 0, "Atoms other than hydrogen"),
    ]
    endpoint = status.endpoints[status.objective]
    if _is_potency(endpoint):
        estimate = status.candidates.estimates[endpoint.name]
        made += [
            column("le", "LE", _each(lambda p, atoms: ligand_efficiency(p, int(atoms)), estimate, known.heavy), 2,
                   f"Ligand efficiency of the estimate: 1.37 {endpoint.scale_name} per heavy atom, kcal/mol"),
            column("lle", "LLE", _each(lipophilic_efficiency, estimate, known.clogp), 2,
                   f"Lipophilic efficiency of the estimate: {endpoint.scale_name} minus cLogP"),
        ]  # fmt: skip
    made.append(
        Column(
            "alert", "Alert", lambda row: waiting or known.alerts[row], cache(lambda: text_ranks(known.alerts)),
            tip="The first structural alert it matches, of PAINS and Brenk's list", soft=True,
            kind=lambda row: "muted" if waiting else None,
        )
    )  # fmt: skip
    return made


def exported(status: Status, found: Calculated | None) -> dict[str, Written]:
    """The columns for an export by their keys; empty while nothing was calculated."""
    if found is None:
        return {}
    made = {}
    for column in property_columns(status, found):
        cells = [column.text(row) for row in range(len(status.library))]
        digits = max((len(text.partition(".")[2]) for text in cells), default=0) if column.number else None
        values = [float(text) if text else None for text in cells] if column.number else cells
        made[column.key] = Written(" ".join(column.title.split()), values, digits)
    return made


def _is_potency(endpoint: Endpoint) -> bool:
    return endpoint.transform == "log" or endpoint.name.casefold().startswith(_POTENCIES)


def _each(of: Callable[[float, float], float | None], estimate: Floats, beside: Floats) -> Floats:
    """A figure of two others, NaN where either is unknown."""
    both = np.isfinite(estimate) & np.isfinite(beside)
    made = np.full(len(estimate), np.nan)
    for row in np.flatnonzero(both).tolist():
        value = of(float(estimate[row]), float(beside[row]))
        made[row] = np.nan if value is None else value
    return made
