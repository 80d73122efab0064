"""``strategies`` and ``datasets``: what the program brings along."""

from __future__ import annotations

from typing import Any

from ..text.documents import pick
from .console import Reply, table

_CHOOSERS: tuple[dict[str, Any], ...] = tuple(
    {
        "name": name,
        "title": title,
        "goals": ["epsilon-best", "pareto", "best", "top"],
        "parameters": [],
        "guarantee": "that of the strategy it takes",
        "baseline": False,
        "source": "AssayPilot",
        "version": 1,
    }
    for name, title in (
        ("auto", "Calibrated on real series: gaussian-process (the default)"),
        ("proven", "Proven if effects add up: the one that needs the fewest measurements for goal, limits and size"),
    )
)
"""Names that ``new`` and ``simulate`` take beside those of strategies."""


def strategies(*_: object) -> Reply:
    """Return the strategies and baselines by name, with their parameters."""
    from ..simulate.comparison import baselines
    from ..strategies.registry import failed, strategies

    listed = (*strategies(), *baselines())
    document = [
        {
            **pick(strategy.info, "name title goals guarantee baseline source version"),
            "parameters": [pick(knob, "name default meaning") for knob in strategy.info.parameters],
        }
        for strategy in listed
    ]
    document = [*_CHOOSERS, *document]
    lines = [f"{chooser['name']}: {chooser['title']}" for chooser in _CHOOSERS]
    for strategy in listed:
        info = strategy.info
        lines += [
            f"{info.name}: {info.title}",
            f"  answers: {', '.join(info.goals)}{' (only for comparison, in simulate)' if info.baseline else ''}",
            f"  {info.guarantee}",
            f"  source: {info.source}",
            *table(
                ["Parameter", "Default", "Meaning"],
                [
                    (knob.name, "none" if knob.default is None else knob.default, knob.meaning)
                    for knob in info.parameters
                ],
                indent="  ",
            ),
        ]
    lines += [f"Not available: {why}" for why in failed().values()]
    return Reply(document, lines)


def datasets(*_: object) -> Reply:
    """Return the tables that come with the program; each can be given to ``check`` and ``new`` by its file."""
    from assaypilot import datasets as shipped

    tables = [shipped.load(name) for name in shipped.names()]
    document = [
        {
            **pick(entry, "name title rows sites endpoints source licence synthetic"),
            "file": str(entry.path),
        }
        for entry in tables
    ]
    lines: list[str] = []
    for entry in tables:
        lines += [
            f"{entry.name}: {entry.title}",
            f"  {entry.rows} rows; sites {', '.join(entry.sites)}; endpoints {', '.join(entry.endpoints)}",
            f"  source: {entry.source}",
            f"  licence: {entry.licence}",
            f"  file: {entry.path}",
        ]
    return Reply(document, lines)
