"""A small campaign to export: structures, several endpoints, and ids and texts that formats stumble over."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.issued_rounds import Round
from assaypilot.engine.campaign.settings import Settings
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.chemistry.cores import CORE_SITE
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library, Scaffold, Site
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.export.sheet import Sheet

CORE = "c1cc([*:1])ccc1[*:2]"
"""Symmetric on purpose: only what stands at its sites says which end is which."""
SITES = (
    Site("R1", ("[H][*:1]", "C[*:1]", "Cl[*:1]")),
    Site("R2", ("[H][*:2]", "F[*:2]", "OC(C=C[*:2])=O")),
)
SMILES = (
    "c1ccccc1",
    "Fc1ccccc1",
    "O=C(O)C=Cc1ccccc1",
    "Cc1ccccc1",
    "Cc1ccc(F)cc1",
    "Cc1ccc(C=CC(=O)O)cc1",
    "Clc1ccccc1",
    "Fc1ccc(Cl)cc1",
    "O=C(O)C=Cc1ccc(Cl)cc1",
)
NASTY = (
    "CPD_$1_$2%",
    "=1+1",
    "<img src=//host/x>",
    "-5",
    "@SUM(A1:A9)",
    "0012",
    "_x0041_ & co",
    "Ünïcödé 化合物 😀",
    "'quoted \"twice\"', with; both",
)
"""Ids that some format takes for something else: a formula, markup, a number, an escape."""
MEASURABLE = (True, True, True, True, True, False, True, True, False)
"""Two of the nine could only be made."""
TRUTH = (6.0, 6.6, 5.2, 6.4, 7.0, 5.6, 5.7, 6.3, 4.9)
IC50 = Endpoint("IC50", unit="nM", transform="log", noise_sd=0.2)
HERG = Endpoint("hERG", noise_sd=0.3, direction="min")


def nasty_library(
    ids: Sequence[str] = NASTY, smiles: Sequence[str] | None = SMILES, measurable: Sequence[bool] | None = None
) -> Library:
    """Nine compounds of three by three substituents."""
    codes = np.array([(a, b) for a in range(3) for b in range(3)], dtype=np.int32)
    flags = np.ones(9, dtype=bool) if measurable is None else np.array(measurable)
    scaffold = Scaffold((CORE,), ((CORE_SITE, CORE),))
    return Library(SITES, codes, tuple(ids), None if smiles is None else tuple(smiles), flags, scaffold)


def plain_library() -> Library:
    """The same nine with labels only: nobody knows their structures."""
    sites = [Site("R1", ("H", "Me", "Cl")), Site("R2", ("H", "F", "vinyl"))]
    return Library.product(sites)


def begin(path: Path, library: Library | None = None, **changes: object) -> Campaign:
    """A campaign on the nine compounds, nothing measured."""
    settings: dict[str, object] = {"objective": "IC50", "epsilon": 0.5, "per_round": 40, "max_replicates": 8, "seed": 2}
    endpoints: Sequence[Endpoint] = changes.pop("endpoints", (IC50,))  # type: ignore[assignment]  # what a test asks for
    proven = {"pareto": "gege", "best": "rage"}.get(str(changes.get("goal")), "linfact-g")
    settings["strategy"] = "gaussian-process" if any(one.limit for one in endpoints) else proven
    history = changes.pop("history", ())
    return Campaign.create(
        path,
        library=nasty_library() if library is None else library,
        endpoints=endpoints,
        settings=Settings(**(settings | changes)),  # type: ignore[arg-type]  # likewise
        history=history,  # type: ignore[arg-type]  # likewise
    )


def planned(folder: Path, library: Library | None = None, **changes: object) -> tuple[Status, Round]:
    """The status of a new campaign whose first round was issued, and that round."""
    with begin(folder / "a.assaypilot", library, **changes) as campaign:
        issued = campaign.plan()
        return campaign.status(), issued  # type: ignore[return-value]  # a new campaign has one


def play(
    campaign: Campaign, rounds: int = 40, *, seed: int = 5, mean: Callable[[int, int], float] | None = None,
    **sides: str,
) -> Status:  # fmt: skip
    """The status after so many rounds, or when nothing more is asked; ``sides`` go with every result.

    ``mean``: of an endpoint and a compound, by their positions; by default that of ``TRUTH``, 1.5 less of hERG.
    """
    rng = np.random.default_rng(seed)
    now = campaign.status()
    mean = mean or (lambda k, compound: TRUTH[compound] - (1.5 if now.endpoints[k].name == "hERG" else 0.0))
    for _ in range(rounds):
        issued = campaign.plan()
        if issued is None:
            break
        results = []
        for item in issued.items:
            for place, k in enumerate(issued.endpoints):
                endpoint = now.endpoints[k]
                drawn = mean(k, item.compound) + (endpoint.noise_sd or 0.0) * rng.standard_normal(item.of(place))
                name = now.library.ids[item.compound]
                results += [Result(name, endpoint.from_model(float(x)), endpoint.name, **sides) for x in drawn]  # type: ignore[arg-type]  # texts
        campaign.record(results, close=True)
    return campaign.status()


def as_dicts(sheet: Sheet) -> list[dict[str, object]]:
    return [dict(zip(sheet.header, row, strict=True)) for row in sheet.rows]
