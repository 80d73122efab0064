"""A campaign: the one place that writes the log. The window and the command line both call it.

Every command is one transaction: either all of it is on the disk when the call returns, or nothing happened.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

import numpy as np

from assaypilot.engine.campaign import codec, redecide
from assaypilot.engine.campaign.chain import Draft, as_parts
from assaypilot.engine.campaign.intake import Intake, prepare
from assaypilot.engine.campaign.layout import lay_out, next_round, reasons
from assaypilot.engine.campaign.replay import UNFIT, Ledger, Step
from assaypilot.engine.campaign.state import RecordReport, Round, RoundItem, Settings, Source, Status
from assaypilot.engine.campaign.store import Store, location_warnings
from assaypilot.engine.campaign.view import build_status, objective_posterior
from assaypilot.engine.campaign.wording import LogEntry, describe
from assaypilot.engine.endpoint import Endpoint, Relation
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.features import ProjectedFeatures
from assaypilot.engine.library import Library
from assaypilot.engine.measurements import Result, replicate_noise
from assaypilot.engine.progress import Report, silent
from assaypilot.engine.strategies.protocol import Allocation
from assaypilot.engine.strategies.registry import check_parameters, choose

__all__ = ["Campaign", "Missing", "program_version"]

Missing = Literal["return", "failed", "other"]
"""What becomes of measurements that are missing when a round is closed."""


def program_version() -> str:
    """The version of this program."""
    try:
        return version("assaypilot")
    except PackageNotFoundError:  # run from a folder that was never installed
        return "0+unknown"


class Campaign:
    """One open campaign file. Not for several threads at once."""

    def __init__(self, store: Store, report: Report = silent) -> None:
        self._store = store
        self._ledger = Ledger(store.part)
        self._status: Status | None = None
        self.refresh(report)

    # -- making and opening

    @classmethod
    def create(
        cls,
        path: str | Path,
        *,
        library: Library,
        endpoints: Sequence[Endpoint],
        settings: Settings,
        name: str | None = None,
        history: Sequence[Result] = (),
        source: Source | None = None,
        mapping: Mapping[str, Any] | None = None,
        warnings: Sequence[str] = (),
        report: Report = silent,
    ) -> Campaign:
        """A new campaign in a new file.

        Values already in the table (``history``, in entry units) are shown and used to estimate, not to decide.
        Raises AssayPilotError, and writes nothing, when the file exists, the table cannot be modelled, the assay
        noise is neither given nor in the replicates, or a setting is out of range.
        """
        path = Path(path)
        endpoints = _with_noise(library, endpoints, history, settings)
        strategy, why = choose(settings.strategy, settings.goal)
        check_parameters(strategy, settings.parameters)
        if len(library) < 2:
            raise AssayPilotError(
                f"a campaign needs at least two compounds, got {len(library)}", mend="Add compounds to the table."
            )
        taken = prepare(library, endpoints, history, first_number=1)
        if taken.rejected:
            row, reason = taken.rejected[0]
            raise AssayPilotError(reason, row=row)
        created = {
            "name": name or path.stem,
            "program": program_version(),
            "python": platform.python_version(),
            "numpy": np.__version__,
            "warnings": list(warnings),
        }
        blob = library.encode()
        parts = as_parts(blob)
        (digest,) = parts
        drafts = [
            Draft("campaign_created", created),
            Draft(
                "library_added",
                {
                    "part": digest,
                    "compounds": len(library),
                    "sites": [[site.name, len(site.substituents)] for site in library.sites],
                    "source": codec.source_to_json(source),
                    "mapping": dict(mapping) if mapping else None,
                },
            ),
            Draft("endpoints_defined", {"endpoints": [endpoint.as_json() for endpoint in endpoints]}),
            Draft(
                "goal_set",
                {
                    "settings": codec.settings_to_json(settings),
                    "strategy": strategy.info.name,
                    "strategy_version": strategy.info.version,
                    "why": why,
                },
            ),
        ]
        if taken.measurements:
            measurements = [codec.measurement_to_json(m) for m in taken.measurements]
            drafts.append(
                Draft("history_added", {"measurements": measurements, "source": codec.source_to_json(source)})
            )
        # The fold runs before anything is written, so what it refuses leaves no file behind.
        Ledger(parts.__getitem__).rehearse(drafts)
        store = Store.create(path, drafts, parts)
        try:
            return cls(store, report)
        except BaseException:
            store.close()
            raise

    @classmethod
    def open(cls, path: str | Path, *, read_only: bool = False, report: Report = silent) -> Campaign:
        """The campaign in a file; read-only when asked for, or when another window or program has it open."""
        store = Store.open(path, read_only=read_only)
        try:
            return cls(store, report)
        except BaseException as error:
            store.close()
            if isinstance(error, UNFIT) and not isinstance(error, AssayPilotError):
                # Whole, chained and yet impossible: written by something else, or by a fault of ours.
                raise AssayPilotError(
                    f"the events of this campaign do not fit together ({error})",
                    file=str(path),
                    mend="assaypilot verify names the first that does not fit.",
                ) from error
            raise

    def close(self) -> None:
        """Let the file go."""
        self._store.close()

    def __enter__(self) -> Campaign:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def path(self) -> Path:
        """The file."""
        return self._store.path

    @property
    def read_only(self) -> bool:
        """Whether nothing can be written."""
        return self._store.read_only

    @property
    def read_only_reason(self) -> str | None:
        """Why nothing can be written; None when it can."""
        return self._store.read_only_reason

    @property
    def head(self) -> str:
        """The digest of the last event."""
        return self._store.head

    @property
    def events(self) -> int:
        """How many events the log has."""
        return self._store.n_events

    # -- reading

    def refresh(self, report: Report = silent) -> None:
        """Take in what was appended since, by this program or (when read-only) by another."""
        news = self._store.events(self._ledger.sequence)
        for position, event in enumerate(news):
            self._ledger.apply(event)
            if position % 64 == 63:
                report(position / len(news), "reading the campaign")
        if news:
            self._status = None

    def status(self) -> Status:
        """Everything to show, at the present head; computed once per head."""
        if self._status is None:
            self._status = build_status(self._ledger, location_warnings(self.path))
        return self._status

    def round(self, number: int) -> Round:
        """An issued round by its number; AssayPilotError when there is none."""
        for issued in self._ledger.rounds:
            if issued.number == number:
                return self._ledger.view(issued)
        raise AssayPilotError(f"there is no round {number}")

    def history(self) -> tuple[LogEntry, ...]:
        """The log in plain words, oldest first."""
        ledger = Ledger(self._store.part)
        entries = []
        for event in self._store.events():
            ledger.apply(event)
            entries.append(LogEntry(event.sequence, event.time, event.author, event.kind, describe(event, ledger)))
        return tuple(entries)

    # -- rounds

    def plan(self, report: Report = silent) -> Round | None:
        """The next round, or the open one unchanged; None when nothing more needs to be measured."""
        if self._ledger.open_round is None:
            work = self._begin()
            work.add(*self._plan_drafts(work.ledger, report))
            if not work.drafts:
                return None
            self._commit(work)
        issued = self._ledger.open_round
        return None if issued is None else self._ledger.view(issued)

    def _plan_drafts(self, ledger: Ledger, report: Report, *, redoes: int | None = None) -> list[Draft]:
        settings = ledger.settings
        drafts = []
        if ledger.under_way is None:
            state = ledger.current()
            if ledger.strategy.stop(state):
                return []
            allocation = ledger.strategy.ask(state, report)
            planned, order = self._lay_out(allocation)
            drafts.append(Draft("phase_planned", _phase_json(allocation, planned, order)))
            phase, done = allocation.phase, dict[int, int]()
        else:
            under_way = ledger.under_way
            phase, order = under_way.allocation.phase, under_way.order
            received = ledger.received(phase)
            done = {
                c: n if c in ledger.unavailable else received.get(c, 0) + under_way.lost.get(c, 0)
                for c, n in under_way.planned.items()
            }
        chosen = next_round(order, done, settings.per_round, settings.max_replicates)
        data = {"round": len(ledger.rounds) + 1, "phase": phase, "items": self._items(chosen)}
        if redoes is not None:
            data["redoes"] = redoes
        return [*drafts, Draft("round_issued", data)]

    def _lay_out(self, allocation: Allocation) -> tuple[dict[int, int], list[tuple[int, int]]]:
        """A phase's measurements by compound, and the order in which rounds are cut from it."""
        ledger = self._ledger
        compounds = [ledger.representative(arm) for arm in allocation.arms]
        span = ProjectedFeatures(ledger.features, allocation.arms)
        settings = ledger.settings
        runs = lay_out(
            allocation.counts,
            span.coordinates(),
            settings.per_round,
            settings.max_replicates,
            seed=settings.seed * 1_000_003 + allocation.phase,
        )
        planned = {c: int(n) for c, n in zip(compounds, allocation.counts, strict=True)}
        return planned, [(compounds[position], n) for position, n in runs]

    def _items(self, chosen: Sequence[tuple[int, int]]) -> list[dict[str, Any]]:
        ledger = self._ledger
        compounds = [compound for compound, _ in chosen]
        view = objective_posterior(ledger)
        texts = reasons(ledger.library, compounds)
        expected: list[tuple[float, float, float] | tuple[None, None, None]] = [(None, None, None)] * len(chosen)
        if view is not None:
            arms = ledger.arm_of[compounds]
            mean, spread = view.means(arms), 1.96 * view.sds(arms)
            expected = list(zip(mean.tolist(), (mean - spread).tolist(), (mean + spread).tolist(), strict=True))
        return [
            codec.item_to_json(RoundItem(compound, n, text, *numbers))
            for (compound, n), text, numbers in zip(chosen, texts, expected, strict=True)
        ]

    def withdraw_round(self, note: str = "") -> None:
        """Take the open round back; only while it has no result. Its number is not used again."""
        ledger = self._ledger
        number = self._open_round("withdraw").number
        self._refuse_results()
        data: dict[str, Any] = {"round": number, "note": note}
        if ledger.undo and ledger.undo[-1].kind == "plan":
            data["undoes"] = ledger.sequence
        self._commit(self._begin(Draft("round_withdrawn", data)))

    def _refuse_results(self) -> None:
        issued = self._ledger.open_round
        if issued and any(
            m.round == issued.number and (m.number > issued.before or m.counted) and not m.withdrawn
            for m in self._ledger.measurements
        ):
            raise AssayPilotError(
                f"round {issued.number} has results, so it cannot be withdrawn",
                mend="Close it with what has come back instead.",
            )

    def _open_round(self, verb: str) -> Any:
        issued = self._ledger.open_round
        if issued is not None:
            return issued
        closed = [r for r in self._ledger.rounds if r.state == "closed"]
        if closed:
            raise AssayPilotError(f"round {closed[-1].number} is closed already", mend="Plan the next round first.")
        raise AssayPilotError(f"there is no open round to {verb}", mend="Plan a round first.")

    def close_round(self, missing: Missing = "return", note: str = "") -> Status:
        """End the open round with what has come back.

        ``return``: what is missing comes again in the next round of the phase, and nothing is decided before.
        ``failed``: it is lost for lab reasons that have nothing to do with the values; the phase goes on without it.
        ``other``: lost for a reason that may depend on the results: the guarantee is void from here on.
        """
        self._open_round("close")
        work = self._begin()
        self._close(work, missing, note)
        self._commit(work)
        return self.status()

    def _close(self, work: _Work, missing: Missing, note: str = "") -> None:
        """End the open round."""
        ledger = work.ledger
        issued = ledger.open_round
        if issued is None:
            return
        returned = ledger.returned(issued)
        open_items = {
            item.compound: item.replicates - back
            for item, back in zip(issued.items, returned, strict=True)
            if item.replicates > back and item.compound not in ledger.unavailable
        }
        left = ledger.outstanding()
        lost = [[c, min(n, left[c])] for c, n in open_items.items() if c in left]
        data = {
            "round": issued.number,
            "asked": sum(item.replicates for item in issued.items),
            "returned": sum(returned),
            "missing": missing if lost else "none",
            "lost": [] if missing == "return" else lost,
            "note": " ".join(note.split()),
        }
        work.add(Draft("round_closed", data))

    @staticmethod
    def _decide(work: _Work) -> None:
        """The decision of the phase, once nothing of it is outstanding and no round is open."""
        ledger = work.ledger
        if ledger.under_way is None or ledger.outstanding() or ledger.open_round is not None:
            return
        allocation = ledger.under_way.allocation
        decision = redecide.recompute(ledger)
        number = ledger.last_round
        if decision is None:
            work.add(Draft("phase_empty", {"phase": allocation.phase, "round": number}))
            return
        blob = codec.estimates_to_bytes(decision)
        parts = as_parts(blob)
        (digest,) = parts
        info = ledger.strategy.info
        data = codec.decision_to_json(decision, redecide.arm_names(ledger)) | {
            "strategy": info.name,
            "strategy_version": info.version,
            "round": number,
            "part": digest,
        }
        work.add(Draft("phase_decided", data), parts=parts)

    # -- results

    def record(
        self,
        results: Sequence[Result],
        *,
        close: bool = False,
        missing: Missing = "return",
        again: bool = False,
        close_when_complete: bool = True,
        source: Source | None = None,
    ) -> RecordReport:
        """Add results, in entry units; planned, unplanned, partial, late and censored ones are all accepted.

        With ``close`` the open round ends with what has come back; with ``close_when_complete`` it ends by itself
        when nothing is missing. The same content, or the same compound, endpoint, plate, well, date and value, is not
        counted twice unless ``again``; when nothing new is left, that is refused.
        """
        ledger = self._ledger
        if close:
            self._open_round("close")
        if source is not None and source.digest and source.digest in ledger.sources and not again:
            raise AssayPilotError(
                "these results are in the campaign already",
                file=source.name,
                mend="Use --again to count them a second time.",
            )
        taken = self._take(results, again=again, typed=source is None or not source.digest)
        if not taken.measurements:
            if taken.duplicates and not taken.rejected:
                raise AssayPilotError(
                    f"all {taken.duplicates} results are in the campaign already",
                    file=source.name if source else None,
                    mend="Use --again to count them a second time.",
                )
            if taken.rejected:
                row, reason = taken.rejected[0]
                raise AssayPilotError(
                    f"{reason} (none of {len(taken.rejected)} results could be used)"
                    if len(taken.rejected) > 1
                    else reason,
                    file=source.name if source else None,
                    row=row,
                )
            if not close:
                raise AssayPilotError(
                    "there is no result to record",
                    file=source.name if source else None,
                    mend="Give at least one value.",
                )
        issued = ledger.open_round
        number = ledger.last_round
        work = self._begin()
        if taken.measurements:
            data = {
                "round": number,
                "measurements": [codec.measurement_to_json(m) for m in taken.measurements],
                "source": codec.source_to_json(source),
            }
            work.add(Draft("results_recorded", data))
        closes = close or (close_when_complete and issued is not None and not work.ledger.pending(issued))
        if closes:
            self._close(work, missing)
        self._commit(work)
        return RecordReport(
            accepted=len(taken.measurements),
            unplanned=sum(m.counted == 0 for m in taken.measurements if m.endpoint == ledger.objective),
            duplicates=taken.duplicates,
            censored=sum(m.relation != "=" for m in taken.measurements),
            rejected=taken.rejected,
            round=number,
            round_closed=closes,
            warnings=taken.warnings,
        )

    def _take(self, results: Sequence[Result], *, again: bool, typed: bool) -> Intake:
        ledger = self._ledger
        return prepare(
            ledger.library,
            ledger.endpoints,
            results,
            first_number=len(ledger.measurements) + 1,
            objective=ledger.objective,
            outstanding=ledger.outstanding(),
            phase=ledger.under_way.allocation.phase if ledger.under_way else 0,
            round_number=ledger.last_round,
            earlier=() if again else ledger.measurements,
            typed=typed,
        )

    def exclude(self, number: int, reason: str, *, judgement: bool) -> None:
        """Leave a value out, for a reason that is kept with it.

        ``judgement``: left out after seeing it, not for a technical cause; the guarantee's sentence counts those.
        """
        reason = _reason(reason)
        measurement = self._ledger.measurement(number)
        if measurement.excluded is not None or measurement.withdrawn:
            raise AssayPilotError(f"measurement {number} is left out already")
        self._amend(Draft("measurement_excluded", {"number": number, "reason": reason, "judgement": judgement}))

    def include(self, number: int, reason: str) -> None:
        """Use an excluded value again."""
        reason = _reason(reason)
        measurement = self._ledger.measurement(number)
        if measurement.excluded is None or measurement.withdrawn:
            raise AssayPilotError(f"measurement {number} is not excluded")
        before = {"reason": measurement.excluded, "judgement": number in self._ledger.judged}
        self._amend(Draft("measurement_included", {"number": number, "reason": reason, "before": before}))

    def correct(
        self, number: int, value: float, *, relation: Relation = "=", unit: str | None = None, reason: str
    ) -> None:
        """Replace a wrong value, given in the entry unit; what was entered first stays in the log and in ``entered``.

        When the phase was decided already it is decided again, and the log says so.
        """
        reason = _reason(reason)
        measurement = self._ledger.measurement(number)
        unit = unit or measurement.entered.unit
        if measurement.withdrawn:
            raise AssayPilotError(f"the entry of measurement {number} was undone, so it cannot be corrected")
        endpoint = self._ledger.endpoints[measurement.endpoint]
        before = {"value": measurement.value, "relation": measurement.relation, "reason": measurement.corrected}
        data = {
            "number": number,
            "value": endpoint.to_model(value, unit),
            "relation": endpoint.relation_on_model(relation),
            "entered": value,
            "unit": unit,
            "reason": reason,
            "before": before,
        }
        self._amend(Draft("measurement_corrected", data))

    def _amend(self, draft: Draft) -> None:
        """Write a change of one measurement; the phases it reaches are decided again in the same transaction."""
        ledger = self._ledger
        phase = ledger.measurement(draft.data["number"]).phase
        work = self._begin(draft)
        if 0 < phase <= len(ledger.phases):
            again, parts = redecide.drafts(work.ledger, phase, draft.data["reason"])
            work.add(again, parts=parts)
        self._commit(work)

    def mark_unavailable(self, ids: Sequence[str], reason: str) -> None:
        """Say that compounds cannot be had (for a reason that has nothing to do with their values).

        What the phase still wanted of them is given up; what only they could tell becomes not estimable.
        """
        reason = _reason(reason)
        ledger = self._ledger
        compounds: list[int] = []
        for name in ids:
            compound = ledger.library.find(name)
            if compound is None:
                raise AssayPilotError(f"{name!r} is not in the library", option="--unavailable")
            if compound not in ledger.unavailable and compound not in compounds:
                compounds.append(compound)
        if not compounds:
            raise AssayPilotError("these compounds are marked as not to be had already")
        self._commit(self._begin(Draft("compounds_unavailable", {"compounds": compounds, "reason": reason})))

    # -- undo

    @property
    def undo_label(self) -> str | None:
        """What undo would take back; None when there is nothing."""
        return self._ledger.undo[-1].label if self._ledger.undo else None

    @property
    def redo_label(self) -> str | None:
        """What redo would do again; None when there is nothing."""
        return self._ledger.redo[-1].label if self._ledger.redo else None

    def undo(self) -> str:
        """The label of the action taken back. The opposite is appended; nothing is erased."""
        if not self._ledger.undo:
            raise AssayPilotError("there is nothing to undo", mend="Closed rounds and decisions stay as they are.")
        step = self._ledger.undo[-1]
        if step.kind == "plan":
            self._refuse_results()
        self._commit(self._begin(self._opposite(step)))
        return step.label

    def _opposite(self, step: Step) -> Draft:
        data, mark = step.data, {"undoes": self._ledger.sequence}
        match step.kind:
            case "plan":
                return Draft("round_withdrawn", {"round": data["round"], "note": ""} | mark)
            case "record":
                return Draft("results_withdrawn", {"numbers": data["numbers"], "source": data["source"]} | mark)
            case "exclude":
                return Draft("measurement_included", {"number": data["number"], "reason": "undo"} | mark)
            case "include":
                return Draft("measurement_excluded", {"number": data["number"], **data["before"]} | mark)
            case "correct":
                before = data["before"]
                return Draft("measurement_corrected", {"number": data["number"], **before, "before": None} | mark)
            case "unavailable":
                return Draft("compounds_available", {"compounds": data["compounds"]} | mark)

    def redo(self) -> str:
        """The label of the action done again."""
        if not self._ledger.redo:
            raise AssayPilotError("there is nothing to redo")
        step = self._ledger.redo[-1]
        mark = {"redoes": self._ledger.sequence}
        if step.kind == "plan":
            self._commit(self._begin(*self._plan_drafts(self._ledger, silent, redoes=self._ledger.sequence)))
            return step.label
        kinds = {
            "record": "results_restored",
            "exclude": "measurement_excluded",
            "include": "measurement_included",
            "correct": "measurement_corrected",
            "unavailable": "compounds_unavailable",
        }
        data = dict(step.data)
        if step.kind == "record":
            data["round"] = self._ledger.last_round
        self._commit(self._begin(Draft(kinds[step.kind], data | mark)))
        return step.label

    # -- the file

    def save_copy(self, path: str | Path) -> None:
        """A copy of the whole file; AssayPilotError when the path exists."""
        self._store.save_copy(path)

    def _begin(self, *drafts: Draft) -> _Work:
        work = _Work(self._ledger)
        work.add(*drafts)
        return work

    def _commit(self, work: _Work) -> None:
        """Write a transaction, with the decision it makes due."""
        self._decide(work)
        self._store.append(work.drafts, work.parts)
        self.refresh()


