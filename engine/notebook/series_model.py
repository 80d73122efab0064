"""The series model by itself, with the conventions of scikit-learn, and what it expects of any compounds."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from numbers import Real
from typing import Any, Literal, overload

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ..arrays import Floats, Ints
from ..campaign.series import Controls, measured_values, used_by_model
from ..campaign.state import Status
from ..chemistry.similarity import substituent_similarity
from ..domain.features import merge_equal_rows
from ..domain.library import Library
from ..domain.noise import usual
from ..errors import AssayPilotError
from ..models.gaussian_process.endpoints import fit_endpoints
from ..models.gaussian_process.measured import Measured
from ..models.gaussian_process.series import SeriesPosterior, fit_series
from ..tables import headers
from ..tables.raw import RawTable, fold
from .frames import Coding, Table, raw_of, text_of


class SeriesModel:
    """Predict compounds from their substituents: site effects, pairs of sites and own deviations, all of them random.

    The model behind ``gaussian-process``, for values alone and without a campaign. ``X`` is a DataFrame (or ``(n,
    n_sites)`` array) with one column per site and a label or SMILES in each cell; rows with the same substituents are
    one compound. ``y`` are ``(n,)`` values on a scale on which effects roughly add up, such as pIC50. Estimators of
    scikit-learn can be swapped for it: it has ``fit``, ``predict``, ``score``, ``get_params`` and ``set_params``, and
    can be cloned and cross-validated.

    Parameters
    ----------
    noise_sd : float or None
        SD between measurements of one compound; None: estimated.
    similarity : bool
        Whether similar substituents are expected to have similar effects, at sites where every label is a SMILES.
    scales : bool
        Whether scales other than that of ``y`` are compared.
    n_draws : int
        Draws that means, SDs and intervals are taken from.
    random_state : int
        Seed; the same seed gives the same numbers.

    Attributes
    ----------
    noise_sd_ : float
        The noise SD as stated or estimated.
    own_sd_ : float
        SD of what sites and pairs of sites do not explain.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    """

    _estimator_type = "regressor"

    def __init__(
        self,
        *,
        noise_sd: float | None = None,
        similarity: bool = True,
        scales: bool = True,
        n_draws: int = 1000,
        random_state: int = 0,
    ) -> None:
        self.noise_sd = noise_sd
        self.similarity = similarity
        self.scales = scales
        self.n_draws = n_draws
        self.random_state = random_state

    def fit(self, X: pd.DataFrame | ArrayLike, y: ArrayLike) -> SeriesModel:
        """Fit the model and return it. AssayPilotError for missing substituents or values that are no numbers."""
        columns, names = _sites(X)
        values = pd.to_numeric(pd.Series(np.ravel(np.asarray(y))), errors="coerce").to_numpy(dtype=np.float64)
        if values.shape != (len(columns[0]),):
            raise AssayPilotError(
                f"y must hold one value per row of X: {len(columns[0])} rows, y of shape {values.shape}",
                mend="Give one endpoint at a time.",
            )
        if not np.isfinite(values).all():
            raise AssayPilotError(
                f"y holds {int((~np.isfinite(values)).sum())} values that are no numbers", mend="Leave these rows out."
            )
        if self.noise_sd is not None and not (isinstance(self.noise_sd, Real) and self.noise_sd > 0):
            raise AssayPilotError(f"noise_sd must be above 0 or None, got {self.noise_sd}", mend="For example 0.2.")
        if self.n_draws < 2:
            raise AssayPilotError(f"n_draws must be 2 or more, got {self.n_draws}", mend="For example 1000.")
        self._names, self._columns, self._values = names, columns, values
        self.n_features_in_ = len(columns)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        self._fitted: tuple[bytes, SeriesPosterior, Ints] | None = None
        posterior, _ = self._posterior([column[:0] for column in columns])
        self.noise_sd_, self.own_sd_ = posterior.noise_sd, posterior.own_sd
        return self

    @overload
    def predict(self, X: pd.DataFrame | ArrayLike, return_std: Literal[False] = False) -> Floats: ...

    @overload
    def predict(self, X: pd.DataFrame | ArrayLike, return_std: Literal[True]) -> tuple[Floats, Floats]: ...

    def predict(
        self,
        X: pd.DataFrame | ArrayLike,
        return_std: bool = False,
    ) -> Floats | tuple[Floats, Floats]:
        """Return ``(n,)`` means of the compounds' own values, with ``return_std`` their SDs, too.

        Substituents that were not in ``fit`` have an effect of mean 0 and the SD of their site, unless their structure
        is like a known one. The SD is that of the value without measurement noise.
        """
        drawn = self.sample_y(X, self.n_draws, self.random_state)
        mean: Floats = drawn.mean(axis=1)
        if not return_std:
            return mean
        return mean, np.asarray(drawn.std(axis=1, ddof=1))

    def predict_interval(self, X: pd.DataFrame | ArrayLike, coverage: float = 0.95) -> Floats:
        """Return ``(n, 2)`` ends of the intervals that hold the compounds' own values with this probability."""
        if not 0.0 < coverage < 1.0:
            raise AssayPilotError(f"coverage must be above 0 and below 1, got {coverage}", mend="For example 0.95.")
        drawn = self.sample_y(X, self.n_draws, self.random_state)
        tail = (1.0 - coverage) / 2.0
        ends: Floats = np.quantile(drawn, (tail, 1.0 - tail), axis=1).T
        return ends

    def sample_y(self, X: pd.DataFrame | ArrayLike, n_samples: int = 1, random_state: int = 0) -> Floats:
        """Return ``(n, n_samples)`` joint draws of the compounds' own values."""
        if not hasattr(self, "_values"):
            raise AssayPilotError("the model was not fitted yet", mend="Call fit(X, y) first.")
        columns, names = _sites(X)
        if len(columns) != self.n_features_in_ or (names and self._names and names != self._names):
            expected = ", ".join(self._names) if self._names else f"{self.n_features_in_} columns"
            raise AssayPilotError(
                f"the model was fitted to the sites {expected}, got {', '.join(names) if names else len(columns)}",
                mend="Give the same columns in the same order.",
            )
        posterior, arms = self._posterior(columns)
        requested_arms, rows = np.unique(arms, return_inverse=True)
        drawn = posterior.draw(requested_arms, max(2, n_samples), np.random.default_rng(random_state))
        return np.ascontiguousarray(drawn[np.arange(n_samples) % len(drawn)][:, rows].T)

    def score(self, X: pd.DataFrame | ArrayLike, y: ArrayLike) -> float:
        """Return R2 of the predictions."""
        values = np.ravel(np.asarray(y, dtype=np.float64))
        total = float(((values - values.mean()) ** 2).sum())
        return 1.0 - float(((values - self.predict(X)) ** 2).sum()) / total if total > 0 else float("nan")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""
        return {name: getattr(self, name) for name in signature(type(self).__init__).parameters if name != "self"}

    def set_params(self, **parameters: Any) -> SeriesModel:
        """Set parameters by name and return the model. AssayPilotError for one that does not exist."""
        known = self.get_params()
        for name, value in parameters.items():
            if name not in known:
                raise AssayPilotError(f"there is no parameter {name!r}", mend=f"There are {', '.join(known)}.")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        usual = {name: one.default for name, one in signature(type(self).__init__).parameters.items()}
        changed = [f"{name}={value!r}" for name, value in self.get_params().items() if value != usual[name]]
        return f"SeriesModel({', '.join(changed)})"

    def __sklearn_tags__(self) -> Any:
        """Return the tags that scikit-learn requires of estimators; only it calls this."""
        from sklearn.utils import InputTags, RegressorTags, Tags, TargetTags

        return Tags(
            estimator_type="regressor",
            target_tags=TargetTags(required=True),
            regressor_tags=RegressorTags(),
            input_tags=InputTags(categorical=True, string=True),
        )

    def _posterior(self, requested: Sequence[NDArray[np.object_]]) -> tuple[SeriesPosterior, Ints]:
        """Return the model of measured and requested compounds, and the positions of the latter in it."""
        coding = Coding()
        both = [np.concatenate(pair) for pair in zip(self._columns, requested, strict=True)]
        listed = coding.codes(both)
        first, arms = merge_equal_rows(listed)
        key = listed.tobytes()
        if self._fitted is None or self._fitted[0] != key:
            n = len(self._values)
            posterior = fit_series(
                listed[first],
                coding.sizes,
                Measured.exact(arms[:n], self._values, np.ones(n)),
                noise_sd=self.noise_sd,
                seed=self.random_state,
                similarity=[substituent_similarity(tuple(own)) for own in coding.labels] if self.similarity else None,
                scales=self.scales,
            )
            self._fitted = key, posterior, arms[n:]
        return self._fitted[1], self._fitted[2]


