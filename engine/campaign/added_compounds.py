"""More compounds in the middle of a campaign, possibly with new substituents.

After results that ends a proof, as results may have guided the choice of compounds: the series model continues.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..chemistry.cores import with_structures
from ..domain.controls import find_control
from ..domain.library import Library, Site
from ..errors import AssayPilotError
from ..strategies.protocol import Calibrated
from ..strategies.registry import SERIES
from ..text import listed as names
from ..text import many
from . import codec
from .change_effects import effects_in_words
from .changes import Change, add_change, nothing_of_the_plan, refuse_open_round
from .events.fold import Work
from .events.terms import CombinationsListed, CompoundsAdded
from .file.chain import as_parts
from .issued_rounds import Source
from .preconditions import check_campaign
from .replay import Ledger


def consequences_of_adding(ledger: Ledger, compounds: Library) -> tuple[str, ...]:
    """Return what more compounds do, in sentences, before it is done; AssayPilotError when that is refused."""
    work = Work(ledger)
    add_compounds(work, compounds)
    after, data = work.ledger, work.drafts[-1].data
    brought = [
        f"{site.name} = {label}"
        for old, site in zip(ledger.library.sites, after.library.sites, strict=True)
        for label in site.substituents[len(old.substituents) :]
    ]
    sentences = [f"Adds {many(data['compounds'], 'compound')}, to {many(len(after.library), 'compound')} in all."]
    if brought:
        sentences.append(f"{many(len(brought), 'substituent')} new: {names(brought)}.")
    return (*sentences, *effects_in_words(ledger, after, data)[1:])


def add_compounds(work: Work, compounds: Library, note: str = "", source: Source | None = None) -> None:
    """Add the events that add compounds, and the parts they name; AssayPilotError when that is refused.

    Under a strategy that proves the first one hands a campaign with results over to the series model.
    """
    if work.ledger.seen() and not work.ledger.calibrated:
        add_change(work, Change(strategy=SERIES))
    _add(work, compounds, note, codec.source_to_json(source))


def list_combinations(work: Work) -> None:
    """List more combinations before a phase is planned, where there are too many to list them all.

    Those that may be the best by what was measured; none without any value, and none that is new.
    """
    ledger = work.ledger
    strategy, library = ledger.strategy, ledger.library
    if not library.partial or ledger.under_way is not None or not isinstance(strategy, Calibrated):
        return
    state = ledger.current()
    more = with_structures(library.combined(strategy.search(state))) if strategy.has_values(state) else ()
    if more:
        _add(work, more, "", None, CombinationsListed)


def _add(
    work: Work,
    compounds: Library,
    note: str,
    source: Mapping[str, Any] | None,
    kind: type[CompoundsAdded] = CompoundsAdded,
) -> None:
    ledger = work.ledger
    library = extended(ledger.library, compounds)
    if len(library) == len(ledger.library):
        raise AssayPilotError("all these compounds are in the campaign already")
    refuse_open_round(ledger)
    _refuse_controls(ledger, library)
    drops = nothing_of_the_plan(ledger)
    if ledger.under_way is not None and not drops:
        left = sum(ledger.outstanding().values())
        raise AssayPilotError(
            f"phase {ledger.under_way.allocation.phase} is under way and bounds the compounds it was planned for",
            mend=f"Finish it first: {many(left, 'measurement')} to come.",
        )
    blobs = as_parts(library.encode())
    (digest,) = blobs
    data = {
        "how": "void" if ledger.seen() else "free",
        "compounds": len(library) - len(ledger.library),
        "changes": [{"what": "compounds", "endpoint": None, "before": len(ledger.library), "after": len(library)}],
        "drops_plan": drops,
        "source": source,
        "note": " ".join(note.split()),
        "part": digest,
    }
    work.add(kind.draft(data), parts=blobs)
    check_campaign(ledger)


def _refuse_controls(ledger: Ledger, library: Library) -> None:
    """Raise AssayPilotError when a new compound is called as a control: its values would be of either."""
    for name in library.ids[len(ledger.library) :] if ledger.settings.controls else ():
        if find_control(ledger.settings.controls, name) is not None:
            raise AssayPilotError(
                f"{name} is a control of this campaign, so no compound can be called so", mend="Give it another id."
            )


def extended(library: Library, more: Library) -> Library:
    """Return the library with the compounds of another at its end, without those it has already.

    AssayPilotError for other sites, and for an id that belongs to another compound.
    """
    own = {site.name.casefold(): place for place, site in enumerate(library.sites)}
    theirs = [own.get(site.name.casefold(), -1) for site in more.sites]
    if sorted(theirs) != list(range(len(library.sites))):
        expected, found = (", ".join(site.name for site in one.sites) for one in (library, more))
        raise AssayPilotError(f"the campaign has the sites {expected}, these compounds {found}", option="--sites")
    labels = [list(site.substituents) for site in library.sites]
    codes, ids, smiles, available = [], [], [], []
    for row, name in enumerate(more.ids):
        code = np.zeros(len(labels), dtype=np.int32)
        for place, site, of_row in zip(theirs, more.sites, more.codes[row], strict=True):
            label = site.substituents[of_row]
            if label not in labels[place]:
                labels[place].append(label)
            code[place] = labels[place].index(label)
        known = library.find(name)
        if known is not None:
            if not np.array_equal(library.codes[known], code):
                raise AssayPilotError(f"{name} is there already, with other substituents", mend="Give it another id.")
            continue
        codes.append(code)
        ids.append(name)
        smiles.append("" if more.smiles is None else more.smiles[row])
        available.append(bool(more.measurable[row]))
    before = library.smiles or ("",) * len(library)
    structures = (*before, *smiles)
    return Library(
        tuple(Site(site.name, tuple(own_labels)) for site, own_labels in zip(library.sites, labels, strict=True)),
        np.vstack([library.codes, *codes]),
        (*library.ids, *ids),
        structures if any(structures) else None,
        np.concatenate([library.measurable, np.array(available, dtype=bool)]),
        library.scaffold,
        library.aliases,
        library.interactions,
        library.partial,
        _structures(library, more),
    )


def _structures(library: Library, more: Library) -> tuple[tuple[str, str, str], ...]:
    """Return the structures of named substituents of both; the first takes precedence."""
    own = {site.name.casefold(): site.name for site in library.sites}
    known = {(own[site.casefold()], label): smiles for site, label, smiles in more.structures}
    known |= {(site, label): smiles for site, label, smiles in library.structures}
    return tuple((site, label, smiles) for (site, label), smiles in known.items())


def refuse_used(ledger: Ledger, added: int) -> None:
    """Raise AssayPilotError when a result or a round names one of the compounds added last."""
    old = len(ledger.library) - added
    in_rounds = any(item.compound >= old for issued in ledger.rounds for item in issued.items)
    if in_rounds or any(m.compound >= old for m in ledger.measurements):
        raise AssayPilotError(
            "the compounds added last are in rounds or results, so they stay",
            mend="Mark them as unavailable instead.",
        )
