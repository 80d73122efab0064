"""A campaign file as it is opened and read, and the one place that writes its log.

Every command is one transaction: either all of it is on the disk when the call returns, or nothing happened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ..domain.endpoint import Endpoint
from ..domain.library import Library
from ..domain.measurements import Result
from ..domain.stock import NOTHING_STATED, StockLine, StockTerms
from ..errors import AssayPilotError
from ..system.progress import Report, silent
from ..system.resources import without_collecting
from .cautions import LogEntry
from .creation import creation
from .events.fold import UNFIT, Work, describe, take
from .file.chain import Draft
from .file.store import Store, location_warnings
from .issued_rounds import Round, Source
from .reasons import Reasons
from .replay import Ledger
from .rewind import Moment, Past, retold
from .rounds import decide_due
from .settings import Settings
from .state import Status
from .view import build_status


@contextmanager
def _fitting(path: Path) -> Iterator[None]:
    """Refuse events that are whole and chained and yet impossible: another program wrote them, or a fault of ours."""
    try:
        yield
    except AssayPilotError as error:
        error.file = error.file or str(path)
        raise
    except UNFIT as error:
        raise AssayPilotError(
            f"the events of this campaign do not fit together ({type(error).__name__}: {error})",
            file=str(path),
            mend="assaypilot verify names the first that does not fit.",
        ) from error


class CampaignFile:
    """One campaign file that is open: what is known of it now and was known before. Not for several threads at once."""

    def __init__(self, store: Store, report: Report = silent) -> None:
        self._store = store
        self._ledger = Ledger(store.part)
        self._status: Status | None = None
        self._past: Past | None = None
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
        stock: tuple[Sequence[StockLine], StockTerms] = ((), NOTHING_STATED),
        source: Source | None = None,
        mapping: Mapping[str, Any] | None = None,
        warnings: Sequence[str] = (),
        report: Report = silent,
    ) -> Self:
        """Return a new campaign in a new file.

        Values already in the table (``history``, in entry units) are shown and used to estimate, not to decide.
        Raises AssayPilotError, and writes nothing, when the file exists, the table cannot be modelled, the assay
        noise is neither given nor in the replicates, or a setting is out of range.
        """
        path = Path(path)
        work = creation(name or path.stem, library, endpoints, settings, history, source, mapping, warnings, stock)
        store = Store.create(path, work.drafts, work.parts)
        try:
            return cls(store, report)
        except BaseException:
            store.close()
            raise

    @classmethod
    def open(cls, path: str | Path, *, read_only: bool = False, report: Report = silent) -> Self:
        """Return the campaign in a file; read-only on request, or when another window or program has it open."""
        store = Store.open(path, read_only=read_only)
        try:
            with _fitting(store.path):
                return cls(store, report)
        except BaseException:
            store.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._store.close()

    def __enter__(self) -> Self:
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
        with without_collecting():
            news = self._store.events(self._ledger.sequence)
            for position, event in enumerate(news):
                take(self._ledger, event)
                if position % 64 == 63:
                    report(position / len(news), "reading the campaign")
        if news:
            self._status = None

    def status(self) -> Status:
        """Return the status to show, at the present head; computed once per head."""
        if self._status is None:
            with _fitting(self.path):
                self._status = build_status(self._ledger, location_warnings(self.path))
        return self._status

    def moments(self) -> tuple[Moment, ...]:
        """Return the ends of all closed rounds, whose status ``status_at`` returns, oldest first.

        Before them the start, round 0.
        """
        return self._past_states().moments

    def status_at(self, number: int) -> Status:
        """Return the status at the end of a closed round, when the next one was planned; 0: at the start.

        Read from the log, no decision is made again. AssayPilotError when the round has not ended.
        """
        past = self._past_states()
        if any(moment.round == number and moment.events == self._ledger.sequence for moment in past.moments):
            return self.status()
        return past.status(number, location_warnings(self.path))

    def reasons(self, number: int | None = None) -> Reasons:
        """Return why every compound has its status; with a number, at the end of that closed round."""
        if number is None:
            return Reasons(self._ledger.fork({}), self.status())
        return self._past_states().reasons(number, self.status_at(number))

    def _past_states(self) -> Past:
        if self._past is None:
            self._past = Past(self._store.part, self._ledger)
        self._past.read(self._store.events, self._ledger.sequence)
        return self._past

    def round(self, number: int) -> Round:
        """Return an issued round by its number; AssayPilotError when there is none."""
        return self._ledger.view(self._ledger.issued(number))

    def history(self) -> tuple[LogEntry, ...]:
        """Return the log in plain words, oldest first."""
        entries = []
        with _fitting(self.path):
            ledger = retold(self._store.part, self._ledger)
            for event in self._store.events():
                take(ledger, event)
                entries.append(LogEntry(event.sequence, event.time, event.author, event.kind, describe(event, ledger)))
        return tuple(entries)

    # -- the file

    def save_copy(self, path: str | Path) -> None:
        """Write a copy of the whole file; AssayPilotError when the path exists."""
        self._store.save_copy(path)

    def _write(self, *drafts: Draft) -> None:
        with self._writing() as work:
            work.add(*drafts)

    @contextmanager
    def _writing(self) -> Iterator[Work]:
        """Write what is added to a transaction, with the decision it makes due; nothing where it is refused."""
        work = Work(self._ledger)
        yield work
        if work.drafts:
            decide_due(work)
            self._store.append(work.drafts, work.parts)
            self.refresh()
