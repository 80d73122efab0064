import itertools
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assaypilot.engine.domain.library import LARGEST_PRODUCT, Library, Scaffold, Site, name_from_substituents
from assaypilot.engine.errors import AssayPilotError
from tests.strategies import labels, libraries


def content(library):
    return (
        library.sites,
        library.codes.tolist(),
        library.ids,
        library.smiles,
        library.measurable.tolist(),
    )


@given(libraries(min_compounds=0))
def test_bytes_and_back(library):
    again = Library.decode(library.encode())
    assert content(again) == content(library)
    assert again == library
    assert hash(again) == hash(library)
    assert again.encode() == library.encode()
    assert again.codes.dtype == np.int32


@given(libraries(), st.data())
def test_changed_content_is_another_library(library, data):
    n = len(library)
    row = data.draw(st.integers(0, n - 1))
    ids = list(library.ids)
    ids[row] += "'"
    assume(len(set(ids)) == n)
    flags = library.measurable.copy()
    flags[row] = not flags[row]
    smiles = [""] * n if library.smiles is None else list(library.smiles)
    smiles[row] += "O"
    sites = (Site(library.sites[0].name + "'", library.sites[0].substituents), *library.sites[1:])
    others = [
        Library(library.sites, library.codes, tuple(ids), library.smiles, library.measurable),
        Library(library.sites, library.codes, library.ids, library.smiles, flags),
        Library(library.sites, library.codes, library.ids, tuple(smiles), library.measurable),
        Library(sites, library.codes, library.ids, library.smiles, library.measurable),
    ]
    assert len({library, *others}) == 5
    assert library != "a library"


@given(libraries(min_compounds=1), st.data())
def test_damaged_bytes_never_decode_to_another_library(library, data):
    blob = bytearray(library.encode())
    place = data.draw(st.integers(0, len(blob) - 1))
    blob[place] ^= data.draw(st.integers(1, 255))
    with suppress(ValueError):  # some header bits of zlib carry no content, and are no damage
        assert Library.decode(bytes(blob)) == library
    with pytest.raises(ValueError, match="library"):
        Library.decode(bytes(blob[:-1]))


@given(libraries())
def test_listed_keeps_every_row_as_it_was(library):
    for position in range(len(library)):
        carried = library.substituents(position)
        codes = library.codes[position]
        assert list(carried) == [site.name for site in library.sites]
        assert list(carried.values()) == [s.substituents[c] for s, c in zip(library.sites, codes, strict=True)]
    for column, site in enumerate(library.sites):
        # Numbered in order of first appearance, each label once.
        assert list(dict.fromkeys(library.codes[:, column].tolist())) == list(range(len(site.substituents)))
        assert len(set(site.substituents)) == len(site.substituents)


@given(libraries())
def test_every_id_is_found(library):
    for position, name in enumerate(library.ids):
        assert library.find(name) == position
    assert library.find("no such compound, surely") is None


def test_ids_are_found_without_regard_to_case_and_spaces_when_that_is_unique():
    library = Library.listed(["R1"], [["a"], ["b"], ["c"], ["d"]], ids=["CPD-1", "cpd-2", "X", "x"])
    assert library.find(" cpd-1 ") == 0
    assert library.find("CPD-2") == 1
    assert library.find("x") == 3
    assert library.find("X") == 2
    assert library.find(" X ") is None
    assert Library.listed(["R1"], [["a"], ["b"]], ids=["STRASSE", "b"]).find("straße") == 0


@given(libraries(unique_rows=True))
def test_the_product_holds_every_combination_and_keeps_what_is_known(library):
    made = {name_from_substituents(library.sites, row) for row in library.codes}
    # A compound may be called what another combination would be called; then the product refuses, as ids are unique.
    assume(not made & set(library.ids) or set(library.ids) <= made)
    whole = Library.product(library.sites, known=library)
    rows = list(map(tuple, whole.codes.tolist()))
    assert rows == list(itertools.product(*(range(len(site.substituents)) for site in library.sites)))
    for position, row in enumerate(map(tuple, library.codes.tolist())):
        place = rows.index(row)
        assert whole.ids[place] == library.ids[position]
        assert whole.measurable[place] == library.measurable[position]
        assert (whole.smiles[place] if whole.smiles else "") == (library.smiles[position] if library.smiles else "")
    others = [k for k, row in enumerate(rows) if row not in set(map(tuple, library.codes.tolist()))]
    assert whole.measurable[others].all()
    assert [whole.ids[k] for k in others] == [name_from_substituents(whole.sites, rows[k]) for k in others]


def test_a_product_too_large_to_list_is_refused():
    sites = [Site(f"R{k}", tuple(map(str, range(101)))) for k in range(3)]
    with pytest.raises(AssayPilotError) as refused:
        Library.product(sites)
    assert f"1,030,301 compounds; {LARGEST_PRODUCT:,} is the most listed" in str(refused.value)
    assert "Leave out sites or substituents" in str(refused.value)


@given(st.lists(labels, min_size=1, max_size=3, unique=True))
def test_arrays_cannot_be_written(names):
    library = Library.listed(["R1"], [[name] for name in names])
    for array in (library.codes, library.measurable):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"codes": np.zeros((2, 2))}, "codes must be"),
        ({"codes": np.array([[0], [2]])}, "codes of site R1"),
        ({"codes": np.array([[0], [-1]])}, "codes of site R1"),
        ({"ids": ("a", "a")}, "unique"),
        ({"ids": ("a",)}, "codes must be"),
        ({"smiles": ("C",)}, "one SMILES per compound"),
        ({"measurable": np.ones(3, bool)}, "codes must be"),
    ],
)
def test_inconsistent_library_is_refused(changes, text):
    given = {
        "sites": (Site("R1", ("H", "Me")),),
        "codes": np.array([[0], [1]]),
        "ids": ("a", "b"),
        "smiles": None,
        "measurable": np.ones(2, bool),
    }
    with pytest.raises(ValueError, match=text):
        Library(**(given | changes))
    Library(**given)


def test_a_product_keeps_the_shape_it_was_known_in():
    known = Library.listed(["R1"], [["a"], ["b"]])
    with pytest.raises(ValueError, match="same sites and substituents"):
        Library.product([Site("R1", ("a", "b", "c"))], known=known)
    with pytest.raises(ValueError, match="not a library"):
        Library.decode(b"something else")


def test_scaffold_is_kept():
    plain = Library.listed(["R1"], [["C[*:1]"], ["F[*:1]"]], ids=["a", "b"])
    cored = replace(plain, scaffold=Scaffold(("c1ccccc1[*:1]",), (("R2", "[H][*:2]"),)))
    assert Library.decode(cored.encode()).scaffold == cored.scaffold
    assert Library.decode(plain.encode()).scaffold is None
    assert cored.digest != plain.digest
    assert Library.product(plain.sites, known=cored).scaffold == cored.scaffold


def test_other_names_are_kept_and_found_last():
    plain = Library.listed(["R1"], [["Me"], ["Et"]], ids=["a", "b"])
    called = replace(plain, aliases=(("Old-1", "a"), ("b", "a"), ("lost", "nobody")))
    assert called != plain
    assert Library.decode(called.encode()).aliases == called.aliases
    assert called.find("old-1 ") == 0
    assert called.find("b") == 1  # an id goes before another's other name
    assert called.find("lost") is None
    assert plain.find("old-1") is None
