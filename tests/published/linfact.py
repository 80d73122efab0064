"""LinFACT: Table 1's nine settings (Fig. 5 and 6), and the 960 compounds of Fig. 8."""

from __future__ import annotations

from tests.published.cases import Case
from tests.published.section import Claim, Section, better, fewer

PAPER = {"decide": "planned", "first_radius": 0.5}
"""As in the paper: planned radii 1/2, 1/4, ..."""
SETTINGS = tuple(f"linfact-{number}" for number in range(1, 10))
ADAPTIVE, STATIC = SETTINGS[:6], SETTINGS[6:]
G, XY, PRINTED = "LinFACT-G", "LinFACT-XY", "LinFACT-XY, as printed"
TOLD = ("m-LinGapE, told m", "LinGIFA, told m")
GUESSED = ("BayesGap", "KGCB")
_EPSILON = (0.1, 0.2, 0.3, 0.1, 0.2, 0.3, 0.5, 0.5, 0.5)
_BATCH = (500, 200, 100, 500, 200, 100, 20, 20, 20)
_GUESSES = 5000
RUNS = 30
"""Of each strategy; every one is compared with others on the same draws."""


def _of_setting(number: int) -> list[Case]:
    name, batch, slack = SETTINGS[number], {"batch": _BATCH[number]}, _EPSILON[number]
    looks = {"batch": 20_000 if batch["batch"] == 500 else 20 * batch["batch"]}
    guess = {"batch": 100}
    return [
        Case(name, "linfact-g", RUNS, PAPER, G),
        Case(name, "linfact-xy", RUNS, PAPER, XY),
        Case(name, "linfact-xy-as-printed", RUNS, PAPER, PRINTED),
        Case(name, "linfact-g", RUNS, {}, "LinFACT-G, as the app runs it"),
        Case(name, "linfact-xy", RUNS, {}, "LinFACT-XY, as the app runs it"),
        Case(name, "adaptive", RUNS, {}, "adaptive"),
        Case(name, "oracle", RUNS, {}, "oracle"),
        Case(name, "m-lingape", RUNS, batch, TOLD[0], told_slack=slack),
        Case(name, "lingifa", RUNS, batch, TOLD[1], told_slack=slack),
        Case(name, "m-lingape", RUNS, batch | {"m": None}, "m-LinGapE, m by the estimate", told_slack=slack / 10),
        Case(name, "lazy-tts", RUNS, looks, "Lazy TTS"),
        Case(name, "bayesgap", RUNS, guess, "BayesGap", budget=_GUESSES),
        Case(name, "kgcb", RUNS, guess, "KGCB", budget=_GUESSES),
    ]


SYNTHETIC = Section(
    "linfact",
    "LinFACT, Table 1: Fig. 5 (F1) and Fig. 6 (measurements)",
    "Settings 1 to 6 are adaptive (d = 8, 12; epsilon 0.1, 0.2, 0.3), 7 to 9 static (d = 8, 12, 16). The figures print"
    " no numbers; what is published is their order. The paper does not say its delta; here it is 0.05, SD 1. LinFACT as"
    " in the paper: planned radii 1/2, 1/4, .... The top-m methods are told m = 4, the mean of what is drawn, as in the"
    " paper, and stop when nobody left out can be better than one returned by more than epsilon (without such a"
    " tolerance they never stop where more than m compounds are equally good); they look in batches of"
    f" {', '.join(map(str, sorted(set(_BATCH))))} measurements, Lazy TTS in larger ones, told the border. BayesGap and"
    f" KGCB have {_GUESSES:,} measurements.",
    tuple(case for number in range(9) for case in _of_setting(number)),
    (
        Claim(
            "Fig. 5: LinFACT's F1 is above that of the top-m methods, BayesGap and KGCB.",
            better(SETTINGS, (G, XY, PRINTED), (*TOLD, *GUESSED)),
            "a method with a fixed budget can guess right where gaps are wide.",
        ),
        Claim(
            "Fig. 6, adaptive: LinFACT-XY takes fewer measurements than LinFACT-G.",
            fewer(ADAPTIVE, XY, G),
        ),
        Claim(
            "The same with eq. 22 as printed.",
            fewer(ADAPTIVE, PRINTED, G),
            "as printed every difference is measured to C_r where the rule spends 2 C_r, four times what it needs.",
        ),
        Claim(
            "Fig. 6, static: LinFACT-G takes fewer than LinFACT-XY (as printed).",
            fewer(STATIC, G, PRINTED),
        ),
        Claim(
            "The same against LinFACT-XY with the measurements its rule needs.",
            fewer(STATIC, G, XY),
            "with a quarter of the printed measurements XY is ahead in static settings, too.",
        ),
        Claim(
            "Fig. 6, adaptive: LinFACT-G takes about as many as LinGIFA (within 3 times).",
            fewer(ADAPTIVE, G, TOLD[1], 3.0),
            "a top-m method with a tolerance of epsilon leaves the border undecided, which is what is hard; its answer"
            " is wrong whenever the number of good compounds is not m.",
        ),
        Claim(
            "Fig. 6, static: LinFACT-G takes fewer than LinGIFA.",
            fewer(STATIC, G, TOLD[1]),
            "LinGIFA pools all measurements and stops at a weaker statement (4 of the best, whatever their number).",
        ),
        Claim("Fig. 6: Lazy TTS takes more than LinFACT-XY.", fewer(SETTINGS, XY, "Lazy TTS")),
        Claim("The oracle, who knows the truth, takes fewer than LinFACT-XY.", fewer(SETTINGS, "oracle", XY)),
        Claim("Ours: adaptive takes at most half of LinFACT-XY's.", fewer(SETTINGS, "adaptive", XY, 0.5)),
        Claim(
            "Ours: adaptive takes fewer than the oracle allocation, which proves what it knows by one design.",
            fewer(SETTINGS, "adaptive", "oracle"),
            "its error probability is shared among fewer statements, and it stops compound by compound.",
        ),
    ),
    "measurements",
)

