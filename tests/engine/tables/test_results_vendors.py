"""Results as vaults and notebooks export them: files made after each vendor's public description of its columns."""

import pytest

from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library
from assaypilot.engine.tables.opening import read_table
from assaypilot.engine.tables.results import read_results

LIBRARY = Library.listed(["R1"], [["Me"], ["Et"], ["H"]], ids=["CPD-001", "CPD-002", "CPD-003"])
IC50 = Endpoint("IC50", "nM", "log", noise_sd=0.2)
PIC50 = Endpoint("pIC50", noise_sd=0.2)

CDD = """
"Molecule Name","Batch Name","Synonyms","Run Date","Person","KinA: IC50 (uM)","KinA: IC50 (uM) +/-","KinA: Hill Slope"
"CPD-001","CPD-001-001","","2026-03-04","KL","0.035","0.004","1.1"
"CPD-002","CPD-002-001","","2026-03-04","KL",">10","",""
"CPD-003","CPD-003-002","","2026-03-05","KL","1.2","0.1","0.9"
"""
CDD_WITH_MODIFIERS = """
"CDD Number","Molecule Name","Batch Name","Run Date","Kinase A IC50 Modifier","Kinase A IC50 (uM)"
"CDD-12","CPD-001","CPD-001-001","2026-03-04","=","0.035"
"CDD-13","CPD-002","CPD-002-001","2026-03-04",">","10"
"CDD-14","CPD-003","CPD-003-002","2026-03-05","=","1.2"
"""
DOTMATICS = """
FORMATTED_ID,BATCH,EXPERIMENT_ID,PROTOCOL,ANALYSIS_NAME,RESULT_TYPE,OPERATOR,RESULT_VALUE,UNITS,EXPERIMENT_DATE,VALIDATED
CPD-001,1,EXP-77,Kinase A,Kinase A IC50,IC50,=,35,nM,2026-03-04,VALIDATED
CPD-002,1,EXP-77,Kinase A,Kinase A IC50,IC50,>,10000,nM,2026-03-04,VALIDATED
CPD-003,2,EXP-77,Kinase A,Kinase A IC50,IC50,=,1200,nM,2026-03-05,INVALIDATED
"""
BENCHLING = """
Entity,Run,Assay,Result Type,Operator,Value,Unit,Created At,Creator
CPD-001,RUN12,Kinase A,IC50,=,35,nM,2026-03-04T10:11:12Z,kl
CPD-002,RUN12,Kinase A,IC50,>,10000,nM,2026-03-04T10:11:12Z,kl
CPD-003,RUN12,Kinase A,IC50,=,1200,nM,2026-03-05T10:11:12Z,kl
"""
RECORD = "{0}\n  x\n\n  0  0  0  0  0  0  0  0  0  0999 V2000\nM  END\n> <ID>\n{0}\n\n> <IC50 (nM)>\n{1}\n\n$$$$\n"
SDF = "".join(RECORD.format(*one) for one in (("CPD-001", "35"), ("CPD-002", ">10000"), ("CPD-003", "1200")))
FILES = {
    "cdd.csv": CDD,
    "cdd_modifiers.csv": CDD_WITH_MODIFIERS,
    "dotmatics.csv": DOTMATICS,
    "benchling.csv": BENCHLING,
    "results.sdf": SDF,
}


@pytest.fixture(params=sorted(FILES))
def exported(request, tmp_path):
    path = tmp_path / request.param
    path.write_text(FILES[request.param].lstrip("\n"), encoding="utf-8")
    return path


@pytest.mark.parametrize("endpoint", [IC50, PIC50], ids=lambda one: one.name)
def test_exported_results_are_read_with_bounds_and_units(exported, endpoint):
    found = read_results(read_table(exported), LIBRARY, [endpoint])
    assert found.rejected == ()
    values = [endpoint.to_model(one.value, one.unit) for one in found.results]
    assert values == pytest.approx([7.455932, 5.0, 5.920819], abs=1e-6)
    assert [endpoint.relation_on_model(one.relation) for one in found.results] == ["=", "<", "="]
    assert [one.compound for one in found.results] == list(LIBRARY.ids)


def test_invalidated_results_are_kept_and_not_used(tmp_path):
    path = tmp_path / "dotmatics.csv"
    path.write_text(DOTMATICS.lstrip("\n"), encoding="utf-8")
    found = read_results(read_table(path), LIBRARY, [IC50])
    assert [(one.excluded, one.date) for one in found.results] == [
        (False, "2026-03-04"), (False, "2026-03-04"), (True, "2026-03-05"),
    ]  # fmt: skip


def test_run_date_and_batch_of_a_vault_are_kept(tmp_path):
    path = tmp_path / "cdd.csv"
    path.write_text(CDD.lstrip("\n"), encoding="utf-8")
    first = read_results(read_table(path), LIBRARY, [IC50]).results[0]
    assert (first.date, first.batch, first.sd) == ("2026-03-04", "CPD-001-001", None)
