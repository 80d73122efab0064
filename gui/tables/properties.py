"""Properties of the compounds, calculated once, when a page needs them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, Signal

from assaypilot.engine.arrays import Floats
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.chemistry.properties import FIGURES, KCAL_PER_LOG, alerts_of, packed_figures
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.export.sheet import Column as Written
from assaypilot.engine.system.processes import in_another_process
from assaypilot.engine.system.progress import Report

from ..runtime.tasks import Latest
from .ordering import text_ranks
from .rows import Column

if TYPE_CHECKING:
    from assaypilot.engine.domain.library import Library

    from ..session.session import Session


_POTENCY = re.compile(r"(?<![a-z])p?(?:[iegax]c50|gi50|ed50|k[id]|a2)(?![a-z0-9])")
"""Names of potencies: pIC50, IC50, Ki, pKd."""
DIGITS = {"mw": 1, "clogp": 2, "tpsa": 1, "hbd": 0, "heavy": 0, "rotatable": 0, "le": 2, "lle": 2}
"""Decimals shown, by key."""
PROPERTIES = ("mw", "clogp", "tpsa", "hbd", "rotatable", "heavy", "le", "lle", "alert")
"""Keys of the columns."""
ALERT = "alert"
"""The property that takes ten times as long as all others together."""


@dataclass(frozen=True, eq=False)
class Calculated:
    """The properties of every compound of a library, ``(n,)`` each, NaN without a structure."""

    mw: Floats
    clogp: Floats
    tpsa: Floats
    hbd: Floats
    heavy: Floats
    rotatable: Floats
    alerts: tuple[str, ...] | None = None
    """None until they are requested."""


def calculate(smiles: Sequence[str], report: Report) -> Calculated:
    """Return the properties of structures without alerts, calculated in a process of its own."""
    found = np.frombuffer(in_another_process(packed_figures, tuple(smiles), report=report))
    mw, clogp, tpsa, hbd, heavy, rotatable = np.ascontiguousarray(found.reshape(-1, len(FIGURES)).T)
    return Calculated(mw, clogp, tpsa, hbd, heavy, rotatable)


def alerts_too(found: Calculated, smiles: Sequence[str], report: Report) -> Calculated:
    """Return the properties with alerts, looked for in a process of its own."""
    return replace(found, alerts=in_another_process(alerts_of, tuple(smiles), report=report))


def property_columns(status: Status, found: Calculated | None) -> list[Column]:
    """Return the columns, without values while nothing was calculated; none where no structure is known."""
    smiles = status.library.smiles
    if smiles is None or not any(smiles):
        return []
    nothing = np.full(len(status.library), np.nan)
    known = found or Calculated(nothing, nothing, nothing, nothing, nothing, nothing)
    waiting = "" if found is not None else "…"
    alerts = known.alerts
    texts = ("…",) * len(nothing) if alerts is None else alerts

    def column(key: str, title: str, values: Floats, tip: str) -> Column:
        digits = DIGITS[key]
        return Column(
            key, title, lambda row: waiting if np.isnan(values[row]) else f"{values[row]:.{digits}f}", lambda: values,
            number=True, tip=tip, kind=lambda row: "muted" if waiting else None, width=58,
        )  # fmt: skip

    made = [
        column("mw", "MW", known.mw, "Molecular weight, g/mol"),
        column("clogp", "cLogP", known.clogp, "Calculated log P after Wildman and Crippen"),
        column("tpsa", "TPSA", known.tpsa, "Topological polar surface area after Ertl, Å²"),
        column("hbd", "HBD", known.hbd, "Hydrogen-bond donors: N–H and O–H groups"),
        column("rotatable", "Rot.\nbonds", known.rotatable, "Rotatable bonds"),
        column("heavy", "Heavy\natoms", known.heavy, "Atoms other than hydrogen"),
    ]
    endpoint = status.endpoints[status.objective]
    if _is_potency(endpoint):
        estimate = status.candidates.estimates[endpoint.name]
        made += [
            column("le", "LE", _efficiency(estimate, known.heavy),
                   f"Ligand efficiency of the estimate: 1.37 {endpoint.scale_name} per heavy atom, kcal/mol"),
            column("lle", "LLE", estimate - known.clogp,
                   f"Lipophilic efficiency of the estimate: {endpoint.scale_name} minus cLogP"),
        ]  # fmt: skip
    made.append(
        Column(
            ALERT, "Alert", lambda row: texts[row], cache(lambda: text_ranks(texts)),
            tip="The first structural alert it matches, of PAINS and Brenk's list", soft=True,
            kind=lambda row: "muted" if alerts is None else None,
        )
    )  # fmt: skip
    return made


def exported(status: Status, found: Calculated | None) -> dict[str, Written]:
    """Return the columns for an export by their keys, as far as they were calculated."""
    if found is None:
        return {}
    made = {}
    for column in property_columns(status, found):
        title = " ".join(column.title.split())
        if column.key == ALERT:
            if found.alerts is not None:
                made[column.key] = Written(title, found.alerts)
        elif column.rank is not None:
            digits = DIGITS[column.key]
            values = np.round(column.rank(), digits).tolist()
            cells = values if digits else [None if value != value else int(value) for value in values]
            made[column.key] = Written(title, cells, digits)
    return made


def _is_potency(endpoint: Endpoint) -> bool:
    """Whether an endpoint is a potency on a log scale, of which a ligand efficiency means something."""
    named = _POTENCY.search(endpoint.name.casefold())
    return named is not None and (endpoint.transform == "log" or named[0].startswith("p"))


def _efficiency(estimate: Floats, heavy: Floats) -> Floats:
    """Return the ligand efficiency of each compound, NaN where estimate or structure is unknown."""
    return KCAL_PER_LOG * estimate / np.where(heavy > 0, heavy, np.nan)


class Calculations(QObject):
    """The properties of one library at a time, for all pages; alerts only on request."""

    changed = Signal()
    """Properties are there."""
    stopped = Signal()
    """They were stopped, or could not be calculated: do not wait for them."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self._library: Library | None = None
        self._found: Calculated | None = None
        self._alerts = False
        """Whether they are wanted."""
        self._job = Latest()

    def of(self, library: Library) -> Calculated | None:
        """Return the properties of a library; None while there are none."""
        return self._found if library is self._library else None

    def want(self, library: Library, *, alerts: bool = False) -> None:
        """Calculate the properties of a library unless that was done or be being done."""
        if library.smiles is None or not any(library.smiles):
            return
        if library is not self._library:
            self._job.drop()
            self._library, self._found, self._alerts = library, None, False
        self._alerts = self._alerts or alerts
        if not self._job.busy:
            self._go_on(library)

    def _go_on(self, library: Library) -> None:
        """Start with what is requested and missing: figures come first, alerts take much longer."""
        smiles, known = library.smiles, self._found
        if smiles is None or (known is not None and (known.alerts is not None or not self._alerts)):
            return

        def work(report: Report) -> Calculated:
            if known is None:
                return calculate(smiles, report)
            return alerts_too(known, smiles, report)

        def found(values: Calculated) -> None:
            self._found = values
            self._go_on(library)
            self.changed.emit()

        def failed(error: Exception) -> None:
            self._alerts = False
            self.stopped.emit()
            if isinstance(error, AssayPilotError):
                self._session.failed.emit(error)

        doing = "Calculating properties" if known is None else "Looking for alerts"
        self._job.start(self._session.aside(doing, work, found, failed))