_BASE = "practice-960"
_TABLE = "linfact-960"


def _figure_8() -> tuple[Case, ...]:
    cases = [
        Case(_BASE, "linfact-g", RUNS, {}, G),
        Case(_BASE, "linfact-xy", RUNS, {}, XY),
        Case(_BASE, "linfact-xy-as-printed", RUNS, {}, PRINTED),
        Case(_BASE, "adaptive", RUNS, {}, "adaptive"),
        Case(_BASE, "static-g", RUNS, {}, "static G"),
        Case(_BASE, "oracle", RUNS, {}, "oracle"),
        Case(_BASE, "lingifa", RUNS, {"batch": 100}, TOLD[1]),
        Case(_BASE, "lingifa", RUNS, {"batch": 100, "m": None}, "LinGIFA, m by the estimate"),
        Case(_BASE, "m-lingape", RUNS, {"batch": 100}, TOLD[0]),
        Case(_BASE, "m-lingape", RUNS, {"batch": 100, "m": None}, "m-LinGapE, m by the estimate"),
    ]
    for delta in (0.1, 0.5, 0.9):
        cases += [
            Case(_TABLE, "linfact-g", RUNS, PAPER, f"{G}, delta {delta}", delta=delta),
            Case(_TABLE, "linfact-xy", RUNS, PAPER, f"{XY}, delta {delta}", delta=delta),
        ]
    # Without slack every plan is one for hundreds of compounds near the border: 20 s a run.
    cases.append(Case(_TABLE, "adaptive", 6, {}, "adaptive, delta 0.1", delta=0.1))
    return tuple(cases)


DRUGS = Section(
    "linfact-960",
    "LinFACT, section 7.2: 960 compounds, 20 of them good (Fig. 8)",
    "practice-960 is the shipped synthetic table of that shape (within 0.5, slack 0.25, SD 0.2, delta 0.05);"
    " linfact-960 has the paper's epsilon of 4.325 and SD 1 on synthetic effects without slack; the paper does not"
    " print its coefficients. Figures without numbers.",
    _figure_8(),
    (
        Claim("F1 of LinFACT stays near 1.", better((_BASE,), (G, XY), (TOLD[0],))),
        Claim("LinFACT-XY takes the fewest, then LinFACT-G.", fewer((_BASE,), XY, G)),
        Claim(
            "LinFACT-G takes fewer than LinGIFA.",
            fewer((_BASE,), G, TOLD[1]),
            "with a slack LinGIFA may stop as soon as no pair across its border can differ by more; it is told m = 20,"
            " pools all measurements, and promises only the best 20, not all within 0.5.",
        ),
        Claim("The same when LinGIFA takes m from its estimate.", fewer((_BASE,), G, "LinGIFA, m by the estimate")),
        Claim(
            "LinFACT-G takes fewer than m-LinGapE.",
            fewer((_BASE,), G, TOLD[0]),
            "m-LinGapE first measures all 960 compounds once, which already tells the border to within the slack.",
        ),
        Claim("The oracle takes fewer than LinFACT-XY.", fewer((_BASE,), "oracle", XY)),
        Claim("Ours: adaptive takes at most a third of LinFACT-G's.", fewer((_BASE,), "adaptive", G, 1 / 3)),
    ),
    "measurements",
)

SECTIONS = (SYNTHETIC, DRUGS)
