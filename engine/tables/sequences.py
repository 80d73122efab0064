"""Sites from sequences: the positions of aligned peptides and genes, and those at which variants are mutated."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ..text import listed
from . import headers
from .column_roles import drawn_sites, numbered_sites
from .raw import PATTERNS, RawTable, fold
from .values import is_missing

_CALLED = PATTERNS["sequence"]
"""Headers of columns of sequences and variants."""
_POSITION = re.compile(r"(?:pos|position|residue|site|aa|[a-z]) ?\d+")
_LETTERS = re.compile(r"[A-Z*-]{2,}")
_NUCLEOTIDES = frozenset("ACGTUN-")
_HELM = re.compile(r"PEPTIDE1\{(?P<parts>[^}]*)\}")
_MUTATION = re.compile(r"(?P<chain>[A-Z]+\.)?(?P<wild>[A-Z])(?P<place>\d+)(?P<to>[A-Z*])")
_CHAIN = re.compile(r"(?<![A-Za-z0-9])(V?[HLK]C?)[:_. -](?=[A-Z]\d+[A-Z*](?![A-Za-z0-9]))")
"""The chain of an antibody before its mutation: H_Y33A, LC:S50T, VH-Y33A."""
_BETWEEN = re.compile(r"[\s/,;:+_-]+")
_WILD = frozenset({"wt", "wild type", "wildtype", "parent", "none"})
_CODES = "Ala Cys Asp Glu Phe Gly His Ile Lys Leu Met Asn Pro Gln Arg Ser Thr Val Trp Tyr stop gap"
_RESIDUES = dict(zip("ACDEFGHIKLMNPQRSTVWY*-", _CODES.split(), strict=True))
"""Three-letter codes: H alone would be hydrogen, C methyl."""
_FEWEST_ROWS = 4
_FEWEST_PARTS = 3
_MOST = 60
"""Positions of a sequence that are sites."""
_NAMED = 6
Sites = dict[str, list[str]]
"""The residue of each row, by site; "" where its sequence is missing."""


def with_positions(raw: RawTable) -> RawTable:
    """Return the table with a column for each position in which its sequences differ; the same one without sequences.

    Only where no other columns give the sites: none is called R1 or as a position, none has attachment points or
    structures.
    """
    if raw.called(headers.STRUCTURES) or numbered_sites(raw, raw.columns) or drawn_sites(raw, raw.columns):
        return raw
    if sum(_POSITION.fullmatch(fold(column)) is not None for column in raw.columns) > 1:
        return raw
    for column in sorted(raw.columns, key=lambda column: _CALLED.search(fold(column)) is None):
        called = _CALLED.search(fold(column)) is not None
        texts = ["" if is_missing(text) else text for text in raw.column(column)]
        different = {text for text in texts if text}
        if len(different) < _FEWEST_ROWS or (not called and 2 * len(different) < len(texts)):
            continue
        found = _of_mutations(texts, called=called) or _of_letters(texts, called=called)
        found = found or (_of_parts(texts) if called else {})
        if 1 < len(found) <= _MOST:
            note = f"The sites are the positions in which column {column} differs: {listed([*found], _NAMED)}."
            return replace(raw.with_columns(found), sites=tuple(found), warnings=(*raw.warnings, note))
    return raw


def _of_mutations(texts: Sequence[str], *, called: bool) -> Sites:
    """Return the residues of variants that are named by their mutations (A23V/T45S); {} for other texts."""
    rows: list[dict[tuple[str, int], str]] = []
    wild: dict[tuple[str, int], str] = {}
    for text in texts:
        parts = [] if not text or fold(text) in _WILD else _BETWEEN.split(_CHAIN.sub(r"\1.", text.strip()))
        matches = [_MUTATION.fullmatch(part) for part in parts]
        at = {(match["chain"] or "", int(match["place"])): match for match in matches if match is not None}
        row = {place: match["to"] for place, match in at.items()}
        if len(row) < len(parts):
            return {}
        if any(wild.setdefault(place, match["wild"]) != match["wild"] for place, match in at.items()):
            return {}
        rows.append(row)
    if not called and max(map(len, rows)) < 2:
        return {}  # A23V may be a code
    return {
        f"{place[0]}{wild[place]}{place[1]}": [
            _RESIDUES.get(one := row.get(place, wild[place]), one) if text else ""
            for row, text in zip(rows, texts, strict=True)
        ]
        for place in sorted(wild)
    }


def _of_letters(texts: Sequence[str], *, called: bool) -> Sites:
    """Return the residues of sequences in one-letter code, all of one length; {} for other texts."""
    given = [text for text in texts if text]
    length = len(given[0])
    if any(len(text) != length or _LETTERS.fullmatch(text) is None for text in given):
        return {}
    if not called and length < _FEWEST_ROWS:
        return {}
    genes = _NUCLEOTIDES.issuperset("".join(given))
    return _differing(
        [[one if genes and one != "-" else _RESIDUES.get(one, one) for one in text] for text in texts], length
    )


def _of_parts(texts: Sequence[str]) -> Sites:
    """Return the residues of sequences with a hyphen between them, or in HELM, as many in each; {} for other texts."""
    chains = [match["parts"].split(".") if (match := _HELM.match(text)) else text.split("-") for text in texts]
    rows = [
        [part.strip() or "gap" for part in parts] if text else [] for parts, text in zip(chains, texts, strict=True)
    ]
    lengths = {len(row) for row in rows if row}
    return _differing(rows, lengths.pop()) if len(lengths) == 1 and min(lengths) >= _FEWEST_PARTS else {}


def _differing(rows: Sequence[Sequence[str]], length: int) -> Sites:
    columns = {f"position {k + 1}": [row[k] if row else "" for row in rows] for k in range(length)}
    return {name: cells for name, cells in columns.items() if len(set(filter(None, cells))) > 1}
