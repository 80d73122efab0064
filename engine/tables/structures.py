"""The structures of a table: salts are removed, equal compounds and the cores and sites are found."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ..chemistry.proposing import Proposal
from ..domain.library import Library, Scaffold
from ..errors import AssayPilotError
from ..system.guarded import TooLong, TooMuch, guarded
from ..system.progress import Report, part_of, silent
from ..text import listed
from .options import EndpointColumn, TableMapping
from .raw import Problem, RawTable, Said, fold
from .values import is_missing, parse_value

UNKNOWN = "(unknown)"
"""The text in the columns of sites for a row that was not decomposed; the row is in ``unusable``."""
_NAMED = 3
_PART = 0.3
"""The share of structures in the time of an import."""
_LISTED = 100
"""Merged compounds that are all named; the others are in the library."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A table whose structures have been read."""

    raw: RawTable
    """Structures in one spelling; with cores, a column for each site behind the others."""
    mapping: TableMapping
    """With cores, its sites are these columns."""
    unusable: frozenset[int] = frozenset()
    """The rows, by place, that cannot be used because of their structure; each has its problem."""
    scaffold: Scaffold | None = None
    """The cores, when sites were made from structures."""
    aliases: tuple[tuple[str, str], ...] = ()
    """Ids that were merged into another on request, each with that one."""


def read_structure_column(raw: RawTable, mapping: TableMapping, findings: Said, report: Report = silent) -> Prepared:
    """Return the table with its structures read; problems and warnings are added to ``findings``.

    Without a core a structure that cannot be read is left out and its row stays. AssayPilotError when a core was
    given that cannot be used.
    """
    if mapping.smiles is None:
        if mapping.cores:
            raise AssayPilotError(
                "a core was given, but the table has no column of structures",
                file=raw.file,
                option="--core",
                mend="Name it.",
            )
        return Prepared(raw, mapping)
    from ..chemistry.structures import read_structures, salt_note

    report = part_of(report, 0.0, _PART)
    texts = raw.column(mapping.smiles)
    found = read_structures(
        ["" if is_missing(text) else text for text in texts],
        part_of(report, 0.0, 0.4),
        ours=raw.spelled == mapping.smiles,
    )
    reasons: dict[int, str] = {}
    for place, structure in enumerate(found):
        if structure.reason and (structure.text or mapping.cores):
            reasons[place] = structure.reason
    without = "" if mapping.cores else "; the compound has no picture"
    findings.problems.extend(Problem(raw.rows[place], mapping.smiles, why + without) for place, why in reasons.items())
    findings.warnings.extend(filter(None, [salt_note(found)]))
    raw = raw.with_columns({mapping.smiles: [structure.smiles for structure in found]})
    raw, aliases = _merged_or_named(raw, mapping, findings.warnings, part_of(report, 0.4, 0.5))
    if not mapping.cores:
        return Prepared(raw, mapping, aliases=aliases)
    decomposed = _decomposed(raw, mapping, reasons, findings, part_of(report, 0.5, 1.0))
    return replace(decomposed, aliases=aliases)


def on_scaffold(library: Library, prepared: Prepared, rows: Sequence[Sequence[str]]) -> Library:
    """Return the library with its cores and the substituents shared by all compounds at positions without a site.

    ``rows`` are the substituents of each compound at the sites of the mapping.
    """
    if prepared.scaffold is None:
        return library
    varied = {site.name for site in library.sites}
    common = tuple((site, rows[0][place]) for place, site in enumerate(prepared.mapping.sites) if site not in varied)
    return replace(library, scaffold=replace(prepared.scaffold, fixed=(*prepared.scaffold.fixed, *common)))


