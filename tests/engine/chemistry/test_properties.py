import subprocess
import sys

import numpy as np
import pytest

from assaypilot.engine.chemistry.cores import CORE_SITE, product_smiles, with_structures
from assaypilot.engine.chemistry.properties import (
    FIGURES,
    alerts_of,
    holding,
    packed_figures,
    similar_to,
)
from assaypilot.engine.domain.library import Library, Scaffold, Site
from assaypilot.engine.errors import AssayPilotError


def figures(*structures):
    """One dictionary for each structure."""
    found = np.frombuffer(packed_figures(structures)).reshape(-1, len(FIGURES))
    return [dict(zip(FIGURES, row, strict=True)) for row in found]


def alerts(*structures):
    return alerts_of(structures)


def test_the_figures_of_aspirin():
    # Molecular weight, donors and heavy atoms by hand; surface by Ertl's table: two C=O 17.07, ether 9.23, OH 20.23.
    aspirin = "CC(=O)Oc1ccccc1C(=O)O"
    (found,) = figures(aspirin)
    assert found["mw"] == pytest.approx(9 * 12.011 + 8 * 1.008 + 4 * 15.999, abs=0.01)
    assert found["tpsa"] == pytest.approx(2 * 17.07 + 9.23 + 20.23, abs=0.01)
    assert (found["hbd"], found["heavy_atoms"]) == (1, 13)
    assert found["clogp"] == pytest.approx(1.31, abs=0.01)
    assert alerts(aspirin) == ("phenol_ester",)


def test_no_structure_has_no_figures_and_a_plain_one_no_alert():
    ethanol, nothing, nonsense, again = figures("CCO", "", "nonsense", "CCO")
    assert ethanol["heavy_atoms"] == 3
    assert again == ethanol
    assert np.isnan([*nothing.values(), *nonsense.values()]).all()
    assert alerts("CCO", "", "nonsense", "O=[N+]([O-])c1ccccc1") == ("", "", "", "nitro_group")


def library(scaffold):
    sites = (Site("R1", ("C[*:1]", "[H][*:1]")), Site("R3", ("F[*:3]", "Cl[*:3]", "alkyl")))
    return Library.product(sites, known=Library(sites, [[0, 0]], ("known",), ("drawn",), scaffold=scaffold))


def test_products_are_drawn_from_core_and_substituents():
    core = "c1nc([*:1])cc([*:2])c1[*:3]"
    full = library(Scaffold((core,), ((CORE_SITE, core), ("R2", "N[*:2]"))))
    drawn = with_structures(full)
    assert drawn.smiles == ("drawn", "Cc1cc(N)c(Cl)cn1", "", "Nc1ccncc1F", "Nc1ccncc1Cl", "")
    assert product_smiles(full, 0) == "Cc1cc(N)c(F)cn1"
    assert with_structures(full, most=1).smiles[3] == ""


def test_without_a_core_or_with_a_site_left_out_nothing_is_invented():
    core = "c1nc([*:1])cc([*:2])c1[*:3]"
    assert with_structures(library(None)) == library(None)
    assert product_smiles(library(Scaffold((core,), ((CORE_SITE, core),))), 0) == ""
    assert product_smiles(library(Scaffold((core,))), 0) == ""


@pytest.mark.parametrize(("function", "more"), [("packed_figures", ""), ("alerts_of", ""), ("holding", ", 'N'")])
def test_a_process_that_looks_at_structures_loads_nothing_else(function, more):
    code = (
        f"import sys; from assaypilot.engine.chemistry.properties import {function}; "
        f"{function}(('CCO', 'CCN'){more}); "
        "print([name for name in ('numpy', 'scipy', 'PySide6', 'matplotlib', 'assaypilot.gui') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


SMILES = ["c1ccncc1C", "c1ccccc1C", "", "not one", "c1ccncc1CC"]


def test_structures_like_another_are_marked():
    assert list(holding(SMILES, similar_to("c1ccncc1C", 1.0))) == [1, 0, 0, 0, 0]
    assert list(holding(SMILES, similar_to("c1ccncc1C", 0.45))) == [1, 0, 0, 0, 1]


def test_structures_that_hold_a_part_are_marked():
    assert list(holding(SMILES, "c1ccncc1")) == [1, 0, 0, 0, 1]


@pytest.mark.parametrize("question", ["c1cc(", similar_to("no one", 0.5)])
def test_question_that_is_no_structure_is_refused(question):
    with pytest.raises(AssayPilotError):
        holding(SMILES, question)
