"""GEGE: Fig. 1 (fixed budget) and 2 (fixed confidence) on growing tables, Fig. 3 and 4 on NoC."""

from __future__ import annotations

from typing import Any

from assaypilot.engine.simulate.scores import error_limits
from tests.published.cases import Case, Found, ratio
from tests.published.section import Claim, Lookup, Section, Verdict, as_often_right, fewer

NOC = "noc_CM_log_kone.csv"
SIMPLE = {"radii": "simplified", "first_radius": 0.25}
PROVEN = {"radii": "proven", "first_radius": 0.25, "decide": "planned"}
ARMS = (10, 50, 200, 500)
_T = 3000
_FLAT = 1.3
_END = 1_000_000
_SHORT = 0.5
"""Length of the first arms where the others are to matter."""


def _table(arms: int) -> str:
    return f"gege-synthetic:arms={arms}"


TABLES = tuple(map(_table, ARMS))
SHORT = tuple(f"{table},length={_SHORT}" for table in TABLES)
"""The same means, but the added arms are longer than the first eight, so that designs use them and K can matter."""


def _flat(name: str) -> Claim:
    def check(by: Lookup) -> Verdict:
        # With more arms designs have more to choose from, so the smallest table is left out.
        first, last = by[SHORT[1], name], by[SHORT[-1], name]
        _, low, high = ratio(last, first)
        means = [by[table, name].measurements for table in SHORT]
        facts = ", ".join(f"K = {k}: {mean:,.0f} ± {half:,.0f}" for k, (mean, half) in zip(ARMS, means, strict=True))
        holds = True if high < _FLAT else False if low > _FLAT else None
        return Verdict(holds, f"{name}: {facts}; run by run {low:.2f} to {high:.2f} times")

    return Claim(f"Fig. 2: from K = 50 to 500 the measurements of {name} grow less than {_FLAT} times.", check)


def _shares(by: Lookup, name: str, tables: tuple[str, ...]) -> tuple[list[Found], str]:
    found = [by[table, name] for table in tables]
    facts = ", ".join(
        f"K = {one.case.instance.partition('=')[2].partition(',')[0]}: {one.errors / len(one.runs):.3f} of"
        f" {len(one.runs)}"
        for one in found
    )
    return found, f"{name}, misidentified: {facts}"


def _steady(by: Lookup) -> Verdict:
    """Whether errors with 500 arms are at most 1.3 times those with 50, beyond the intervals of both."""
    found, facts = _shares(by, "GEGE", SHORT)
    (low, _), (_, high) = (error_limits(one.errors, len(one.runs)) for one in (found[1], found[-1]))
    if high <= _FLAT * low:
        return Verdict(True, facts)
    (_, most), (least, _) = (error_limits(one.errors, len(one.runs)) for one in (found[1], found[-1]))
    return Verdict(False if least > _FLAT * most else None, facts)


def _grows(by: Lookup) -> Verdict:
    found, facts = _shares(by, "EGE-SH", TABLES[:3])
    return Verdict(error_limits(found[-1].errors, len(found[-1].runs))[0] > found[0].upper, facts)


def _fixed_budget() -> tuple[Case, ...]:
    cases = []
    for arms in ARMS:
        at = {"budget": _T}
        cases.append(Case(SHORT[ARMS.index(arms)], "gege-fixed-budget", 500, {}, "GEGE", **at))
        cases += [
            Case(_table(arms), "gege-fixed-budget", 500, {}, "GEGE", **at),
            Case(_table(arms), "uniform", 60, {"at_budget": "guess"}, "uniform, linear model", **at),
            Case(_table(arms), "ege-sr", 60, {}, "EGE-SR", **at),
        ]
        # At least one measurement of each in every of its log2 K rounds.
        if arms * arms.bit_length() <= _T:
            cases.append(Case(_table(arms), "ege-sh", 500, {}, "EGE-SH", **at))
    cases.append(Case(_table(ARMS[-1]), "ege-sh", 300, {}, "EGE-SH", budget=2 * _T))
    cases.append(Case(_table(50), "gege-fixed-budget", 300, {}, "GEGE at T = H2 = 150", budget=150))
    return tuple(cases)


