"""The compounds of a campaign: sites, their substituents, and which combination each compound is."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import re
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags
from ..errors import AssayPilotError

Pairs = tuple[tuple[str, str], ...]
"""Pairs of site names, each in the order of the sites."""

LARGEST_PRODUCT = 1_000_000
"""The largest full product that is listed compound by compound."""

_MAGIC = b"APLIB1\n"
_LARGEST = 2**31
"""Bytes a library may unpack to; a file made to fill the memory is refused."""


@dataclass(frozen=True, slots=True)
class Site:
    """A position of the core and what has been put there."""

    name: str
    """As in the table's header, e.g. ``R1``."""
    substituents: tuple[str, ...]
    """Labels or SMILES with one attachment point, in order of first appearance."""


@dataclass(frozen=True, slots=True)
class Scaffold:
    """The core of a library whose substituents were taken from structures."""

    cores: tuple[str, ...]
    """SMILES with ``[*:n]`` at site Rn, as they were looked for; they keep their numbers when compounds are added."""
    fixed: tuple[tuple[str, str], ...] = ()
    """Sites where all compounds have the same substituent, which are not among the library's, and that substituent."""


def name_from_substituents(sites: Sequence[Site], codes: Iterable[int]) -> str:
    """Return the name of a compound that has none: ``R1=Me|R2=Cl``."""
    return "|".join(f"{site.name}={site.substituents[code]}" for site, code in zip(sites, codes, strict=True))