def _sites(table: pd.DataFrame | ArrayLike) -> tuple[list[NDArray[np.object_]], list[str] | None]:
    """Return the texts of every site, and the names of the sites where there are any."""
    names = [str(name) for name in table.columns] if isinstance(table, pd.DataFrame) else None
    cells = np.asarray(table, dtype=object)
    if cells.ndim != 2 or not cells.shape[1] or (names is None and not len(cells)):
        raise AssayPilotError(
            f"X must have one row per compound and one column per site, got shape {cells.shape}",
            mend='For example frame[["R1", "R2"]].',
        )
    columns = []
    for site in range(cells.shape[1]):
        texts = [text_of(cell) for cell in cells[:, site]]
        if "" in texts:
            raise AssayPilotError(
                "a substituent is missing",
                row=texts.index(""),
                column=names[site] if names else str(site),
                mend="Fill it in, or leave the row out.",
            )
        columns.append(np.array(texts, dtype=object))
    return columns, names


_DRAWS = 2000


def predictions(now: Status, table: Table) -> pd.DataFrame:
    """Return the rows of a table with estimate, low and high of every endpoint that decides; see ``Campaign``."""
    raw, library = raw_of(table), now.library
    coding = Coding([site.substituents for site in library.sites])
    requested = coding.codes(_columns(raw, library))
    # The campaign's numbers of its own compounds are kept; random draws would differ a little.
    own = {codes.tobytes(): place for place, codes in reversed(list(enumerate(library.codes.astype(np.intp))))}
    places = [own.get(codes.tobytes()) if now.claim.kind == "calibrated" else None for codes in requested]
    mine = np.array([place is not None for place in places])
    compounds = np.array([place for place in places if place is not None], dtype=np.intp)
    _, arm_of = merge_equal_rows(np.vstack([library.codes, requested]))
    codes = np.zeros((int(arm_of.max()) + 1, len(library.sites)), dtype=np.intp)
    codes[arm_of] = np.vstack([library.codes, requested])
    requested_arms, rows = np.unique(arm_of[len(library) :], return_inverse=True)
    both = zip(library.sites, coding.labels, strict=True)
    similarity = [substituent_similarity(library.forms(site.name, tuple(labels))) for site, labels in both]
    controls = Controls(now.readings, len(codes))
    used = used_by_model(now.measurements, now.settings.parameters)
    if isinstance(table, pd.DataFrame) and len(table) == len(raw):
        found = table.copy()  # with its index, so that a column of the result goes back where it belongs
    else:
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
        often = usual(endpoint)
        return fit_series(
            codes,
            coding.sizes,
            measured[positions[place]],
            noise_sd=None if endpoint.noise_estimated else endpoint.noise_sd,
            usual_noise=often.noise_sd if often is not None and endpoint.noise_estimated else None,
            seed=now.settings.seed,
            similarity=similarity,
            ends=endpoint.ends,
            others=others,
        )

    model = fit_endpoints(fit_one, [measured[position] for position in positions], len(codes))
    every = model.draw(requested_arms, _DRAWS, np.random.default_rng(now.settings.seed))
    for position, of_one in zip(deciding, every, strict=False):
        endpoint = now.endpoints[position]
        drawn = endpoint.sign * of_one[:, rows]
        values = np.vstack([drawn.mean(axis=0), np.quantile(drawn, (0.025, 0.975), axis=0)])
        known = now.candidates
        for row, quantity in enumerate((known.estimates, known.lows, known.highs)):
            values[row, mine] = quantity[endpoint.name][compounds]
        behind = f" {endpoint.name}" if len(now.deciding_endpoints) > 1 else ""
        for name, numbers in zip(("estimate", "low", "high"), values, strict=True):
            found[f"{name}{behind}"] = numbers
    return found


def _columns(raw: RawTable, library: Library) -> list[Sequence[str]]:
    """Return the substituents of every row, one column per site: as written there, else those of its id."""
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
