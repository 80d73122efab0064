"""A sparse series made smaller as a table is read: sites left out, rare substituents with their compounds."""

from __future__ import annotations

from collections.abc import Sequence

from ..domain.labels import label_text
from ..domain.library import Library
from ..errors import AssayPilotError
from ..models.sparse import Step, Thinned, drop_site, keep_seen, merge_substituents
from .options import TableMapping
from .raw import Problem


def thin(
    library: Library, mapping: TableMapping, rows: Sequence[int], of_row: list[int], problems: list[Problem]
) -> tuple[Library, tuple[Step, ...]]:
    """Return the library after the steps the mapping asks for, and the steps.

    ``of_row`` is the compound of each row (by its position in ``library``), -1 where the row is not used: rows of
    compounds that are taken out become -1, each with a problem. ``rows`` are the rows' numbers.
    """
    steps = []
    for text in mapping.joined:
        thinned = merge_substituents(library, *_joined(text))
        library = thinned.library
        steps.append(thinned.step)
    for name in mapping.drop_sites:
        thinned = drop_site(library, name)
        library = thinned.library
        steps.append(thinned.step)
    if mapping.min_seen > 1:
        thinned = keep_seen(library, mapping.min_seen)
        steps.append(thinned.step)
        _take_out(library, thinned, mapping.min_seen, rows, of_row, problems)
        library = thinned.library
    return library, tuple(steps)


def _joined(text: str) -> tuple[str, tuple[str, ...], str]:
    """Site, labels and new name of ``SITE:LABEL,LABEL=NAME``; a label may hold =, as SMILES do, the name may not."""
    site, colon, rest = text.partition(":")
    labels, equals, name = rest.rpartition("=")
    if not (site.strip() and colon and equals and labels.strip() and name.strip()):
        raise AssayPilotError(
            f"{text!r} is not SITE:LABEL,LABEL=NAME", option="--join-substituents", mend="For example R1:Me,Et=alkyl."
        )
    return site, tuple(label.strip() for label in labels.split(",") if label.strip()), name.strip()


def _take_out(
    full: Library,
    thinned: Thinned,
    least: int,
    rows: Sequence[int],
    of_row: list[int],
    problems: list[Problem],
) -> None:
    left = {site.name: set(site.substituents) for site in thinned.library.sites}
    stays = set(thinned.kept.tolist())
    for place, compound in enumerate(of_row):
        if compound < 0 or compound in stays:
            continue
        carried = full.substituents(compound)
        gone = [name for name, label in carried.items() if label not in left.get(name, (label,))]
        site = next(iter(gone or [name for name in carried if name not in left]))
        problems.append(
            Problem(
                rows[place],
                site,
                f"{label_text(carried[site])} is carried by fewer than {least} of the compounds that stay (--min-seen)",
            )
        )
        of_row[place] = -1