class _Work:
    """One transaction in the making: what it will write, and the state in which it has happened already."""

    def __init__(self, ledger: Ledger) -> None:
        self.drafts: list[Draft] = []
        self.parts: dict[str, bytes] = {}
        self.ledger = ledger.fork(self.parts)

    def add(self, *drafts: Draft, parts: Mapping[str, bytes] | None = None) -> None:
        self.parts.update(parts or {})
        self.drafts += drafts
        self.ledger.rehearse(drafts)


def _reason(reason: str) -> str:
    text = " ".join(reason.split())
    if not text:
        raise AssayPilotError("a reason is needed", mend="Say in a few words why.")
    return text


def _with_noise(
    library: Library, endpoints: Sequence[Endpoint], history: Sequence[Result], settings: Settings
) -> list[Endpoint]:
    """The endpoints with the objective's noise known; AssayPilotError when it is neither given nor measured."""
    if settings.objective not in [endpoint.name for endpoint in endpoints]:
        raise AssayPilotError(
            f"there is no endpoint {settings.objective!r}",
            option="--objective",
            mend=f"Choose one of: {', '.join(endpoint.name for endpoint in endpoints)}.",
        )
    taken = prepare(library, endpoints, history, first_number=1)
    out = []
    for position, endpoint in enumerate(endpoints):
        if endpoint.noise_sd is None:
            own = [m for m in taken.measurements if m.endpoint == position and m.usable]
            noise, _ = replicate_noise(
                [m.compound for m in own],
                [m.value for m in own],
                [m.n for m in own],
                [m.entered.sd if endpoint.transform == "none" else None for m in own],
            )
            if noise:
                endpoint = replace(endpoint, noise_sd=noise)
            elif endpoint.name == settings.objective:
                raise AssayPilotError(
                    f"the assay noise (SD) of {endpoint.name} is not known: none was given, "
                    "and no compound was measured twice",
                    option="--sd",
                    mend="Give the SD between independent measurements of one compound, e.g. --sd 0.2.",
                )
        out.append(endpoint)
    return out


def _phase_json(allocation: Allocation, planned: Mapping[int, int], order: Sequence[tuple[int, int]]) -> dict[str, Any]:
    return {
        "phase": allocation.phase,
        "compounds": list(planned),
        "counts": list(planned.values()),
        "order": [[compound, n] for compound, n in order],
        "radius": allocation.radius,
        "certificate": {
            "criterion": allocation.certificate.criterion,
            "value": allocation.certificate.value,
            "lower_bound": allocation.certificate.lower_bound,
        },
        "cut_to_budget": allocation.cut_to_budget,
    }