BUDGET = Section(
    "gege-budget",
    "GEGE, Fig. 1: misidentification by K with a fixed budget",
    "The synthetic instance (h = 8, d = 2, SD 1): the complexities H1 = 216, H2 = 150 are the same for every K. The"
    f" paper takes T = H2 of its own arms, which it does not print; on ours that is too few for anybody, so T = {_T:,}"
    f" (EGE-SH at K = 500 needs at least 500 x 9, so {2 * _T:,} there). The first eight arms are an optimal design"
    " whatever K is, so GEGE does the same in every run. Where they have half the length of the others, the others are"
    " measured, and K can matter.",
    _fixed_budget(),
    (
        Claim(
            "Fig. 1: from K = 50 to 500 the error rate of GEGE grows less than 1.3 times (half the length).", _steady
        ),
        Claim("Fig. 1: the error rate of EGE-SH grows with K (10 to 200; 500 needs a larger budget).", _grows),
        Claim("GEGE is right at least as often as EGE-SH.", as_often_right(TABLES[:3], "GEGE", "EGE-SH")),
    ),
    "share misidentified",
    "errors",
)


def _fixed_confidence() -> tuple[Case, ...]:
    cases = []
    for table, short, arms in zip(TABLES, SHORT, ARMS, strict=True):
        # Errors of the simplified sizes are never put right, and then it goes on without end.
        cases += [
            Case(short, "gege", 60, SIMPLE, "GEGE, simplified", budget=_END),
            Case(short, "gege", 60, PROVEN, "GEGE, proven"),
            Case(short, "gege", 60, {}, "GEGE, as the app runs it"),
            Case(table, "gege", 60, SIMPLE, "GEGE, simplified", budget=_END),
            Case(table, "gege", 60, PROVEN, "GEGE, proven"),
            Case(table, "gege", 60, {}, "GEGE, as the app runs it"),
            Case(table, "adaptive", 30, {}, "adaptive"),
        ]
        if arms <= 200:
            cases += [
                Case(table, "ape", 30, {"radii": "simplified", "batch": 2000}, "APE, simplified"),
                Case(table, "ape", 30, {"batch": 5000}, "APE, proven"),
            ]
    return tuple(cases)


CONFIDENCE = Section(
    "gege",
    "GEGE, Fig. 2: measurements by K with fixed confidence",
    "The same tables at delta 0.01. Simplified as in the papers' experiments for both: GEGE t_r = h_r log(1 / delta_r)"
    " / eps_r^2, APE without its union; proven for both: all that the proofs need. First gap 1/4. APE looks in"
    f" batches of 2,000 and 5,000. Simplified runs have at most {_END:,} measurements.",
    _fixed_confidence(),
    (
        _flat("GEGE, simplified"),
        _flat("GEGE, proven"),
        _flat("GEGE, as the app runs it"),
        Claim(
            "Fig. 2: GEGE takes fewer than APE, both simplified.",
            fewer(TABLES[:3], "GEGE, simplified", "APE, simplified"),
        ),
        Claim(
            "The same, both proven.",
            fewer(TABLES[:3], "GEGE, proven", "APE, proven"),
            "GEGE's proven sizes ask for 5 h / kappa_r^2 measurements a phase and for every mean within a quarter of"
            " the gap, whatever was seen; APE stops by its own intervals.",
        ),
        Claim(
            "The same with the sizes GEGE's own bounds need.",
            fewer(TABLES[:3], "GEGE, as the app runs it", "APE, proven"),
            "APE decides after every batch by all measurements so far, GEGE at a phase's end by that phase's alone;"
            " with so few distinct directions that outweighs what the linear model saves.",
        ),
        Claim(
            "Ours: adaptive takes at most half of what GEGE takes as the app runs it.",
            fewer(TABLES, "adaptive", "GEGE, as the app runs it", 0.5),
        ),
    ),
    "measurements",
)

_QUIET = (0.05, 0.05)


_LIMIT, _CUT = {"budget": 100_000}, 10
"""Where APE is stopped, and its runs there: all take exactly so many, a quarter of a minute each."""


