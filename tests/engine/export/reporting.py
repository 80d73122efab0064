"""Campaigns to report on: with structures or labels, one endpoint or several, decided or just begun."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pypdfium2 as pdfium
from pptx import Presentation
from pptx.enum.shapes import MSO_SHAPE_TYPE

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.settings import Settings
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.chemistry.cores import CORE_SITE
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library, Scaffold, Site
from assaypilot.engine.export.contents import Choice, Contents, contents
from tests.engine.export import making

CORE = "c1c([*:1])c2c(n1[*:3])cccc2[*:2]"
GROUPS = ("[H]", "C", "CC", "C1CC1", "OC", "C#N", "C(F)(F)F", "c1ccccc1", "N1CCOCC1")
POTENCY = Endpoint("pIC50", noise_sd=0.2)
HERG = Endpoint("hERG", noise_sd=0.3, direction="min")
HOSTILE = (
    "CPD_$1_$2%",
    "R1 $width x <$energy",
    "<img src=//host/x>",
    "&lt;b&gt;&amp;",
    "µ≥α — 化合物 7",
    "a  b\tc\x00\x0bd",
)


def indoles(sizes: tuple[int, int, int] = (4, 3, 3), ids: Sequence[str] = ()) -> Library:
    """All combinations of groups on an indole; structures are put together from the core."""
    sites = [
        Site(f"R{k + 1}", tuple(f"{group}[*:{k + 1}]" if group == "[H]" else _at(group, k + 1) for group in GROUPS[:n]))
        for k, n in enumerate(sizes)
    ]
    bare = Library.product(sites)
    names = [*ids, *(f"IND-{k + 1:04d}" for k in range(len(ids), len(bare)))]
    return Library(bare.sites, bare.codes, tuple(names), None, scaffold=Scaffold((CORE,), ((CORE_SITE, CORE),)))


def _at(group: str, number: int) -> str:
    return f"[*:{number}]{group}"


def labels(sizes: tuple[int, ...] = (4, 3, 3), ids: Sequence[str] = ()) -> Library:
    """All combinations of substituents that are names only."""
    words = ("H", "Me", "Et", "cPr", "OMe", "CN", "CF3", "Ph", "morpholino")
    bare = Library.product([Site(f"R{k + 1}", words[:n]) for k, n in enumerate(sizes)])
    names = [*ids, *(f"CPD-{k + 1:04d}" for k in range(len(ids), len(bare)))]
    return Library(bare.sites, bare.codes, tuple(names))


def truth(library: Library, endpoint: int) -> np.ndarray:
    """The mean of every compound for an endpoint, by its position: additive."""
    rng = np.random.default_rng((7, endpoint))
    effects = [rng.normal(0.0, 0.5, len(site.substituents)) for site in library.sites]
    return 6.5 + sum(one[library.codes[:, k]] for k, one in enumerate(effects))


def begin(folder: Path, library: Library, *endpoints: Endpoint, name: str = "Indoles", **settings: Any) -> Campaign:
    """A new campaign; within 0.5 of the best of the first endpoint unless other settings are given."""
    endpoints = endpoints or (POTENCY,)
    proven = {"pareto": "gege", "best": "rage"}.get(settings.get("goal", ""), "linfact-g")
    given = {
        "objective": endpoints[0].name,
        "epsilon": 0.5,
        "slack": 0.5,
        "per_round": 96,
        "max_replicates": 8,
        "strategy": "gaussian-process" if any(one.limit for one in endpoints) else proven,
    } | settings
    if given.get("goal") == "pareto":
        given |= {"objective": "", "objectives": tuple(endpoint.name for endpoint in endpoints), "slack": None}
    return Campaign.create(
        folder / "reported.assaypilot",
        library=library,
        endpoints=list(endpoints),
        settings=Settings(**given),
        name=name,
    )


def play(campaign: Campaign, rounds: int = 200, *, seed: int = 5) -> Status:
    """The campaign after so many rounds, or when nothing more is asked."""
    now = campaign.status()
    means = [truth(now.library, k) for k in range(len(now.endpoints))]
    return making.play(campaign, rounds, seed=seed, mean=lambda k, compound: float(means[k][compound]))


WHEN = "2030-01-02 03:04 +00:00"


def said(status: Status, choice: Choice | None = None, **texts: str) -> Contents:
    """What an export says, by a program and at a time that are always the same."""
    given = {"program": "AssayPilot 9.9", "exported": WHEN, "file": "x.assaypilot"} | texts
    return contents(status, choice, **given)


def pages(data: bytes) -> list[str]:
    """The text of each page of a PDF; lines run together as a reader would."""
    with pdfium.PdfDocument(data) as read:
        found = [read[k].get_textpage().get_text_range() for k in range(len(read))]
    return [" ".join(text.replace("\ufffe", "").split()) for text in found]


def slide_of(data: bytes) -> Any:
    """The only slide of a presentation."""
    made = Presentation(io.BytesIO(data))
    assert len(made.slides) == 1
    return made.slides[0]


def everything(shapes: Any) -> list[Any]:
    """All shapes, those in groups too."""
    found = []
    for shape in shapes:
        found.append(shape)
        if shape.shape_type == MSO_SHAPE_TYPE.GROUP:
            found += everything(shape.shapes)
    return found


def words(slide: Any) -> str:
    """The texts of a slide, those of its tables last."""
    texts = [shape.text_frame.text for shape in everything(slide.shapes) if shape.has_text_frame]
    for shape in slide.shapes:
        if shape.has_table:
            texts += [cell.text for row in shape.table.rows for cell in row.cells]
    return "\n".join(texts)