@dataclass(frozen=True, eq=False)
class Library:
    """Compounds as one substituent per site, in a fixed order; immutable, equal by content.

    Positions in this order are what the rest of the engine calls a compound.
    """

    sites: tuple[Site, ...]
    """At least one site, each with at least one substituent."""
    codes: NDArray[np.int32]
    """``(n_compounds, n_sites)``, the substituent of each compound at each site."""
    ids: tuple[str, ...]
    """Unique names, one per compound."""
    smiles: tuple[str, ...] | None = None
    """Structures, one per compound, empty where unknown; None when no structure is known."""
    measurable: Flags = field(default_factory=lambda: np.ones(0, dtype=bool))
    """Whether each compound is available for a measurement; all are when not given."""
    scaffold: Scaffold | None = None
    """The core of the substituents; None when it is not known."""
    aliases: tuple[tuple[str, str], ...] = ()
    """Further names under which a lab may report a compound, each with the compound's id."""
    interactions: Pairs = ()
    """Pairs of sites that the model takes as one, by name; everything shown keeps to the sites."""
    partial: bool = False
    """Whether every combination is a candidate, of which only some are listed: there are too many."""
    structures: tuple[tuple[str, str, str], ...] = ()
    """Structures of substituents that are called by names: site, label, SMILES."""

    def __post_init__(self) -> None:
        codes = np.ascontiguousarray(self.codes, dtype=np.int32)
        measurable = np.ascontiguousarray(self.measurable, dtype=bool)
        if measurable.size == 0:
            measurable = np.ones(len(codes), dtype=bool)
        codes.flags.writeable = False
        measurable.flags.writeable = False
        object.__setattr__(self, "codes", codes)
        object.__setattr__(self, "measurable", measurable)
        if codes.ndim != 2 or codes.shape != (len(self.ids), len(self.sites)) or len(measurable) != len(self.ids):
            raise ValueError("codes must be (n_compounds, n_sites), with one id and one flag per compound")
        if self.smiles is not None and len(self.smiles) != len(self.ids):
            raise ValueError("one SMILES per compound, or None")
        for column, site in enumerate(self.sites):
            if len(codes) and not 0 <= codes[:, column].min() <= codes[:, column].max() < len(site.substituents):
                raise ValueError(f"codes of site {site.name} outside its substituents")
        if len(self._index) != len(self.ids):
            raise ValueError("compound ids must be unique")
        own = [site.name for site in self.sites]
        if any(len(set(pair)) != 2 or not set(pair) <= set(own) for pair in self.interactions):
            raise ValueError("an interaction is between two of the sites")

    @classmethod
    def listed(
        cls,
        site_names: Sequence[str],
        rows: Sequence[Sequence[str]],
        *,
        ids: Sequence[str] | None = None,
        smiles: Sequence[str] | None = None,
        measurable: Sequence[bool] | None = None,
    ) -> Library:
        """Return the library of the compounds in ``rows``, one label per site each.

        Ids are made where None is given.
        """
        columns = list(zip(*rows, strict=True)) if rows else [() for _ in site_names]
        sites, codes = [], np.zeros((len(rows), len(site_names)), dtype=np.int32)
        for position, (name, labels) in enumerate(zip(site_names, columns, strict=True)):
            order = {label: code for code, label in enumerate(dict.fromkeys(labels))}
            sites.append(Site(name, tuple(order)))
            codes[:, position] = [order[label] for label in labels]
        if ids is None:
            ids = [name_from_substituents(sites, row) for row in codes]
        return cls(
            tuple(sites),
            codes,
            tuple(ids),
            None if smiles is None else tuple(smiles),
            np.ones(len(rows), dtype=bool) if measurable is None else np.array(measurable, dtype=bool),
        )

    @classmethod
    def product(cls, sites: Sequence[Site], *, known: Library | None = None) -> Library:
        """Return every combination of the substituents; those in ``known`` keep their id, structure and flag.

        Raises AssayPilotError above ``LARGEST_PRODUCT`` combinations.
        """
        shape = [len(site.substituents) for site in sites]
        size = math.prod(shape)
        if size > LARGEST_PRODUCT:
            raise AssayPilotError(
                f"all combinations of the substituents are {size:,} compounds; {LARGEST_PRODUCT:,} is the most listed",
                mend="Leave out sites or substituents, or list the compounds you would make.",
            )
        codes = np.ascontiguousarray(np.indices(shape, dtype=np.int32).reshape(len(shape), size).T)
        # As ``name_from_substituents`` names them, each text made once.
        labels = [[f"{site.name}={text}" for text in site.substituents] for site in sites]
        ids = ["|".join(row) for row in itertools.product(*labels)]
        smiles = [""] * size
        measurable = np.ones(size, dtype=bool)
        if known is not None:
            if [site.substituents for site in known.sites] != [site.substituents for site in sites]:
                raise ValueError("known compounds must use the same sites and substituents")
            places = np.ravel_multi_index(tuple(known.codes.T), shape)
            # Backwards, so that of several compounds with the same substituents the first one lends its name.
            for row in range(len(known) - 1, -1, -1):
                ids[places[row]] = known.ids[row]
                measurable[places[row]] = known.measurable[row]
                if known.smiles is not None:
                    smiles[places[row]] = known.smiles[row]
        scaffold = None if known is None else known.scaffold
        pairs = () if known is None else known.interactions
        products = tuple(smiles) if any(smiles) else None
        drawn = () if known is None else known.structures
        return cls(
            tuple(sites), codes, tuple(ids), products, measurable, scaffold, interactions=pairs, structures=drawn
        )

    def combined(self, codes: NDArray[np.integer]) -> Library:
        """Return compounds of these combinations ``(n, n_sites)`` that this library lacks, with its sites and core."""
        own = {row.tobytes() for row in self.codes}
        rows: NDArray[np.int32] = np.ascontiguousarray(codes, dtype=np.int32)
        new = rows[[row.tobytes() not in own for row in rows]]
        ids = tuple(name_from_substituents(self.sites, row) for row in new)
        return Library(self.sites, new, ids, scaffold=self.scaffold, structures=self.structures)

    def refuse_partial(self, method: str, mend: str = "") -> None:
        """Raise AssayPilotError where not all combinations are listed: ``method`` compares all of them."""
        if self.partial:
            raise AssayPilotError(
                f"{method} compares every compound, and all combinations are {self.n_combinations:,}; "
                f"{LARGEST_PRODUCT:,} is the most listed",
                option="--product",
                mend=f"{mend}Leave out sites or substituents, or list the compounds you would make.",
            )

    @property
    def n_combinations(self) -> int:
        """How many combinations of the substituents there are, listed or not."""
        return math.prod(len(site.substituents) for site in self.sites)

    def __len__(self) -> int:
        """Return the number of compounds."""
        return len(self.ids)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Library) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    @cached_property
    def all_measurable(self) -> bool:
        """Whether every compound can be measured."""
        return bool(self.measurable.all())

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self.ids)}

    @cached_property
    def _aliases(self) -> dict[str, int]:
        return {other.strip().casefold(): self._index[name] for other, name in self.aliases if name in self._index}

    @cached_property
    def _folded(self) -> dict[str, int]:
        folded: dict[str, int] = {}
        for position, name in enumerate(self.ids):
            key = name.strip().casefold()
            folded[key] = -1 if key in folded else position
        return folded

    def find(self, compound_id: str) -> int | None:
        """Return the position of a compound by its id: exactly, else without regard to case and outer spaces if unique.

        A name that is no id may be another name of a compound.
        """
        position = self._index.get(compound_id)
        if position is None:
            folded = compound_id.strip().casefold()
            position = self._folded.get(folded)
            if position is None:
                position = self._aliases.get(folded, -1)
        return None if position < 0 else position

    @cached_property
    def modelled(self) -> tuple[tuple[Site, ...], NDArray[np.int32]]:
        """The sites as the model takes them, and ``(n_compounds, n)`` codes: those of no pair, then the pairs.

        A pair, whose substituents act together whatever they do alone, is a site of its own. Its substituents are the
        combinations that occur: one that no compound carries has no column, and one that cannot be measured is not
        estimable, like a substituent of its own.
        """
        if not self.interactions:
            return self.sites, self.codes
        place = {site.name: position for position, site in enumerate(self.sites)}
        pairs = [(place[first], place[second]) for first, second in self.interactions]
        alone = [position for position in range(len(self.sites)) if not any(position in pair for pair in pairs)]
        columns, found = [self.codes[:, position] for position in alone], [self.sites[position] for position in alone]
        for first, second in pairs:
            one, other = self.sites[first], self.sites[second]
            both = self.codes[:, first].astype(np.intp) * len(other.substituents) + self.codes[:, second]
            occurring, column = np.unique(both, return_inverse=True)
            columns.append(column.astype(np.int32))
            parts = (divmod(int(combination), len(other.substituents)) for combination in occurring)
            labels = tuple(f"{one.substituents[a]}, {other.substituents[b]}" for a, b in parts)
            found.append(Site(pair_name((one.name, other.name)), labels))
        return tuple(found), np.ascontiguousarray(np.column_stack(columns), dtype=np.int32)

    def forms(self, name: str, labels: Sequence[str]) -> tuple[str, ...]:
        """Return the structures of labels at a site, empty where unknown; the labels themselves where none is given."""
        known = {label: smiles for site, label, smiles in self.structures if site == name}
        return tuple(known.get(label, "") for label in labels) if known else tuple(labels)

    def drawing(self, compound: int) -> str:
        """Return the structure that shows a compound: its own SMILES, else its parts as the table draws them, or ""."""
        own = "" if self.smiles is None else self.smiles[compound]
        if own or not self.structures:
            return own
        drawn = {(site, label): smiles for site, label, smiles in self.structures}
        return ".".join(drawn[part] for part in self.substituents(compound).items() if part in drawn)

    def substituents(self, compound: int) -> dict[str, str]:
        """Return what a compound carries, by site name."""
        return {site.name: site.substituents[code] for site, code in zip(self.sites, self.codes[compound], strict=True)}

    def encode(self) -> bytes:
        """Return the library as bytes, the same for the same content: what a campaign file keeps."""
        header: dict[str, Any] = {
            "sites": [[site.name, list(site.substituents)] for site in self.sites],
            "ids": list(self.ids),
            "smiles": None if self.smiles is None else list(self.smiles),
            "scaffold": None if self.scaffold is None else asdict(self.scaffold),
            "aliases": self.aliases,
            "interactions": self.interactions,
            "partial": self.partial,
            "structures": self.structures,
        }
        text = json.dumps(header, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
        body = self.codes.astype("<i4").tobytes() + np.packbits(self.measurable).tobytes()
        return _MAGIC + zlib.compress(struct.pack("<Q", len(text)) + text + body, 6)

    @classmethod
    def decode(cls, blob: bytes) -> Library:
        """Return the library that ``encode`` wrote; raises ValueError when the bytes are no library."""
        if not blob.startswith(_MAGIC):
            raise ValueError("not a library")
        try:
            unpacker = zlib.decompressobj()
            raw = unpacker.decompress(blob[len(_MAGIC) :], _LARGEST)
            if not unpacker.eof:
                raise ValueError("a library cut short, or too large")
            (length,) = struct.unpack_from("<Q", raw)
        except (zlib.error, struct.error) as error:
            raise ValueError("a damaged library") from error
        try:
            header: Mapping[str, Any] = json.loads(raw[8 : 8 + length])
        except RecursionError:
            raise ValueError("a library nested too deeply") from None
        sites = tuple(Site(name, tuple(labels)) for name, labels in header["sites"])
        n = len(header["ids"])
        start = 8 + length
        codes = np.frombuffer(raw, dtype="<i4", count=n * len(sites), offset=start).reshape(n, len(sites))
        flags = np.frombuffer(raw, dtype=np.uint8, offset=start + codes.nbytes)
        smiles, core = header["smiles"], header["scaffold"]
        return cls(
            sites,
            codes.astype(np.int32),
            tuple(header["ids"]),
            None if smiles is None else tuple(smiles),
            np.unpackbits(flags, count=n).astype(bool),
            None if core is None else Scaffold(tuple(core["cores"]), tuple((a, b) for a, b in core["fixed"])),
            tuple((other, name) for other, name in header["aliases"]),
            tuple((first, second) for first, second in header["interactions"]),
            bool(header["partial"]),
            tuple((site, label, smiles) for site, label, smiles in header["structures"]),
        )

    @cached_property
    def digest(self) -> str:
        """SHA-256 of ``encode()``: the library's address in a campaign file."""
        return hashlib.sha256(self.encode()).hexdigest()


_ATTACHMENT = r"(?:\*|\[\*(?::\d+)?\]|\[\d+\*\]|\[R\d*\])"
_HYDROGEN = re.compile(
    rf"(?:-?H|[Hh]ydrogen|\[H\]|\[H\]-?{_ATTACHMENT}|{_ATTACHMENT}-?\[H\])(?:\s*\|[^|]*\|)?"  # |$_R1;$| of a CXSMILES
)


def is_hydrogen(label: str) -> bool:
    """Whether a label is hydrogen: ``H``, ``-H``, ``hydrogen``, ``[H][*:1]``, ``[H]*``, ``*[H]``, ``[R1][H]``."""
    return _HYDROGEN.fullmatch(label) is not None


def label_text(label: str) -> str:
    """Return what to show for a substituent: ``H`` for any spelling of hydrogen, else the label as the table has it."""
    return "H" if is_hydrogen(label) else label


def pair_name(pair: Sequence[str]) -> str:
    """Return what a pair is called: ``R1 with R2``."""
    return " with ".join(pair)


def chosen_pairs(sites: Sequence[str], texts: Sequence[str]) -> Pairs:
    """Return the pairs that texts like ``R1,R2`` name, each once, in the order of the sites.

    AssayPilotError for anything but two different sites of the table.
    """
    known = {name.casefold(): place for place, name in enumerate(sites)}
    found: dict[tuple[str, str], None] = {}
    for text in texts:
        names = [part.strip() for part in text.replace("+", ",").replace(";", ",").split(",") if part.strip()]
        unknown = [part for part in names if part.casefold() not in known]
        if unknown:
            raise AssayPilotError(
                f"there is no site {unknown[0]!r}", option="--interaction", mend=f"The sites are {', '.join(sites)}."
            )
        places = sorted({known[part.casefold()] for part in names})
        if len(names) != 2 or len(places) != 2:
            raise AssayPilotError(
                f"an interaction is between two different sites, got {text.strip()!r}",
                option="--interaction",
                mend=f"For example {sites[0]},{sites[1]}; several are given one by one."
                if len(sites) > 1
                else "A table with one site has none.",
            )
        found[sites[places[0]], sites[places[1]]] = None
    return tuple(found)
