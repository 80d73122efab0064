import subprocess
import sys

import numpy as np
import pytest

from assaypilot.engine.chemistry.decomposition import CORE_SITE
from assaypilot.engine.chemistry.products import product_smiles, with_structures
from assaypilot.engine.chemistry.properties import (
    FIGURES,
    ligand_efficiency,
    lipophilic_efficiency,
    packed_alerts,
    packed_figures,
    properties,
    properties_of,
)
from assaypilot.engine.library import Library, Scaffold, Site
from assaypilot.engine.packing import pack_texts, unpack_texts


def test_the_figures_of_aspirin():
    # Molecular weight, donors and heavy atoms by hand; surface by Ertl's table: two C=O 17.07, ether 9.23, OH 20.23.
    found = properties("CC(=O)Oc1ccccc1C(=O)O")
    assert found.mw == pytest.approx(9 * 12.011 + 8 * 1.008 + 4 * 15.999, abs=0.01)
    assert found.tpsa == pytest.approx(2 * 17.07 + 9.23 + 20.23, abs=0.01)
    assert (found.hbd, found.heavy_atoms) == (1, 13)
    assert found.clogp == pytest.approx(1.31, abs=0.01)
    assert found.alert == "phenol_ester"


def test_no_structure_has_no_figures_and_a_plain_one_no_alert():
    assert properties_of(["CCO", "", "nonsense", "CCO"])[1:3] == (None, None)
    assert properties("CCO").alert == ""


def test_efficiencies():
    assert ligand_efficiency(8.0, 20) == pytest.approx(0.548)
    assert ligand_efficiency(8.0, 0) is None
    assert lipophilic_efficiency(7.5, 3.0) == 4.5


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


STRUCTURES = ["CC(=O)Oc1ccccc1C(=O)O", "", "nonsense", "CCO", "O=[N+]([O-])c1ccccc1", "CCO"]


def test_figures_and_alerts_travel_packed_and_are_those_of_each_structure():
    figures = np.frombuffer(packed_figures(pack_texts(STRUCTURES))).reshape(-1, len(FIGURES))
    alerts = unpack_texts(packed_alerts(pack_texts(STRUCTURES)))
    for text, row, alert in zip(STRUCTURES, figures, alerts, strict=True):
        whole = properties(text)
        if whole is None:
            assert np.isnan(row).all()
            assert alert == ""
        else:
            assert tuple(row) == tuple(getattr(whole, name) for name in FIGURES)
            assert alert == whole.alert
    assert alerts[4]  # a nitro group


PACKED = ["properties.packed_figures", "properties.packed_alerts", "substructure.packed_holding"]


@pytest.mark.parametrize("work", PACKED)
def test_a_process_that_looks_at_structures_loads_nothing_else(work):
    module, function = work.split(".")
    arguments = "pack_texts(['CCO', 'CCN'])" + (", 'N'" if module == "substructure" else "")
    code = (
        f"import sys; from assaypilot.engine.chemistry.{module} import {function}; import assaypilot.engine.processes; "
        f"from assaypilot.engine.packing import pack_texts; {function}({arguments}); "
        "print([name for name in ('numpy', 'scipy', 'PySide6', 'matplotlib', 'assaypilot.gui') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
