"""Seconds per run against Table 2 of LinFACT and Table 2 of GEGE, and peak memory: each case in its own process."""

from __future__ import annotations

from dataclasses import dataclass

from tests.published.cases import DATA, Case
from tests.published.child import Measured, measure
from tests.published.gege import NOC
from tests.published.linfact import PAPER, SETTINGS

MOST_MEMORY = 300
"""MB."""


@dataclass(frozen=True)
class Timed:
    """A case, what its paper's Table 2 says (ms), and ours to be under (ms)."""

    case: Case
    published: float | None = None
    bar: float | None = None


@dataclass(frozen=True)
class MachineSection:
    """Cases one after the other, never two at once."""

    name: str
    title: str
    intro: str
    timed: tuple[Timed, ...]

    def markdown(self, factor: float) -> str:
        """The section; there is no picture."""
        lines = [f"## {self.title}", "", self.intro, ""]
        lines += [
            "| instance | strategy | runs | first run, ms | later runs, ms (median) | published, ms | to be under, ms |"
            " peak MB | |",
            "|---|---|---|---|---|---|---|---|---|",
        ]
        slow, large, there = [], [], [one for one in self.timed if not one.case.file or (DATA / one.case.file).exists()]
        for one in there:
            found = measure(one.case.scaled(factor))
            lines.append(_row(one, found, one.case.scaled(factor).runs))
            if one.bar is not None and 1e3 * found.later > one.bar:
                slow.append(f"{one.case.instance} {one.case.name}")
            if found.peak is not None and found.peak > MOST_MEMORY:
                large.append(f"{one.case.instance} {one.case.name}")
        bars = sum(one.bar is not None for one in there)
        lines += ["", *([f"- Under the bar: {bars - len(slow)} of {bars}{_named(slow)}."] if bars else [])]
        lines += [f"- Peak memory under {MOST_MEMORY} MB: {len(there) - len(large)} of {len(there)}{_named(large)}."]
        return "\n".join(lines) + "\n"


def _named(names: list[str]) -> str:
    return f"; not: {', '.join(names)}" if names else ""


def _row(one: Timed, found: Measured, runs: int) -> str:
    under = "" if one.bar is None else "ok" if 1e3 * found.later <= one.bar else "ABOVE"
    peak = "-" if found.peak is None else f"{found.peak:.0f}"
    return (
        f"| {one.case.instance} | {one.case.name} | {runs} | {1e3 * found.first:.1f} | {1e3 * found.later:.1f} |"
        f" {'-' if one.published is None else f'{one.published:g}'} | {'-' if one.bar is None else f'{one.bar:g}'} |"
        f" {peak} | {under} |"
    )


_G = (28, 30, 28, 78, 78, 76, 5, 7, 9)
_XY = (37, 38, 38, 163, 155, 145, 15, 28, 49)
_BARS = {"G": (3, 3, 3, 8, 8, 8, 1, 1, 1), "XY": (10, 10, 10, 30, 30, 30, 10, 10, 10)}
_OTHERS = {
    "BayesGap": (112, 110, 110, 306, 304, 307, 36, 71, 112),
    "LinGIFA": (313, 265, 236, 1943, 1484, 1424, 160, 529, 1297),
    "m-LinGapE": (195, 166, 157, 1362, 1053, 984, 116, 352, 932),
    "Lazy TTS": (991, 3904, 12512, 24583, 26941, 25622, 198, 871, 2164),
    "KGCB": (1990, 1936, 1670, 6245, 6611, 6082, 303, 745, 1386),
}
_WITH = {
    "BayesGap": ("bayesgap", {"batch": 1}, {"budget": 1000}),
    "LinGIFA": ("lingifa", {"batch": 1}, {"told_slack": 0.5}),
    "m-LinGapE": ("m-lingape", {"batch": 1}, {"told_slack": 0.5}),
    "Lazy TTS": ("lazy-tts", {"batch": 10}, {}),
    "KGCB": ("kgcb", {"batch": 1}, {"budget": 1000}),
}


def _linfact() -> tuple[Timed, ...]:
    out = []
    for number, name in enumerate(SETTINGS):
        out += [
            Timed(Case(name, "linfact-g", 40, PAPER, "LinFACT-G"), _G[number], _BARS["G"][number]),
            Timed(Case(name, "linfact-xy", 40, PAPER, "LinFACT-XY"), _XY[number], _BARS["XY"][number]),
            Timed(Case(name, "linfact-xy-as-printed", 40, PAPER, "LinFACT-XY, as printed"), _XY[number]),
        ]
    for label, (strategy, parameters, more) in _WITH.items():
        out.append(Timed(Case("linfact-7", strategy, 4, parameters, label, **more), _OTHERS[label][6]))
    out.append(Timed(Case("practice-960", "linfact-g", 10, {}, "LinFACT-G, whole campaign"), None, 100))
    out.append(Timed(Case("practice-960", "linfact-xy", 5, {}, "LinFACT-XY, whole campaign")))
    return tuple(out)