def _table_of(name: str, file: str, runs: int) -> tuple[Case, ...]:
    def case(strategy: str, runs: int, parameters: dict[str, Any], label: str, **more: Any) -> Case:
        return Case(name, strategy, runs, parameters, label, file=file, **more)

    quiet = {"noise": _QUIET}
    return (
        case("gege", runs, SIMPLE, "SD 0.05: GEGE, simplified", **quiet),
        case("gege", runs, SIMPLE | {"decide": "planned"}, "SD 0.05: GEGE, simplified, planned", **quiet),
        case("gege", runs, PROVEN, "SD 0.05: GEGE, proven", **quiet),
        case("gege", runs, {}, "SD 0.05: GEGE, as the app runs it", **quiet),
        case("adaptive", 5, {}, "SD 0.05: adaptive", **quiet),
        case("gege-fixed-budget", 60, {}, "SD 0.05: GEGE, T = 2,500", budget=2500, **quiet),
    )


def _noc() -> tuple[Case, ...]:
    def case(strategy: str, runs: int, parameters: dict[str, Any], label: str, **more: Any) -> Case:
        return Case("gege-noc", strategy, runs, parameters, label, file=NOC, **more)

    quiet = {"noise": _QUIET}
    simple = {"radii": "simplified", "batch": 5000}
    return (
        case("gege", 30, SIMPLE, "GEGE, simplified"),
        case("gege", 30, SIMPLE | {"decide": "planned"}, "GEGE, simplified, planned"),
        case("gege", 30, PROVEN, "GEGE, proven"),
        case("gege", 30, {}, "GEGE, as the app runs it"),
        case("ape", _CUT, simple, "APE, simplified, to 100,000", **_LIMIT),
        *_table_of("gege-noc", NOC, 30),
        case("ape", _CUT, simple, "SD 0.05: APE, simplified, to 100,000", **_LIMIT, **quiet),
        case("ape", _CUT, {"batch": 5000}, "SD 0.05: APE, proven, to 100,000", **_LIMIT, **quiet),
        case("ege-sh", 60, {}, "SD 0.05: EGE-SH, T = 2,500", budget=2500, **quiet),
    )


REAL = Section(
    "gege-noc",
    "GEGE, Fig. 3 and 4: NoC, 259 designs",
    "The means are the least-squares fit of the table, delta 0.01. The paper does not print the noise. With SD 1 in the"
    " table's units (H1 = 639,000) APE is far from its end after 100,000 measurements; with SD 0.05 (H1 = 1,600) sizes"
    " are such that both are of use.",
    _noc(),
    (
        Claim(
            "Fig. 4: GEGE takes fewer than APE, both simplified.",
            fewer(("gege-noc",), "SD 0.05: GEGE, simplified", "SD 0.05: APE, simplified, to 100,000"),
        ),
        Claim(
            "The same, both proven (APE's runs end at 100,000, undecided).",
            fewer(("gege-noc",), "SD 0.05: GEGE, as the app runs it", "SD 0.05: APE, proven, to 100,000"),
            "APE was stopped at 100,000 before its end, so this says nothing against GEGE.",
        ),
        Claim(
            "Fig. 3: GEGE misidentifies less often than EGE-SH at the same budget.",
            as_often_right(("gege-noc",), "SD 0.05: GEGE, T = 2,500", "SD 0.05: EGE-SH, T = 2,500"),
        ),
        Claim(
            "Ours: adaptive takes at most a tenth of GEGE's as the app runs it.",
            fewer(("gege-noc",), "SD 0.05: adaptive", "SD 0.05: GEGE, as the app runs it", 0.1),
        ),
    ),
)

ENERGY = Section(
    "gege-energy",
    "GEGE, appendix I.2: energy efficiency, 768 buildings",
    "The means are the least-squares fit of the table, delta 0.1, two loads to be small. The paper does not print the"
    " noise; SD 0.05 of the table's units.",
    _table_of("gege-energy", "ENB2012_hds.csv", 30),
    (
        Claim(
            "Ours: adaptive takes at most a tenth of GEGE's as the app runs it.",
            fewer(("gege-energy",), "SD 0.05: adaptive", "SD 0.05: GEGE, as the app runs it", 0.1),
        ),
    ),
)

SECTIONS = (BUDGET, CONFIDENCE, REAL, ENERGY)
