"""An instance made of a user's or a shipped table: its truth is a fit of its values, the values, or shipped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from ..arrays import Flags, Floats, Ints
from ..chemistry.similarity import library_similarity
from ..domain.endpoint import Endpoint
from ..domain.features import SiteFeatures, merge_equal_rows
from ..domain.goals import Goal
from ..domain.library import Library
from ..domain.measurements import Result, replicate_noise
from ..errors import AssayPilotError
from ..models.ols import least_squares
from .instances.instance import Drawn, Instance, always

Truth = Literal["fit", "values", "known"]

NOT_ADDITIVE = "the true means are the table's own values, so additivity does not hold and no error rate is promised"


@dataclass(frozen=True, slots=True)
class TableTruth:
    """What is taken for true of a table's compounds, one arm per distinct row of substituents."""

    features: SiteFeatures
    means: Floats
    """``(n_endpoints, n_arms)``, model scale, larger is better."""
    measurable: Flags
    noise: tuple[float, ...]
    notes: tuple[str, ...]
    similarity: tuple[Floats | None, ...] = ()
    ends: tuple[tuple[float, float] | None, ...] = ()


def truth_of(
    library: Library,
    history: Sequence[Result],
    endpoints: Sequence[Endpoint],
    kind: Truth,
    known: Mapping[str, float] | None = None,
) -> TableTruth:
    """Return the truth of a table for some of its endpoints.

    Compounds without a value are left out, and a note counts them.

    ``fit``: the least-squares sum of contributions of the values; ``values``: each compound's mean value; ``known``:
    a truth by compound id, of the one endpoint there is. AssayPilotError when nothing is left, or the assay noise is
    neither given nor in the replicates.
    """
    first, arm_of = merge_equal_rows(library.codes)
    whole = SiteFeatures.of(library)
    features = SiteFeatures(whole.codes[first], whole.sizes)
    noise, rows = [], []
    for endpoint in endpoints:
        arms, values, times, sds = _values(library, history, endpoint, arm_of, len(endpoints) == 1)
        if kind == "known" and known is not None:
            rows.append(endpoint.sign * np.array([known.get(library.ids[i], np.nan) for i in first]))
        else:
            counts = np.bincount(arms, times, len(first)).astype(float)
            totals = np.bincount(arms, times * values, len(first))
            if not counts.any():
                raise AssayPilotError(
                    f"the table has no values of {endpoint.name} to make a truth of",
                    option="--truth",
                    mend="Name a table with measured values.",
                )
            means = np.divide(totals, counts, out=np.full(len(first), np.nan), where=counts > 0)
            if kind == "fit":
                measured = np.flatnonzero(counts > 0)
                fit = least_squares(features, measured, counts[measured], means[measured])
                means = np.where(fit.estimable(), fit.means(), np.nan)
            rows.append(endpoint.sign * means)
        noise.append(_noise(endpoint, arms, values, times, sds))
    means = np.array(rows)
    kept = np.flatnonzero(np.isfinite(means).all(axis=0))
    if len(kept) < 2:
        raise AssayPilotError("the table has values of fewer than two compounds", option="--truth")
    notes = []
    if len(kept) < len(first):
        left_out = len(first) - len(kept)
        notes.append(f"left out, because the table's values do not say what they are: {left_out:,} of {len(first):,}")
    if len(first) < len(library):
        notes.append(f"the {len(library):,} compounds are {len(first):,} different sets of substituents")
    if kind == "values":
        notes.append(NOT_ADDITIVE)
    measurable = np.zeros(len(first), dtype=bool)
    measurable[arm_of[library.measurable]] = True
    return TableTruth(
        SiteFeatures(whole.codes[first[kept]], whole.sizes),
        means[:, kept],
        measurable[kept],
        tuple(noise),
        tuple(notes),
        similarity=library_similarity(library),
        ends=tuple(endpoint.ends for endpoint in endpoints),
    )


def of_table(name: str, paper: str, title: str, truth: TableTruth, goal: Goal, delta: float) -> Instance:
    """Return the instance of a table's truth: nothing is drawn, and every compound is in question."""
    everything = np.ones(truth.features.n_rows, dtype=bool)
    drawn = Drawn(
        truth.features,
        truth.means,
        truth.means,
        truth.measurable,
        everything,
        goal,
        truth.noise,
        similarity=truth.similarity,
        ends=truth.ends,
    )
    return Instance(
        name=name,
        paper=paper,
        title=title,
        draw=partial(always, drawn),
        random=False,
        delta=delta,
        notes=truth.notes,
        void=tuple(note for note in truth.notes if note == NOT_ADDITIVE),
    )


def _values(
    library: Library, history: Sequence[Result], endpoint: Endpoint, arm_of: Ints, only: bool
) -> tuple[Ints, Floats, Floats, list[float | None]]:
    """Return the arms, values on the model scale, determinations and SDs of an endpoint's exact values."""
    arms, values, times, sds = [], [], [], []
    for result in history:
        place = library.find(result.compound)
        mine = result.endpoint == endpoint.name or (only and result.endpoint is None)
        if place is None or not mine or result.relation != "=" or result.excluded:
            continue
        arms.append(int(arm_of[place]))
        values.append(endpoint.to_model(result.value, result.unit))
        times.append(float(result.n))
        sds.append(endpoint.sd_to_model(result.value, result.sd))
    return np.array(arms, dtype=np.intp), np.array(values), np.array(times), sds


def _noise(endpoint: Endpoint, arms: Ints, values: Floats, times: Floats, sds: Sequence[float | None]) -> float:
    """Return the SD between measurements: as given, else from the replicates; never guessed."""
    if endpoint.noise_sd is not None:
        return endpoint.noise_sd
    found, _ = replicate_noise(arms.tolist(), values.tolist(), times.astype(int).tolist(), sds)
    # Replicates that agree to the last digit do not inform the noise.
    if found is None or found <= max(1e-6 * float(np.abs(values).max()), 1e-9):
        raise AssayPilotError(
            f"the assay noise (SD) of {endpoint.name} is not known: none was given, and the replicates do not say it",
            option="--sd",
            mend="Give the SD between independent measurements of one compound, for example 0.2.",
        )
    return found