_GEGE = {
    "gege-10-2-2": (6, 217),
    "gege-50-8-2": (7, 464),
    "gege-100-8-4": (545, 791),
    "gege-200-8-8": (768, 1139),
    "gege-500-8-8": (1013, 2425),
}
_SIMPLE = {"radii": "simplified", "first_radius": 0.25}


def _gege() -> tuple[Timed, ...]:
    out = []
    for name, (confidence, budget) in _GEGE.items():
        bar = 50 if name == "gege-500-8-8" else None
        out += [
            Timed(Case(name, "gege", 30, {}, "GEGE, delta 0.1"), confidence, bar),
            Timed(Case(name, "gege", 30, _SIMPLE, "GEGE, delta 0.1, simplified"), confidence, bar),
            Timed(Case(name, "gege-fixed-budget", 30, {}, "GEGE, T = 500", budget=500), budget, bar),
        ]
    return tuple(out)


def _memory() -> tuple[Timed, ...]:
    large, off = "practice-960", {"model_error": 0.005}
    return tuple(
        map(
            Timed,
            (
                Case(large, "linfact-mis", 2, off, "LinFACT-MIS, least squares"),
                Case(large, "linfact-glm", 2, {}, "LinFACT-GLM, identity"),
                Case("gege-noc", "gege", 3, {"radii": "proven"}, "GEGE", file=NOC),
                Case("gege-500-8-8", "ape", 2, {"batch": 500}, "APE to 5,000", budget=5000),
                Case("gege-500-8-8", "ege-sh", 2, {}, "EGE-SH", budget=6000),
                Case("rage-multivariate", "rage", 3, {}, "RAGE"),
                Case("rage-sphere:arms=1000", "rage", 2, {"radii": "tight"}, "RAGE, 1,000 arms"),
                Case("lingame-sphere-12", "lingame", 2, {"batch": 50, "threshold": "experiments"}, "LinGame"),
                Case("lingame-sphere-12", "lingame-c", 2, {"batch": 50, "threshold": "experiments"}, "LinGame-C"),
                Case(large, "lingifa", 2, {"batch": 100}, "LinGIFA to 200", budget=200),
                Case(large, "m-lingape", 2, {"batch": 100}, "m-LinGapE", budget=2000),
                Case(large, "static-g", 2, {}, "static G"),
                Case(large, "oracle", 2, {}, "oracle"),
                Case("gse-sphere:arms=1000", "gse", 3, {}, "GSE"),
                Case("gse-logistic-12", "gse", 3, {"model": "logistic"}, "GSE, logistic"),
                Case("gse-sphere:arms=64", "bayesgap", 2, {"batch": 10}, "BayesGap"),
                Case("gse-sphere:arms=64", "lazy-tts", 2, {"batch": 10}, "Lazy TTS"),
                Case("gse-sphere:arms=64", "od-linbai", 2, {}, "OD-LinBAI"),
            ),
        )
    )


SECTIONS = (
    MachineSection(
        "seconds-linfact",
        "LinFACT, Table 2: seconds per run",
        "Each row is a process of its own, alone on its core; processor time of the strategy and the assay. LinFACT as"
        " in the paper (planned radii 1/2, 1/4, ..., delta 0.05). Every run draws its own table, so no design is known"
        " beforehand but that of the basis (static settings) and, on practice-960, that of the first phases: its first"
        " run is cold. The others, on setting 7, look after every measurement (Lazy TTS after 10); BayesGap and KGCB"
        " have 1,000 measurements, because the paper does not say how many.",
        _linfact(),
    ),
    MachineSection(
        "seconds-gege",
        "GEGE, Table 2: milliseconds per run, [K, h, d]",
        "As above. The paper does not say how its instances were made: here features are random directions and effects"
        " normal, so that gaps differ from draw to draw.",
        _gege(),
    ),
    MachineSection(
        "memory",
        f"Memory: peak resident size of a process of its own, under {MOST_MEMORY} MB",
        "Libraries included. The sections on seconds show it for theirs.",
        _memory(),
    ),
)
