"""Random sequences of everything a person can do, changed terms among them: what must hold, always holds."""

from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import rule

from assaypilot.engine.campaign.change_effects import ENDS
from assaypilot.engine.campaign.changes import Change
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.domain.library import Library
from tests.engine.campaign import test_campaign_stateful as people


class Mover(people.Person):
    """Somebody who changes the terms, and looks up the reasons for what is decided."""

    goal: ClassVar[dict[str, Any]] = {"epsilon": 1.0, "slack": 1.0, "strategy": "linfact-g"}

    @property
    def ids(self) -> tuple[str, ...]:
        return self.campaign.status().library.ids if hasattr(self, "campaign") else self.at_first

    @ids.setter
    def ids(self, value: tuple[str, ...]) -> None:
        self.at_first = value

    def changed(self, change: Change) -> None:
        def both() -> Status:
            said = self.campaign.consequences(change)
            assert said
            assert not [text for text in said if "None" in text or "nan" in text]
            proven = self.campaign.status().claim.kind != "calibrated"
            now = self.campaign.change(change)
            assert (now.claim.kind != "calibrated") == (proven and ENDS not in said)
            return now

        self.act(both)

    @rule(epsilon=st.sampled_from([0.3, 0.6, 1.0, 1.5]), slack=st.sampled_from([None, 0.5, 1.0]))
    def another_goal(self, epsilon: float, slack: float | None) -> None:
        self.changed(Change(epsilon=epsilon, slack=slack))

    @rule(delta=st.sampled_from([0.01, 0.05, 0.2]), sd=st.sampled_from([0.2, 0.25, 0.4]))
    def another_confidence_or_noise(self, delta: float, sd: float) -> None:
        self.changed(Change(delta=delta, noise={"pIC50": sd}))

    @rule(per_round=st.integers(2, 12), budget=st.sampled_from([None, 20, 60]), replicates=st.integers(1, 4))
    def another_capacity(self, per_round: int, budget: int | None, replicates: int) -> None:
        self.per_round = max(self.per_round, per_round)
        self.changed(Change(per_round=per_round, budget=budget, max_replicates=replicates))

    @rule(name=st.sampled_from("CDE"), at=st.sampled_from("ABC"))
    def add(self, name: str, at: str) -> None:
        rows, ids = [[name, at], ["A", name]], [f"n-{name}{at}", f"m-{name}{at}"]
        self.act(lambda: self.campaign.add_compounds(Library.listed(["R1", "R2"], rows, ids=ids)))

    @rule()
    def explain(self) -> None:
        told = self.campaign.reasons()
        for compound in range(len(self.ids)):
            told.of(compound)


class Walker(Mover):
    """The same with adaptive."""

    goal: ClassVar[dict[str, Any]] = {"epsilon": 1.0, "slack": 1.0, "strategy": "adaptive"}


TestMover, TestWalker = Mover.TestCase, Walker.TestCase
TestMover.settings = TestWalker.settings = people.often(12, 20)
