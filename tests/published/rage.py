"""RAGE, section 5: its order beside XY-static and the oracle on five instances."""

from __future__ import annotations

from tests.published.cases import Case
from tests.published.section import Claim, Section, fewer, near

PRINTED = {"radii": "as_printed", "first_radius": 0.5, "decide": "planned"}
TIGHT = {"radii": "tight", "first_radius": 0.5}
INSTANCES = ("rage-soare", "rage-moderate", "rage-sphere", "rage-transductive", "rage-multivariate")
RUNS = 30


def _of(name: str) -> tuple[Case, ...]:
    return (
        Case(name, "rage", RUNS, PRINTED, "RAGE, as printed"),
        Case(name, "rage", RUNS, {"first_radius": 0.5}, "RAGE, proven"),
        Case(name, "rage", RUNS, TIGHT, "RAGE, tight"),
        Case(name, "adaptive", RUNS, {}, "adaptive"),
        Case(name, "xy-adaptive", RUNS, {}, "XY-Adaptive"),
        Case(name, "alba", RUNS, {}, "ALBA"),
        Case(name, "static-xy", RUNS, {}, "XY-static"),
        Case(name, "oracle", RUNS, {}, "oracle"),
    )


SWEEPS = (
    *(f"rage-soare:d={d}" for d in (10, 20, 35)),
    *(f"rage-moderate:arms={arms}" for arms in (10, 1000)),
    *(f"rage-sphere:arms={arms}" for arms in (10, 1000)),
    *(f"rage-transductive:d={d}" for d in (10, 40)),
    *(f"rage-multivariate:factors={factors}" for factors in (4, 8)),
)


def _swept(name: str) -> tuple[Case, ...]:
    return (
        Case(name, "rage", RUNS, PRINTED, "RAGE, as printed"),
        Case(name, "rage", RUNS, TIGHT, "RAGE, tight"),
        Case(name, "static-xy", RUNS, {}, "XY-static"),
        Case(name, "oracle", RUNS, {}, "oracle"),
    )


SECTIONS = (
    Section(
        "rage",
        "RAGE, section 5: Fig. 1 and 2",
        f"delta 0.05, SD 1, {RUNS} runs (the paper: 20); figures without numbers. Soare's instance with d = 5, 100 arms"
        " with moderate gaps, 100 points on a sphere (d = 9), transductive d = 20, 6 factors with interactions. As"
        " printed: the paper's radii (1/2, 1/4, ...), its rounding and its delta_t; tight: a union over the pairs with"
        " the best alone, realised bounds.",
        (
            *(case for name in INSTANCES for case in _of(name)),
            Case("rage-moderate", "lingape", RUNS, {"batch": 100}, "LinGapE"),
            Case("rage-sphere", "lingape", RUNS, {"batch": 100}, "LinGapE"),
        ),
        (
            Claim(
                "RAGE takes fewer than XY-static on all five.",
                fewer(INSTANCES, "RAGE, as printed", "XY-static"),
                "on the sphere many gaps are about as wide as the tightest, so elimination saves little, while a phase"
                " that halves the radius forgets the ones before; XY-static pools everything.",
            ),
            Claim("The same with tight radii.", fewer(INSTANCES, "RAGE, tight", "XY-static")),
            Claim(
                "RAGE is close to the oracle (within 3 times).",
                fewer(INSTANCES, "RAGE, as printed", "oracle", 3.0),
                "every phase starts anew, all pairs are in the union, and the radius halves past the gap.",
            ),
            Claim("The same with tight radii.", fewer(INSTANCES, "RAGE, tight", "oracle", 3.0)),
            Claim(
                "Nobody is better than the oracle.",
                fewer(INSTANCES, "oracle", "RAGE, tight"),
                "the oracle looks when its measurements have grown by a tenth, RAGE at the end of a phase.",
            ),
            Claim(
                "Fig. 1a: XY-Adaptive is nearly equivalent to RAGE (within twice either way).",
                near("rage-soare", "XY-Adaptive", "RAGE, as printed", 2.0),
            ),
            Claim(
                "ALBA takes more than RAGE on all five.",
                fewer(INSTANCES, "RAGE, as printed", "ALBA"),
                "where gaps are wide one G-optimal design of means is enough, and ALBA starts at wider gaps.",
            ),
            Claim(
                "Ours: adaptive takes at most half of RAGE's, tight.", fewer(INSTANCES, "adaptive", "RAGE, tight", 0.5)
            ),
        ),
        "measurements",
    ),
    Section(
        "rage-sweeps",
        "RAGE, section 5: Fig. 1 and 2 over dimensions and numbers of compounds",
        "The other points of the figures' axes; otherwise as above.",
        tuple(case for name in SWEEPS for case in _swept(name)),
        (
            Claim("RAGE takes fewer than XY-static.", fewer(SWEEPS, "RAGE, as printed", "XY-static")),
            Claim("The same with tight radii.", fewer(SWEEPS, "RAGE, tight", "XY-static")),
            Claim("RAGE, tight, is within 3 times the oracle.", fewer(SWEEPS, "RAGE, tight", "oracle", 3.0)),
        ),
    ),
)
