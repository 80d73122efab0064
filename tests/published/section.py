"""Sections of the report as data: cases, what the paper says of them, and how that is looked up in what came out."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass

from tests.published.cases import DATA, Case, Found, Kept, ratio, run_all

Lookup = dict[tuple[str, str], Found]
"""By instance and the name of the strategy."""


@dataclass(frozen=True)
class Verdict:
    """Whether a published statement holds here; None: the runs do not tell."""

    holds: bool | None
    facts: str

    @classmethod
    def of(cls, each: list[bool | None], facts: str) -> Verdict:
        """Of several instances: false where one is, true where all are."""
        return cls(False if False in each else None if None in each else True, facts)


@dataclass(frozen=True)
class Claim:
    """A statement of a paper, how it is looked up, and in one line why it does not hold when it does not."""

    text: str
    check: Callable[[Lookup], Verdict]
    why: str = ""


@dataclass(frozen=True)
class Section:
    """Some cases that belong together."""

    name: str
    title: str
    intro: str
    cases: tuple[Case, ...]
    claims: tuple[Claim, ...] = ()
    figure: str = ""
    """What the picture's y axis says; no picture when empty."""
    shows: str = "measurements"
    """What the picture shows: measurements, accuracy or errors."""

    def markdown(self, factor: float, pool: Executor, kept: Kept | None = None) -> tuple[str, list[Found]]:
        """The section, and what was found, for its picture."""
        there = [case.scaled(factor) for case in self.cases if not case.file or (DATA / case.file).exists()]
        missing = sorted({case.file for case in self.cases if case.file and not (DATA / case.file).exists()})
        lines = [f"## {self.title}", "", self.intro, ""]
        if missing:
            lines += [f"Skipped, because the shared data folder has no {', '.join(missing)}.", ""]
        found = run_all(there, pool, kept)
        by = {(one.case.instance, one.case.name): one for one in found}
        if found:
            lines += [table(found), "", *gives_up(found)]
        lines += claims(self.claims, by)
        return "\n".join(lines).rstrip() + "\n", found


def table(found: list[Found]) -> str:
    """One row per case."""
    lines = [
        "| instance | strategy | runs | F1 | wrong | open | measurements, mean ± 95 % | published | ms per run |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for one in found:
        mean, half = one.measurements
        width = f" ± {half:,.0f}" if len(one.runs) > 1 else ""
        lines.append(
            f"| {one.case.instance} | {one.case.name} | {len(one.runs)} | {one.f1[0]:.3f} | {one.errors} | {one.open} |"
            f" {mean:,.0f}{width} | {one.case.published} | {1e3 * one.seconds:,.1f} |"
        )
    return "\n".join(lines)


def gives_up(found: list[Found]) -> list[str]:
    """Lines that name what the parameters of some strategies give up."""
    by: dict[str, list[str]] = {}
    for one in found:
        for reason in one.void:
            if one.case.name not in (names := by.setdefault(reason, [])):
                names.append(one.case.name)
    if not by:
        return []
    return ["Given up:", "", *(f"- {', '.join(names)}: {reason}." for reason, names in by.items()), ""]


def claims(asked: tuple[Claim, ...], by: Lookup) -> list[str]:
    """Lines that say of every statement whether it holds."""
    lines = []
    for claim in asked:
        try:
            verdict = claim.check(by)
        except KeyError:
            verdict = Verdict(None, "not run here")
        word = {True: "holds", False: "DOES NOT HOLD", None: "not told apart"}[verdict.holds]
        why = f" Why: {claim.why}" if verdict.holds is False and claim.why else ""
        lines.append(f"- {claim.text} **{word}**: {verdict.facts}.{why}")
    return lines


def fewer(instances: tuple[str, ...], one: str, other: str, most: float = 1.0) -> Callable[[Lookup], Verdict]:
    """Whether one takes at most ``most`` times the measurements of another, on the same draws."""

    def check(by: Lookup) -> Verdict:
        pairs = [(name, *ratio(by[name, one], by[name, other])) for name in instances]
        facts = ", ".join(f"{name} {mean:.2g} ({low:.2g} to {high:.2g})" for name, mean, low, high in pairs)
        each = [True if high <= most else False if low > most else None for _, _, low, high in pairs]
        return Verdict.of(each, f"{one} / {other}: {facts}")

    return check


def near(instance: str, one: str, other: str, most: float) -> Callable[[Lookup], Verdict]:
    """Whether two take as many measurements as each other, to a factor of ``most``."""

    def check(by: Lookup) -> Verdict:
        mean, low, high = ratio(by[instance, one], by[instance, other])
        holds = True if low >= 1 / most and high <= most else False if high < 1 / most or low > most else None
        return Verdict(holds, f"{one} / {other}: {instance} {mean:.2g} ({low:.2g} to {high:.2g})")

    return check


def better(instances: tuple[str, ...], ones: tuple[str, ...], others: tuple[str, ...]) -> Callable[[Lookup], Verdict]:
    """Whether the F1 of each of some is at least that of each of others."""

    def check(by: Lookup) -> Verdict:
        facts, each = [], []
        for name in instances:
            least = min(by[name, one].f1 for one in ones)
            most = max(by[name, other].f1 for other in others)
            each.append(_at_least(least[0] - most[0], math.hypot(_known(least[1]), _known(most[1]))))
            facts.append(f"{name} {least[0]:.3f} against {most[0]:.3f}")
        return Verdict.of(each, f"least of {', '.join(ones)} against most of {', '.join(others)}: {', '.join(facts)}")

    return check


def as_often_right(instances: tuple[str, ...], one: str, other: str) -> Callable[[Lookup], Verdict]:
    """Whether one is right at least as often as another; by Agresti and Caffo's interval of the difference."""

    def check(by: Lookup) -> Verdict:
        facts, each = [], []
        for name in instances:
            shares, spread = [], 0.0
            for found in (by[name, one], by[name, other]):
                right, runs = sum(run.right for run in found.runs), len(found.runs)
                p = (right + 1) / (runs + 2)
                shares.append(p)
                spread += p * (1 - p) / (runs + 2)
            each.append(_at_least(shares[0] - shares[1], 1.96 * math.sqrt(spread)))
            facts.append(f"{name} {by[name, one].accuracy:.3f} against {by[name, other].accuracy:.3f}")
        return Verdict.of(each, f"right answers, {one} against {other}: {', '.join(facts)}")

    return check


def _at_least(difference: float, half: float) -> bool | None:
    """Whether a difference is at least 0, beyond its interval; equal is."""
    if difference == 0 and half == 0:
        return True
    return True if difference - half >= 0 else False if difference + half < 0 else None


def _known(half: float) -> float:
    return 1.0 if math.isinf(half) else half


def at_most(instance: str, name: str, limit: float) -> Callable[[Lookup], Verdict]:
    """Whether the mean number of measurements is at most a limit."""

    def check(by: Lookup) -> Verdict:
        mean, half = by[instance, name].measurements
        holds = True if mean + half <= limit else False if mean - half > limit else None
        return Verdict(holds, f"{name} {mean:,.0f} ± {half:,.0f}, at most {limit:,.0f}")

    return check
