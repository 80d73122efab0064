"""RAGE, section 5: its order beside XY-static and the oracle on five instances."""

from __future__ import annotations

from tests.published.cases import Case
from tests.published.section import Claim, Section, fewer

PRINTED = {"radii": "as_printed", "first_radius": 0.5, "decide": "planned"}
TIGHT = {"radii": "tight", "first_radius": 0.5}
INSTANCES = ("rage-soare", "rage-moderate", "rage-sphere", "rage-transductive", "rage-multivariate")
RUNS = 20


def _of(name: str) -> tuple[Case, ...]:
    return (
        Case(name, "rage", RUNS, PRINTED, "RAGE, as printed"),
        Case(name, "rage", RUNS, {"first_radius": 0.5}, "RAGE, proven"),
        Case(name, "rage", RUNS, TIGHT, "RAGE, tight"),
        Case(name, "static-xy", RUNS, {}, "XY-static"),
        Case(name, "oracle", RUNS, {}, "oracle"),
    )


SECTIONS = (
    Section(
        "rage",
        "RAGE, section 5: Fig. 1 and 2",
        f"delta 0.05, SD 1, {RUNS} runs as in the paper; figures without numbers. Soare's instance with d = 5, 100 arms"
        " with moderate gaps, 100 points on a sphere (d = 9), transductive d = 20, 6 factors with interactions. As"
        " printed: the paper's radii (1/2, 1/4, ...), its rounding and its delta_t; tight: a union over the pairs with"
        " the best alone, realised bounds.",
        (
            *(case for name in INSTANCES for case in _of(name)),
            Case("rage-moderate", "lingape", 3, {"batch": 100}, "LinGapE"),
            Case("rage-sphere", "lingape", 3, {"batch": 100}, "LinGapE"),
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
        ),
        "measurements",
    ),
)
