"""Random sequences of everything a person can do, with writes that fail in between: what must hold, always holds."""

import itertools
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock

import numpy as np
from hypothesis import HealthCheck, assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from assaypilot.engine.campaign import verifying
from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.issued_rounds import Round, RoundItem
from assaypilot.engine.campaign.replay import Ledger
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.domain.plates import PlateUse
from assaypilot.engine.domain.stock import CANNOT, IN_STOCK, TO_MAKE, StockLine
from assaypilot.engine.errors import AssayPilotError
from tests.engine.campaign.making import differences, make, small_library

COMPOUNDS = st.integers(0, 5)
VALUES = st.integers(-30, 30).map(lambda tenths: 6.0 + tenths / 10)
STATES = st.sampled_from([IN_STOCK, TO_MAKE, TO_MAKE, CANNOT])
REASONS = st.sampled_from(["bubble", "odd", "typing error"])


class Person(RuleBasedStateMachine):
    """Somebody at the program, and what they are entitled to find."""

    endpoints = (Endpoint("pIC50", noise_sd=0.25), Endpoint("logD"))
    goal: ClassVar[dict[str, Any]] = {"epsilon": 1.0, "slack": 1.0}
    measured = (0,)
    sizes: ClassVar[tuple[int, ...]] = (2, 3)

    @initialize(
        per_round=st.integers(2, 12),
        replicates=st.integers(1, 4),
        budget=st.sampled_from([None, None, 20, 60]),
        history=st.lists(st.tuples(COMPOUNDS, VALUES), max_size=3),
    )
    def begin(self, per_round: int, replicates: int, budget: int | None, history: list[tuple[int, float]]) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "x.assaypilot"
        library = small_library(self.sizes)
        self.ids = library.ids
        self.entered = [Result(self.ids[compound], value, "pIC50") for compound, value in history]
        self.issued: dict[int, tuple[RoundItem, ...]] = {}
        self.failing = False
        self.copies = 0
        self.per_round = per_round
        self.campaign = make(
            self.path, library=library, endpoints=self.endpoints, history=tuple(self.entered),
            per_round=max(per_round, len(self.measured)), max_replicates=replicates, budget=budget, **self.goal,
        )  # fmt: skip

    def teardown(self) -> None:
        if not hasattr(self, "campaign"):
            return
        head, events = self.campaign.head, self.campaign.events
        self.reads_back()
        self.campaign.close()
        found = verifying.verify(self.path, recompute=True, expected_head=head, expected_events=events)
        self.folder.cleanup()
        assert found.ok, found.problems

    def reads_back(self) -> None:
        with Campaign.open(self.path, read_only=True) as other:
            assert differences(self.campaign.status(), other.status()) == []
            assert (self.campaign.undo_label, self.campaign.redo_label) == (other.undo_label, other.redo_label)
            log = other.history()
            assert log == self.campaign.history()
            texts = [entry.text for entry in log]
        assert not [text for text in texts if "None" in text or "nan" in text or not text]

    def act(self, action: Callable[[], Any]) -> Any:
        """The outcome of a command; one that is refused, or whose write fails, changes nothing."""
        campaign, before, content = self.campaign, self.campaign.status(), self.path.read_bytes()
        labels = campaign.undo_label, campaign.redo_label
        written = campaign.events
        calls: list[int] = []
        append = campaign._store.append

        def spy(drafts: Any, *rest: Any) -> Any:
            calls.append(len(drafts))
            if self.failing:
                raise AssayPilotError("the disk is full", mend="Make room.")
            return append(drafts, *rest)

        try:
            with mock.patch.object(campaign._store, "append", spy):
                result = action()
        except AssayPilotError:
            result, calls = None, []
            after = self.path.read_bytes(), (campaign.undo_label, campaign.redo_label)
            assert after == (content, labels)
            assert differences(before, campaign.status()) == []
        assert len(calls) <= 1, "a command is one transaction"
        assert campaign.events == written + sum(calls)
        self.failing = False
        return result

    # -- what people do

    @rule()
    def plan(self) -> None:
        before = self.campaign.status()
        issued = self.act(self.campaign.plan)
        if issued is not None and before.open_round is None:
            assert issued.number == len(before.rounds) + 1
            assert issued.measurements > 0

    @rule()
    def confirm(self) -> None:
        before = self.campaign.status()
        issued = self.act(self.campaign.plan_confirmation)
        if issued is None:
            return
        assert before.finished or before.open_round is not None, "only what has ended is confirmed"
        assert issued.confirmation
        if before.open_round is None:
            assert tuple(item.compound for item in issued.items) == before.confirmation.due[: len(issued.items)]

    @precondition(lambda self: self.campaign.status().open_round is not None)
    @rule(data=st.data(), share=st.sampled_from([0.3, 1.0, 1.0]), close=st.booleans(), extra=st.integers(0, 1))
    def record(self, data: st.DataObject, share: float, close: bool, extra: int) -> None:
        issued = self.campaign.status().open_round
        assert issued is not None
        results = []
        for compound, name, missing in self.missing(issued):
            for _ in range(missing + extra):
                if data.draw(st.floats(0, 1)) < share:
                    relation = data.draw(st.sampled_from(["="] * 12 + ["<"]))
                    results.append(Result(self.ids[compound], data.draw(VALUES), name, relation))
        self.enter(results, close=close)

    @precondition(lambda self: self.campaign.status().open_round is not None)
    @rule(seed=st.integers(0, 99), lost=st.sampled_from([0, 0, 1]))
    def record_the_round(self, seed: int, lost: int) -> None:
        issued = self.campaign.status().open_round
        assert issued is not None
        rng = np.random.default_rng(seed)
        results = [
            Result(self.ids[c], round(6.0 + (c % 3) / 2 + 0.25 * float(rng.standard_normal()), 2), name)
            for c, name, missing in self.missing(issued)
            for _ in range(missing)
        ]
        self.enter(results[lost:], close=True)

    def missing(self, issued: Round) -> list[tuple[int, str, int]]:
        """(compound, endpoint, measurements) that a round still waits for."""
        return [
            (item.compound, self.endpoints[k].name, item.of(place) - back[place])
            for item, back in zip(issued.items, issued.back, strict=True)
            for place, k in enumerate(issued.endpoints)
        ]

    @precondition(lambda self: self.campaign.status().phases_decided < 3)
    @rule(seed=st.integers(0, 99), lost=st.sampled_from([0, 0, 1]))
    def work_until_a_phase_is_decided(self, seed: int, lost: int) -> None:
        before = self.campaign.status().phases_decided
        for step in range(20):
            self.plan()
            now = self.campaign.status()
            if now.phases_decided > before or now.open_round is None:
                return
            self.record_the_round(seed=seed + step, lost=lost if step == 0 else 0)

    @rule(compound=COMPOUNDS, value=VALUES, n=st.integers(1, 4), endpoint=st.sampled_from(["pIC50", "logD"]),
          relation=st.sampled_from(["=", "=", "<", ">"]), marked=st.booleans(), stray=st.booleans())  # fmt: skip
    def record_one(
        self, compound: int, value: float, n: int, endpoint: str, relation: Any, marked: bool, stray: bool
    ) -> None:
        results = [Result(self.ids[compound], value, endpoint, relation, n=n, excluded=marked and n == 2)]
        self.enter(results + [Result("nobody", 6.0, "pIC50")] * stray)

    def enter(self, results: list[Result], **options: Any) -> None:
        report = self.act(lambda: self.campaign.record(results, **options))
        if report is not None:
            known = [result for result in results if result.compound != "nobody"]
            assert report.accepted == len(known)
            self.entered += known

    @rule(missing=st.sampled_from(["return", "failed", "other"]))
    def close(self, missing: Any) -> None:
        self.act(lambda: self.campaign.close_round(missing))

    @rule()
    def withdraw(self) -> None:
        self.act(self.campaign.withdraw_round)

    @rule(number=st.integers(1, 3), use=st.sampled_from([None, PlateUse(24, same_wells=True), PlateUse(96)]))
    def lay_out(self, number: int, use: PlateUse | None) -> None:
        self.act(lambda: self.campaign.lay_out(number, use))

    def some_number(self, data: st.DataObject) -> int:
        assume(self.entered)
        return data.draw(st.integers(1, len(self.entered)))

    @rule(data=st.data(), reason=REASONS, judgement=st.booleans())
    def exclude(self, data: st.DataObject, reason: str, judgement: bool) -> None:
        number = self.some_number(data)
        self.act(lambda: self.campaign.exclude(number, reason, judgement=judgement))

    @precondition(lambda self: any(m.excluded for m in self.campaign.status().measurements))
    @rule(data=st.data(), reason=REASONS)
    def include(self, data: st.DataObject, reason: str) -> None:
        numbers = [m.number for m in self.campaign.status().measurements if m.excluded]
        number = data.draw(st.sampled_from(numbers))
        self.act(lambda: self.campaign.include(number, reason))

    @rule(data=st.data(), value=VALUES, relation=st.sampled_from(["=", "=", "<"]), reason=REASONS)
    def correct(self, data: st.DataObject, value: float, relation: Any, reason: str) -> None:
        number = self.some_number(data)
        self.act(lambda: self.campaign.correct(number, value, relation=relation, reason=reason))

    @rule(compounds=st.lists(COMPOUNDS, min_size=1, max_size=2), rare=st.integers(0, 3))
    def mark_unavailable(self, compounds: list[int], rare: int) -> None:
        assume(rare == 0)
        self.act(lambda: self.campaign.mark_unavailable([self.ids[c] for c in compounds], "sold out"))

    @rule(lines=st.lists(st.builds(StockLine, COMPOUNDS, STATES, st.sampled_from([None, 5.0, 900.0])), max_size=6))
    def state_stock(self, lines: list[StockLine]) -> None:
        self.act(lambda: self.campaign.set_stock(lines))

    @rule()
    def undo(self) -> None:
        self.act(self.campaign.undo)

    @rule()
    def redo(self) -> None:
        self.act(self.campaign.redo)

    @precondition(lambda self: self.campaign.undo_label is not None)
    @rule()
    def undo_and_redo(self) -> None:
        self.failing = False
        before, label = self.campaign.status(), self.campaign.undo_label
        if self.act(self.campaign.undo) is None:
            return
        assert self.campaign.redo_label == label
        assert self.act(self.campaign.redo) == label
        changed = [where.split(":")[0] for where in differences(before, self.campaign.status())]
        allowed = (
            (".head", ".events")
            if not str(label).startswith("Plan")
            else (".head", ".events", ".rounds", ".open", ".confirmation.rounds")
        )
        assert not [where for where in changed if not where.startswith(allowed)]

    @rule()
    def a_write_will_fail(self) -> None:
        self.failing = True

    @rule()
    def reopen(self) -> None:
        before = self.campaign.status()
        labels = self.campaign.undo_label, self.campaign.redo_label
        self.campaign.close()
        self.campaign = Campaign.open(self.path)
        assert differences(before, self.campaign.status()) == []
        assert labels == (self.campaign.undo_label, self.campaign.redo_label)

    @rule()
    def save_copy(self) -> None:
        self.copies += 1
        path = Path(self.folder.name) / f"copy {self.copies}.assaypilot"
        self.campaign.save_copy(path)
        with Campaign.open(path) as copy:
            assert differences(self.campaign.status(), copy.status()) == []

    # -- what must hold

    @invariant()
    def it_adds_up(self) -> None:
        if not hasattr(self, "campaign"):
            return
        now, ledger = self.campaign.status(), self.campaign._ledger
        assert not now.unavailable & {order.compound for order in (now.stock.orders if now.stock else ())}
        assert sum(now.counts.values()) == len(self.ids)
        self.rounds_stay(now)
        assert [m.entered for m in now.measurements] == self.entered, "no result is lost or changed"
        assert [m.number for m in now.measurements] == list(range(1, len(self.entered) + 1))
        self.plans_are_kept(ledger)
        assert now.measured_endpoints == self.measured
        used = sum(m.n for m in now.measurements if m.round and m.endpoint in self.measured and not m.withdrawn)
        assert now.measurements_used + now.confirmation.measurements == used
        self.confirmation_adds_up(now)
        assert now.guarantee.holds == (not now.guarantee.void)
        for text in (now.statement, now.guarantee.sentence, now.goal_sentence, *now.warnings):
            assert "nan" not in text
            assert "None" not in text
        shown = now.candidates
        assert not np.isnan(shown.estimate[shown.measured > 0][shown.status[shown.measured > 0] != 3]).any()
        lost = shown.status == 3
        for array in (shown.estimate, shown.low, shown.high, shown.probability_within_epsilon, shown.posterior_low):
            assert np.isnan(array[lost]).all()
        if now.finished:
            assert now.open_round is None or now.open_round.confirmation
            assert now.phase is None
        elif now.open_round is None and now.phase is not None:
            assert now.phase.outstanding > 0, "a complete phase is decided at once"

    def confirmation_adds_up(self, now: Status) -> None:
        found = now.confirmation
        confirming = [issued for issued in now.rounds if issued.confirmation and issued.state != "withdrawn"]
        assert found.rounds == tuple(issued.number for issued in confirming)
        asked = {item.compound for issued in confirming for item in issued.items}
        assert set(found.states) == asked
        assert len(found.confirmed) + len(found.not_confirmed) + len(found.not_measured) == len(asked)
        for check in found.checks:
            values = [
                m for m in now.measurements
                if (m.compound, m.endpoint) == (check.prediction.compound, check.prediction.endpoint) and m.usable
            ]  # fmt: skip
            assert check.n == sum(m.n for m in values), "what was predicted never saw a value of its own"
        # A value that comes for a list that was withdrawn counts for its phase, whatever round was the last.
        withdrawn = {issued.phase for issued in now.rounds if issued.state == "withdrawn"}
        of_them = [m for m in now.measurements if m.round in found.rounds]
        assert all(m.phase in {0, *withdrawn} for m in of_them), "it decides nothing"
        assert not set(found.due) & now.unavailable
        assert bool(found.sentence) == bool(asked)

    def rounds_stay(self, now: Status) -> None:
        assert [issued.number for issued in now.rounds] == list(range(1, len(now.rounds) + 1))
        # A plan that was undone leaves its number to the next one.
        self.issued = {number: items for number, items in self.issued.items() if number <= len(now.rounds)}
        for issued in now.rounds:
            assert self.issued.setdefault(issued.number, issued.items) == issued.items
            assert all(0 <= back <= item.replicates for item, back in zip(issued.items, issued.returned, strict=True))
            assert issued.measurements <= max(self.per_round, len(self.measured))
            if issued.layout is not None:
                wells = sum(len(one.endpoints) for plate in issued.layout.plates for one in plate.placed)
                assert wells == issued.measurements, "every measurement stands somewhere, once"
            assert sum(issued.missing_of) == issued.missing == issued.measurements - issued.came
            for item, back in zip(issued.items, issued.back, strict=True):
                asked = [item.of(place) for place in range(len(self.measured))]
                assert all(0 <= n <= most for n, most in zip(back, asked, strict=True))
                assert max(asked) == item.replicates
            if issued.state == "withdrawn":
                assert issued.came == sum(issued.returned) == 0
        assert sum(issued.state == "open" for issued in now.rounds) <= 1

    def plans_are_kept(self, ledger: Ledger) -> None:
        for phase, decided in enumerate(ledger.phases, start=1):
            outcome = ledger.outcome(phase, decided.allocation, 0)
            assert len(outcome.counts) == len(ledger.goal_endpoints)
            assert (outcome.counts[:, decided.allocation.arms] <= decided.allocation.counts).all()
            assert outcome.counts.sum() == outcome.counts[:, decided.allocation.arms].sum()
        if ledger.under_way is None:
            return
        received = ledger.received(ledger.under_way.allocation.phase)
        left = ledger.outstanding()
        for place in itertools.product(self.measured, ledger.under_way.planned):
            planned = ledger.under_way.planned[place[1]]
            inside, lost = received.get(place, 0), ledger.under_way.lost.get(place, 0)
            assert inside <= planned
            if place[1] in ledger.unavailable:
                assert place not in left
            else:
                assert left.get(place, 0) == max(0, planned - inside - lost)


