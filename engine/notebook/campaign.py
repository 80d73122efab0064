"""A campaign for notebooks and scripts: the file, rounds and decisions of the command line, with DataFrames."""

from __future__ import annotations

import tempfile
import warnings
import weakref
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Unpack

import pandas as pd

from ..campaign.campaign import Campaign as FileCampaign
from ..campaign.cautions import newly_outlying
from ..campaign.changes import Change
from ..campaign.from_table import Choices, campaign_from_table, refuse_taken, returned
from ..campaign.issued_rounds import Missing, Source
from ..errors import AssayPilotError
from ..export.shortlist import Which, claim_entry, compound_entries, ranked
from ..tables.importer import import_table
from ..tables.mapping import propose
from .frames import (
    Added,
    Endpoints,
    MoreOptions,
    Table,
    controls_of,
    flat,
    is_plan,
    listed,
    plain,
    profile_of,
    raw_of,
    round_frame,
    table_options,
    with_keywords,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_TERM_OPTIONS = ("slack", "delta", "max_replicates", "budget", "seed", "top")
"""Options that are settings of a campaign as they are."""
_REASONS = 3
"""Rows that were not used, named in a warning."""


class Campaign:
    """A campaign in a file: recommend what to measure, add what was measured, and see which compounds are in.

    Made by ``from_table`` or ``open``. Every call is on the disk when it returns; the window and the command line open
    the same file. Compounds are named by id. Estimates, epsilon and SDs are on the model scale: log10 units for an
    endpoint such as IC50, the values themselves for pIC50.
    """

    def __init__(self, core: FileCampaign, *, temporary: bool = False) -> None:
        self._file, self._temporary = core, temporary
        self._let_go = weakref.finalize(self, core.close)

    @property
    def _core(self) -> FileCampaign:
        if not self._let_go.alive:
            raise AssayPilotError(
                "this campaign was closed", file=str(self._file.path), mend="Open it again: Campaign.open(path)."
            )
        return self._file

    # -- making and opening

    @classmethod
    @with_keywords()
    def from_table(
        cls,
        table: Table,
        path: str | Path | None = None,
        *,
        sites: Sequence[str] | None = None,
        endpoints: Endpoints | None = None,
        goal: str = "epsilon-best",
        epsilon: float | None = None,
        per_round: int = 96,
        strategy: str = "auto",
        **options: Unpack[MoreOptions],
    ) -> Campaign:
        """Make a campaign of a table of compounds, one row each, with their substituents at each site.

        ``table``: a DataFrame or the path of a file. ``path``: the new campaign file; without it a temporary one,
        which ``save`` keeps. ``sites``: columns of substituents (default: R1, R2, ...; with ``core=[...]`` structures
        are decomposed). ``endpoints``: what is measured, ``{"pIC50": {"sd": 0.2}}`` or ``{"pIC50": 0.2}``; it need
        not be a column. ``goal``: ``epsilon-best``, ``best``, ``top`` (with ``top=10``) or ``pareto``. ``epsilon``: how
        far from the best still counts. ``per_round``: measurements in a round. ``strategy``: see ``list_strategies``.
        ``options``: see ``MoreOptions``, and ``assaypilot new --help`` for what they mean.

        AssayPilotError, with nothing written, for a table or terms that cannot be used, and for a file that exists.
        """
        file = _temporary() if path is None else Path(path)
        refuse_taken(file)
        raw = raw_of(table, sheet=options.get("sheet"))
        requested = table_options(map(str, () if sites is None else listed(sites)), endpoints, options)
        mapping = propose(raw, requested)
        objective = options.get("objective")
        aside = {"history": "shown"} if options.get("history") == "shown" else {}
        choices = Choices(
            goal=goal,
            objectives=None if objective is None else listed(objective),
            epsilon=plain(epsilon),
            terms={name: plain(value) for name, value in options.items() if name in _TERM_OPTIONS}
            | {
                "strategy": strategy,
                "parameters": {name: plain(value) for name, value in options.get("parameters", {}).items()} | aside,
                "per_round": plain(per_round),
                "controls": controls_of(options),
            },
            name=plain(options.get("name")),
            epsilons={spec.name: spec.epsilon for spec in requested.endpoints if spec.epsilon is not None},
            profile=profile_of(options),
        )
        imported = import_table(raw, mapping)
        core = campaign_from_table(file, raw, mapping, imported, choices, name="DataFrame")
        return cls(core, temporary=path is None)

    @classmethod
    @with_keywords()
    def open(cls, path: str | Path, *, read_only: bool = False) -> Campaign:
        """Open a campaign file; read-only on request, or while another program has it open."""
        return cls(FileCampaign.open(path, read_only=read_only))

    def close(self) -> None:
        """Close the file."""
        self._let_go()

    def __enter__(self) -> Campaign:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- rounds and results

    @with_keywords()
    def recommend(self, n: int | None = None) -> pd.DataFrame:
        """Return the next round, one row per compound; the open round again, unchanged, while there is one.

        ``n``: measurements in this round and those after it (default: as before). Columns: ID, the sites, replicates
        (measurements to make; with several endpoints of each, and a column for each where they differ), reason, and
        what is expected of the objective with its 95 % interval: expected, low, high; and round, which results may
        carry, so that a repeated entry differs from a second measurement. No row when nothing more is
        requested: ``finished`` and ``statement`` give the reason.
        """
        now = self._core.status()
        if n is not None:
            size = plain(n)
            if not isinstance(size, int):
                raise AssayPilotError(
                    f"a round takes a whole number of measurements, got {n!r}", mend="For example 24."
                )
            if now.open_round is None and size != now.settings.per_round:
                self._core.change(Change(per_round=size))
        return round_frame(self._core.status(), self._core.plan())

    @with_keywords()
    def add(
        self,
        results: Table,
        *,
        unit: str | None = None,
        close: bool = False,
        again: bool = False,
        missing: Missing = "return",
    ) -> Added:
        """Record results and return what became of them; estimates and statuses are new after it.

        ``results``: ID, Endpoint (not needed with one endpoint), Value, and optionally Relation, Unit, Replicate, N,
        SD, Date, Plate, Well, Batch, Comment; or one column per endpoint; or the path of such a table. A row is one
        measurement, whatever ``recommend`` requested, or the mean of N. Results may be partial, late or for compounds
        that were not requested. ``unit``: of values without one. The round ends when nothing is missing, or with
        ``close``; ``missing`` then decides about the rest: ``return`` (requested again), ``failed`` or ``other``.
        The same results again are refused, unless ``again``. Rows that cannot be used and values far from their
        prediction are named in a UserWarning.

        AssayPilotError, with nothing recorded, for a table without a usable value, and where all values without a unit
        lie a factor of 1,000 from those before.
        """
        now = self._core.status()
        if isinstance(results, pd.DataFrame):
            # Planned numbers are not results: a column of replicates would pass for N.
            names = {endpoint.name for endpoint in now.endpoints}
            planned = [name for name in results.columns if is_plan(str(name)) and name not in names]
            results = results.drop(columns=planned)
        raw = raw_of(results)
        found = returned(raw, now, unit=unit)
        report = self._core.record(
            found.results, close=close, missing=missing, again=again, source=Source(raw.file or "DataFrame", raw.digest)
        )
        rejected: list[tuple[int | None, str | None, str]] = [
            (one.row, one.column, one.reason) for one in found.rejected
        ]
        rejected += [(row, None, reason) for row, reason in report.rejected]
        if rejected:
            first = "; ".join(f"row {row}: {reason}" for row, _, reason in rejected[:_REASONS])
            warnings.warn(f"{len(rejected):,} of {len(raw):,} rows were not used: {first}", UserWarning, stacklevel=2)
        after = self._core.status()
        far = newly_outlying(now, after)
        for text in far:
            warnings.warn(text, UserWarning, stacklevel=2)
        return Added(
            accepted=report.accepted,
            unplanned=report.unplanned,
            duplicates=report.duplicates,
            censored=report.censored,
            rejected=pd.DataFrame(rejected, columns=["row", "column", "reason"]),
            round_closed=now.open_round is not None and after.open_round is None,
            warnings=tuple(dict.fromkeys([*found.warnings, *report.warnings, *far])),
        )

    @with_keywords()
    def confirm(self) -> pd.DataFrame:
        """Return the confirmation round of a finished campaign: each compound that is in and was never measured, once.

        Columns are those of ``recommend``; it decides nothing. AssayPilotError while the campaign goes on.
        """
        return round_frame(self._core.status(), self._core.plan_confirmation())

    @with_keywords()
    def audit(self, size: int) -> pd.DataFrame:
        """Return an audit round: ``size`` compounds drawn at random from those not in, as ``recommend`` does.

        With its results ``claim`` bounds the share of members missed, whatever the model believes. AssayPilotError
        while another round is open.
        """
        return round_frame(self._core.status(), self._core.plan_audit(size))

    @with_keywords()
    def close_round(self, missing: Missing = "return") -> None:
        """End the open round with what has come back; see ``add`` for ``missing``."""
        self._core.close_round(missing)

    def undo(self) -> str:
        """Take the last step back and return what it was; nothing is erased from the file."""
        return self._core.undo()

    # -- what is known

    def candidates(self, only: Which = "all") -> pd.DataFrame:
        """Return every compound, best first, with its status and estimate; ``only``: in, undecided, out or all.

        Columns are the keys of ``assaypilot status --json``: id, status, decided_in_round, estimate, low, high (95 %
        interval, or the bounds of a proven strategy), probability_within_epsilon, probability_within_slack, measured,
        ...; then the sites. With several endpoints there are columns such as ``estimate pIC50``. NaN where unknown.
        """
        now = self._core.status()
        compounds = ranked(now, only).tolist()
        return pd.DataFrame(
            flat(entry) | now.library.substituents(compound)
            for compound, entry in zip(compounds, compound_entries(now, compounds), strict=True)
        )

    @with_keywords()
    def predict(self, table: Table) -> pd.DataFrame:
        """Return what the series model expects of compounds, those outside the campaign too: a row for each of a table.

        ``table``: a column for each site, with substituents that may be new, or a column of ids. Columns: those of
        the table, with its index, then estimate, low and high (95 % interval of the compound's own value, without
        assay noise); with several endpoints ``estimate pIC50`` and so on. Compounds of the campaign have the numbers
        of ``candidates``, but under a proven strategy, whose bounds are not the model's. AssayPilotError before the
        first value, and without sites or ids.
        """
        from .series_model import predictions

        return predictions(self._core.status(), table)

    @with_keywords()
    def forecast(self) -> pd.DataFrame:
        """Return what the coming rounds are expected to find, from simulated campaigns that go on from here.

        Under the series model one row per round: measurements (in all), found (share of the members measured),
        best_found, missed, wrong, finished. Under a proven strategy two rows, measurements and rounds still to come,
        with low, median and high (80 % interval). The file is only read; this takes some seconds.
        """
        now = self._core.status()
        if now.claim.kind == "calibrated":
            from ..simulate.series_forecast import forecast_ledger, ledger_of

            curve = [asdict(point) for point in forecast_ledger(ledger_of(self.path)).curve]
            return pd.DataFrame(curve, columns=["measurements", "found", "best_found", "missed", "wrong", "finished"])
        from ..simulate.forecast import forecast_campaign

        made = forecast_campaign(self.path)
        left = [made.measurements.left(now.measurements_used), made.rounds.left(now.rounds_made)]
        return pd.DataFrame(left, index=["measurements", "rounds"])

    def plot(
        self,
        kind: Literal["candidates", "rounds", "map"] = "candidates",
        *,
        sites: tuple[str, str] | None = None,
        size: tuple[float, float] | None = None,
    ) -> Figure:
        """Return a matplotlib figure, which notebooks show by themselves.

        ``candidates``: ranked estimates with intervals and cutoff, or the trade-offs. ``rounds``: compounds in and
        undecided after each round. ``map``: mean estimates of two ``sites`` (default: the first two). ``size``: inches.
        """
        from .shown import picture

        return picture(self._core.status(), kind, sites, size)

    @property
    def path(self) -> Path:
        """The campaign file."""
        return self._file.path

    @property
    def finished(self) -> bool:
        """Whether nothing more is requested."""
        return self._core.status().finished

    @property
    def statement(self) -> str:
        """What is known now and how sure that is, in a sentence or two."""
        now = self._core.status()
        return f"{now.statement} {now.promise}".strip()

    @property
    def claim(self) -> dict[str, Any]:
        """How sure the answer is: kind (calibrated, proven or none), expected_missed, expected_wrong, audit or None."""
        return claim_entry(self._core.status())

    @property
    def warnings(self) -> tuple[str, ...]:
        """Cautions about the table and the values."""
        return self._core.status().warnings

    def log(self) -> pd.DataFrame:
        """Return the history: sequence, time (UTC), author, kind, text."""
        return pd.DataFrame([asdict(entry) for entry in self._core.history()])

    # -- files

    def save(self, path: str | Path) -> None:
        """Copy the campaign file; AssayPilotError when the path exists."""
        self._core.save_copy(path)

    @with_keywords()
    def export(self, path: str | Path, only: Which = "in") -> int:
        """Write the shortlist as csv, xlsx, sdf, pdf or pptx, by the path's ending; return the compounds written."""
        from ..export.contents import Choice, contents
        from ..export.formats import write

        return write(Path(path), contents(self._core.status(), Choice(only), file=self.path.name))

    # -- shown

    def __repr__(self) -> str:
        from .shown import lines

        return "\n".join(lines(self._file.status(), self.path, temporary=self._temporary))

    def _repr_html_(self) -> str:
        from .shown import html

        return html(self._file.status(), self.path, temporary=self._temporary)


def _temporary() -> Path:
    """Return a path for an unnamed campaign file; it stays until the system tidies up."""
    return Path(tempfile.mkdtemp(prefix="assaypilot-")) / "campaign.assaypilot"