def _merged_or_named(
    raw: RawTable, mapping: TableMapping, warnings: list[str], report: Report
) -> tuple[RawTable, tuple[tuple[str, str], ...]]:
    """Return the table in which, on request, ids of one compound are one id, and the others with it.

    Else they are named.
    """
    if mapping.id is None or mapping.smiles is None:
        return raw, ()
    from ..chemistry.structures import same_structure

    ids, smiles = raw.column(mapping.id), raw.column(mapping.smiles)
    known = [text if not is_missing(name) else "" for name, text in zip(ids, smiles, strict=True)]
    forms = mapping.merge if mapping.merge == "charge" or mapping.merge == "tautomer" else "none"
    groups = same_structure(ids, known, forms, report)
    if not groups:
        return raw, ()
    shown = listed([" and ".join(group[:2]) for group in groups], _NAMED, "; ")
    many = "structure stands" if len(groups) == 1 else "structures stand"
    if mapping.merge == "no":
        warnings.append(
            f"{len(groups):,} {many} under more than one id ({shown}); they stay separate compounds. "
            "To count them as one, merge identical structures."
        )
        return raw, ()
    every = listed([f"{group[0]} is also {', '.join(group[1:])}" for group in groups], _LISTED, "; ")
    warnings.append(
        f"{len(groups):,} {many} under more than one id, merged under the first; results under any of them count for "
        f"it ({every})."
    )
    aliases = tuple((other, group[0]) for group in groups for other in group[1:])
    first = {name: group[0] for group in groups for name in group}
    drawn = {name: text for name, text in zip(reversed(ids), reversed(known), strict=True) if text}
    merged = [first.get(name, name) for name in ids]
    # Charge forms and tautomers are drawn as the first of them, or they would carry different substituents.
    same = [
        drawn.get(name, text) if old in first else text for old, name, text in zip(ids, merged, smiles, strict=True)
    ]
    return raw.with_columns({mapping.id: merged, mapping.smiles: same}), aliases


def _decomposed(
    raw: RawTable, mapping: TableMapping, reasons: dict[int, str], findings: Said, report: Report
) -> Prepared:
    """Return the table with a column for each site of the cores."""
    from ..chemistry.cores import CORE_SITE, core_form, read_cores
    from ..chemistry.decomposition import decompose

    assert mapping.smiles is not None
    smiles = raw.column(mapping.smiles)
    names = raw.column(mapping.id) if mapping.id is not None else [f"row {row}" for row in raw.rows]
    first: dict[str, str] = {}
    for name, text in zip(names, smiles, strict=True):
        if text:
            first.setdefault(text, name)
    decomposed = decompose(read_cores(mapping.cores), list(first), report)
    if not decomposed.used:
        reason, rows = (
            Counter(filter(None, decomposed.reasons)).most_common(1)[0] if first else ("there is none", len(raw))
        )
        raise AssayPilotError(
            f"no structure could be taken apart with {' or '.join(decomposed.cores)}: {reason} ({rows} structures)",
            file=raw.file,
            option="--core",
            mend="Draw the core with what all compounds share, and a site wherever they differ.",
        )
    findings.warnings.extend(decomposed.notes(list(first.values())))
    parts = dict(zip(first, decomposed.parts, strict=True))
    why = dict(zip(first, decomposed.reasons, strict=True))
    used = [parts.get(text) for text in smiles]
    unusable = set(reasons)
    for place, text in enumerate(smiles):
        if text and used[place] is None:
            findings.problems.append(Problem(raw.rows[place], mapping.smiles, why[text]))
            unusable.add(place)
    columns = {
        site: [UNKNOWN if part is None else part.substituents[k] for part in used]
        for k, site in enumerate(decomposed.sites)
    }
    taken = [column for column in mapping.columns() if fold(column) in map(fold, columns)]
    if taken:
        raise AssayPilotError(
            f"the structures give a site {taken[0]}, and the table has a column of that name",
            file=raw.file,
            column=taken[0],
            mend="Give the column another name.",
        )
    old = [column for column in raw.columns if fold(column) in map(fold, columns)]
    if old:
        findings.warnings.append(
            f"The sites come from the structures; columns of the table not used: {', '.join(old)}."
        )
    forms = {core_form(part.core) for part in used if part is not None}
    fixed = ((CORE_SITE, forms.pop()),) if len(forms) == 1 else ()
    return Prepared(
        raw.with_columns(columns),
        replace(mapping, sites=decomposed.sites),
        frozenset(unusable),
        Scaffold(decomposed.cores, fixed),
    )