class Trader(Person):
    """The same with a goal about two endpoints."""

    endpoints = (
        Endpoint("pIC50", noise_sd=0.25),
        Endpoint("logD", noise_sd=0.3, direction="min"),
    )
    goal: ClassVar[dict[str, Any]] = {
        "goal": "pareto", "objective": "", "objectives": ("pIC50", "logD"), "epsilon": 1.5, "slack": None, "delta": 0.2,
    }  # fmt: skip
    measured = (0, 1)


class Confirmer(Person):
    """The same from the end of a campaign on, when much is in that was never measured."""

    goal: ClassVar[dict[str, Any]] = {"epsilon": 1.0, "slack": 1.0, "strategy": "adaptive"}
    sizes = (3, 3, 3)

    @initialize(per_round=st.integers(2, 12), seed=st.integers(0, 99))
    def begin(self, per_round: int, seed: int) -> None:
        super().begin(per_round, 4, None, [])
        for step in range(100):
            self.plan()
            if self.campaign.status().open_round is None:
                break
            self.record_the_round(seed=seed + step, lost=0)
        assert self.campaign.status().finished
        assert self.campaign.status().confirmation.due
        self.confirm()
        assert self.campaign.status().confirmation.rounds


def often(share: int, steps: int) -> settings:
    """A share of the examples of other tests, so many steps each."""
    examples = settings.default.max_examples // share
    return settings(max_examples=examples, stateful_step_count=steps, suppress_health_check=list(HealthCheck))


TestPerson, TestTrader, TestConfirmer = Person.TestCase, Trader.TestCase, Confirmer.TestCase
TestPerson.settings, TestTrader.settings, TestConfirmer.settings = often(4, 30), often(8, 25), often(12, 25)
