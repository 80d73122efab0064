"""Strategies to compare with, which no campaign offers, and what several of them share."""

from __future__ import annotations

from ...strategies.phased import settled
from ...strategies.protocol import UNDECIDED, Parameter, State, StopReason

AT_BUDGET = Parameter(
    "at_budget",
    "undecided",
    "undecided: what is not proven stays open; guess: the estimates decide it, without a promise",
)
BATCH = Parameter("batch", None, "measurements per phase; none: the lab's round, or 1 without a capacity")
BEST_GUESS = "a fixed budget promises no error probability: the answer is the best guess it allows"


def settled_or_spent(state: State) -> tuple[StopReason, ...]:
    """Return the reason to stop when everything is decided or the budget is used up; empty otherwise."""
    done, budget = settled(state), state.problem.budget
    if done or budget is None or budget - state.spent >= 1:
        return done
    open_arms = int(((state.status == UNDECIDED) & state.problem.wanted).sum())
    text = f"the budget of {budget} measurements is used up"
    return (StopReason("budget", text, {"left": budget - state.spent, "needed": 1, "undecided": open_arms}),)
