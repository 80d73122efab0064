"""Small pictures of sections: what each strategy came to on each instance, with 95 % intervals."""

from __future__ import annotations

from pathlib import Path

from tests.published.cases import Found, interval
from tests.published.section import Section

FOLDER = Path(__file__).with_name("pictures")
LARGEST = 100_000
"""Bytes."""


def draw(section: Section, found: list[Found]) -> Path | None:
    """The picture's file; None for a section without one."""
    if not section.figure or not found:
        return None
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    instances = list(dict.fromkeys(one.case.instance for one in found))
    names = list(dict.fromkeys(one.case.name for one in found))
    colours = plt.get_cmap("tab20")
    with mpl.rc_context({"svg.hashsalt": section.name, "svg.fonttype": "none", "font.size": 8}):
        figure, axes = plt.subplots(figsize=(8.0, 3.6), layout="constrained")
        for number, name in enumerate(names):
            points = [
                (instances.index(one.case.instance), *_shown(section, one)) for one in found if one.case.name == name
            ]
            shift = 0.6 * (number / max(len(names) - 1, 1) - 0.5)
            axes.errorbar(
                [at + shift for at, _, _ in points],
                [value for _, value, _ in points],
                yerr=[half for _, _, half in points],
                fmt="o",
                markersize=3,
                linewidth=1,
                color=colours(number % 20),
                label=name,
            )
        if section.shows == "measurements":
            axes.set_yscale("log")
        else:
            axes.set_ylim(-0.02, 1.02)
        axes.set_xticks(range(len(instances)), [_short(name) for name in instances])
        axes.set_ylabel(section.figure)
        figure.legend(loc="outside right upper", frameon=False, fontsize=7)
        FOLDER.mkdir(exist_ok=True)
        file = FOLDER / f"{section.name}.svg"
        figure.savefig(file, metadata={"Date": None, "Creator": None})
        plt.close(figure)
    text = file.read_text(encoding="utf-8")
    file.write_text("\n".join(line.rstrip() for line in text.splitlines()) + "\n", encoding="utf-8", newline="\n")
    assert file.stat().st_size < LARGEST
    return file


def _short(name: str) -> str:
    """An instance's name in two lines at most."""
    return name.replace(":", "\n")


def _shown(section: Section, one: Found) -> tuple[float, float]:
    """What is shown of a case, and the half-width of its 95 % interval."""
    if section.shows == "measurements":
        mean, half = one.measurements
        return mean, min(half, 0.9 * mean)
    if section.shows == "errors":
        return interval([float(run.wrong) for run in one.runs])
    return interval([float(run.right) for run in one.runs])
