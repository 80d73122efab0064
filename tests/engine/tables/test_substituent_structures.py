"""Columns that hold the structures of substituents which another column names."""

from dataclasses import replace

import numpy as np
import pytest

from assaypilot.engine.campaign.added_compounds import extended
from assaypilot.engine.chemistry.names import pictures
from assaypilot.engine.chemistry.similarity import library_similarity
from assaypilot.engine.domain.library import Library
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import parse_text
from assaypilot.engine.tables.options import TableOptions

AMINES = (("aniline", "Nc1ccccc1"), ("p-toluidine", "Nc1ccc(C)cc1"), ("morpholine", "C1COCCN1"), ("none", ""))
SOLVENTS = (("THF", "C1CCOC1"), ("2-MeTHF", "CC1CCCO1"), ("DMSO", "CS(C)=O"))
HEADER = "solvent|solvent_smiles|amine|Structure of amine|yield"


def library_of(rows, header=HEADER, sites=()):
    raw = parse_text("\n".join([header, *rows]).replace("|", "\t"))
    return import_table(raw, propose(raw, TableOptions(sites=sites)))


def reactions(amines=AMINES):
    pairs = [(solvent, amine) for solvent in SOLVENTS for amine in amines]
    return [f"{'|'.join(solvent)}|{'|'.join(amine)}|{10.5 + place}" for place, (solvent, amine) in enumerate(pairs)]


def test_structures_beside_names_are_drawn_and_compared_and_the_names_stay():
    found = library_of(reactions())
    library = found.library
    assert [site.name for site in library.sites] == ["solvent", "amine"]
    assert library.sites[1].substituents == tuple(name for name, _ in AMINES)
    assert pictures(library, 0) == ("C1CCOC1", "CC1CCCO1", "CS(C)=O")
    assert pictures(library, 1)[3] == ""
    solvents, amines = library_similarity(library)
    assert solvents[0, 1] > solvents[0, 2]
    assert amines[0, 1] > amines[0, 2]
    assert amines[0, 3] == 0.0
    (note,) = [one for one in found.notes if "Structures of substituents" in one]
    assert "solvent from solvent_smiles, amine from Structure of amine" in note


def test_names_without_structures_are_like_nothing():
    rows = [f"{s}|{a}|{5.5 + i + j}" for i, (s, _) in enumerate(SOLVENTS) for j, (a, _) in enumerate(AMINES)]
    assert library_similarity(library_of(rows, "solvent|amine|yield").library) == (None, None)


def test_structures_are_kept_in_the_file_and_in_every_combination():
    library = library_of(reactions()[:-1]).library
    again = Library.decode(library.encode())
    assert again == library
    assert pictures(Library.product(library.sites, known=again), 0)[2] == "CS(C)=O"
    assert (
        library.digest != library_of([row.replace("C1CCOC1", "O1CCCC1=O") for row in reactions()[:-1]]).library.digest
    )


def test_added_compounds_bring_the_structures_of_new_substituents():
    library = library_of(reactions()).library
    more = library_of(
        reactions((("o-toluidine", "Nc1ccccc1C"), ("water", "O"))), HEADER.replace("amine", "Amine")
    ).library
    both = extended(library, more)
    amine = [site.name for site in both.sites].index("amine")
    drawn = dict(zip(both.sites[amine].substituents, pictures(both, amine), strict=True))
    assert drawn["o-toluidine"] == "Cc1ccccc1N"
    assert drawn["aniline"] == "Nc1ccccc1"
    assert np.isfinite(library_similarity(both)[amine]).all()


@pytest.mark.parametrize("second", ["solvent comment", "solvent CAS", "base_smiles"])
def test_columns_of_anything_else_are_no_structures(second):
    texts = {"solvent comment": "dry", "solvent CAS": "109-99-9", "base_smiles": "C1CCOC1"}
    rows = [row.replace("|C1CCOC1|", f"|{texts[second]}|").split("|") for row in reactions()]
    rows = ["|".join([row[0], texts[second], row[2], row[4]]) for row in rows]
    library = library_of(rows, f"solvent|{second}|amine|yield").library
    assert pictures(library, 0) == ("", "", "")


def test_of_several_structures_the_first_counts_and_a_warning_names_the_substituent():
    rows = reactions()
    rows[-1] = rows[-1].replace("CS(C)=O", "CCS(C)=O")
    found = library_of(rows, sites=("solvent", "amine"))
    assert pictures(found.library, 0)[2] == "CS(C)=O"
    assert any("DMSO" in warning and "solvent_smiles" in warning for warning in found.warnings)


def test_compounds_without_a_structure_are_drawn_by_their_parts():
    library = library_of(reactions()).library
    assert library.drawing(0) == "C1CCOC1.Nc1ccccc1"
    assert library.drawing(3) == "C1CCOC1"
    assert replace(library, smiles=("CCO", *[""] * 11)).drawing(0) == "CCO"
    assert replace(library, structures=()).drawing(0) == ""