_NAME = re.compile(r"CPD-(\d+)")


def numbered(count: int, known: Iterable[str] = ()) -> list[str]:
    """So many names, which go on behind those that are known; as wide as the largest number."""
    taken = [match[1] for match in map(_NAME.fullmatch, known) if match]
    last = max(map(int, taken), default=0)
    width = max(3, len(str(last + count)), *map(len, taken))
    return [f"CPD-{last + k:0{width}d}" for k in range(1, count + 1)]


_WEAK = -1e9
"""How good a row without a value is."""


@dataclass(frozen=True, slots=True)
class FoundCores:
    """The cores to take together, and others to choose from."""

    taken: tuple[Proposal, ...] = ()
    others: tuple[Proposal, ...] = ()
    why: str = ""
    """Why there are none, where known."""

    @property
    def sentence(self) -> str:
        """The cores that are used, and the others, in words."""
        taken = " and ".join(one.smiles for one in self.taken)
        counts = " and ".join(str(one.used) for one in self.taken)
        text = (
            f"No core was given. Taken {'is' if len(self.taken) == 1 else 'are'} {taken}, which {counts} of "
            f"{self.taken[0].sample} structures looked at have. Look at it before you use it."
        )
        others = " or ".join(f"{one.smiles} ({one.used} of {one.sample})" for one in self.others)
        return f"{text} Other cores: {others}." if others else text


def find_cores(
    raw: RawTable, smiles: str, columns: Sequence[EndpointColumn] = (), report: Report = silent
) -> FoundCores:
    """Return the best cores for the structures of a column, and others; none where they share none.

    ``columns``: by the first with values the best compounds are kept. A process of its own looks for them, within
    limits of time and memory: for some structures the search has no end.
    """
    given = {"smiles": raw.column(smiles), "ours": raw.spelled == smiles, "values": _strengths(raw, columns)}
    try:
        answer = guarded(_proposed, json.dumps(given).encode(), report=report, file=raw.file)
    except (TooLong, TooMuch):
        return FoundCores(why="no core was found in the time for it")
    *both, readable = json.loads(answer)
    taken, others = (tuple(Proposal(*one) for one in part) for part in both)
    return FoundCores(taken, others, "" if readable > 1 else f"hardly a structure in column {smiles} can be read")


def _strengths(raw: RawTable, columns: Sequence[EndpointColumn]) -> list[float] | None:
    """Return how good the compound of each row is, by the first endpoint; None without values."""
    column = next((one for one in columns if one.value is not None and one.endpoint.kind == "value"), None)
    if column is None or column.value is None:
        return None
    found = []
    for text in raw.column(column.value):
        try:
            read = None if is_missing(text) else parse_value(text, raw.decimal)
            level = None if read is None or read.relation != "=" else column.endpoint.to_model(read.value, read.unit)
        except (ValueError, AssayPilotError):
            level = None
        found.append(_WEAK if level is None else column.endpoint.sign * level)
    return found


def _proposed(data: bytes, report: Report) -> bytes:
    """Return the cores to take, the others, and how many structures were read as JSON; in a process of its own."""
    from ..chemistry.proposing import propose_set
    from ..chemistry.structures import read_structures

    given = json.loads(data)
    read = read_structures(given["smiles"], part_of(report, 0.0, 0.3), ours=given["ours"])
    both = propose_set([one.smiles for one in read], part_of(report, 0.3, 1.0), values=given["values"])
    cores = [[[one.smiles, one.used, one.sample] for one in part] for part in both]
    return json.dumps([*cores, sum(bool(one.smiles) for one in read)]).encode()
