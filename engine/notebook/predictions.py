"""What the series model expects of any compounds, from what a campaign has measured."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..arrays import Floats
from ..campaign.series import Controls, measured_values, used_by_model
from ..campaign.state import Status
from ..chemistry.similarity import substituent_similarity
from ..domain.features import merge_equal_rows
from ..domain.library import Library
from ..errors import AssayPilotError
from ..models.gaussian_process.endpoints import fit_endpoints
from ..models.gaussian_process.series import SeriesPosterior, fit_series
from ..tables import headers
from ..tables.raw import RawTable, fold
from .frames import Coding, Table, raw_of

_DRAWS = 2000


def predictions(now: Status, table: Table) -> pd.DataFrame:
    """Return the rows of a table with estimate, low and high of every endpoint that decides; see ``Campaign``."""
    raw, library = raw_of(table), now.library
    coding = Coding([site.substituents for site in library.sites])
    asked = coding.codes(_columns(raw, library))
    # What the campaign says of its own compounds stands; random draws would say it a little otherwise.
    own = {codes.tobytes(): place for place, codes in reversed(list(enumerate(library.codes.astype(np.intp))))}
    places = [own.get(codes.tobytes()) if now.claim.kind == "calibrated" else None for codes in asked]
    mine = np.array([place is not None for place in places])
    compounds = np.array([place for place in places if place is not None], dtype=np.intp)
    _, arm_of = merge_equal_rows(np.vstack([library.codes, asked]))
    codes = np.zeros((int(arm_of.max()) + 1, len(library.sites)), dtype=np.intp)
    codes[arm_of] = np.vstack([library.codes, asked])
    wanted, rows = np.unique(arm_of[len(library) :], return_inverse=True)
    both = zip(library.sites, coding.labels, strict=True)
    similarity = [substituent_similarity(library.forms(site.name, tuple(labels))) for site, labels in both]
    controls = Controls(now.readings, len(codes))
    used = used_by_model(now.measurements, now.settings.parameters)
    found = pd.DataFrame({name: raw.column(name) for name in raw.columns})
    deciding = now.deciding_endpoints
    recorded = (k for k, endpoint in enumerate(now.endpoints) if endpoint.of is None)
    measured = {
        position: measured_values(used, now.endpoints, arm_of[: len(library)], position, controls)
        for position in dict.fromkeys((*deciding, *recorded))
    }
    positions = [position for position, one in measured.items() if position in deciding or len(one)]

    def fit_one(place: int, others: Sequence[Floats]) -> SeriesPosterior:
        endpoint = now.endpoints[positions[place]]
        return fit_series(
            codes,
            coding.sizes,
            measured[positions[place]],
            noise_sd=None if endpoint.noise_estimated else endpoint.noise_sd,
            seed=now.settings.seed,
            similarity=similarity,
            ends=endpoint.ends,
            others=others,
        )

    model = fit_endpoints(fit_one, [measured[position] for position in positions], len(codes))
    every = model.draw(wanted, _DRAWS, np.random.default_rng(now.settings.seed))
    for position, of_one in zip(deciding, every, strict=False):
        endpoint = now.endpoints[position]
        drawn = endpoint.sign * of_one[:, rows]
        values = np.vstack([drawn.mean(axis=0), np.quantile(drawn, (0.025, 0.975), axis=0)])
        known = now.candidates
        for row, said in enumerate((known.estimates, known.lows, known.highs)):
            values[row, mine] = said[endpoint.name][compounds]
        behind = f" {endpoint.name}" if len(now.deciding_endpoints) > 1 else ""
        for name, numbers in zip(("estimate", "low", "high"), values, strict=True):
            found[f"{name}{behind}"] = numbers
    return found


def _columns(raw: RawTable, library: Library) -> list[Sequence[str]]:
    """Return the substituents of every row, one column per site: as they stand there, else those of its id."""
    names = [site.name for site in library.sites]
    own = [raw.find(name) for name in names]
    if all(own):
        texts = [raw.column(name) for name in own if name is not None]
        for name, column in zip(names, texts, strict=True):
            if "" in column:
                raise AssayPilotError(
                    "a substituent is missing", row=raw.rows[column.index("")], column=name, mend="Fill it in."
                )
        return list(texts)
    ids = next((column for column in raw.columns if fold(column) in headers.IDS), None)
    if ids is None:
        absent = [name for name, column in zip(names, own, strict=True) if column is None]
        raise AssayPilotError(
            f"there is neither a column of ids nor of {', '.join(absent)}",
            file=raw.file,
            mend=f"Give the columns {', '.join(names)}, or ID for compounds of the campaign.",
        )
    places = []
    for row, text in zip(raw.rows, raw.column(ids), strict=True):
        place = library.find(text)
        if place is None:
            raise AssayPilotError(
                f"{text!r} is no compound of this campaign", row=row, column=ids, mend="Give its substituents instead."
            )
        places.append(place)
    return [
        [site.substituents[code] for code in library.codes[places, column]] for column, site in enumerate(library.sites)
    ]
