"""Tables as programs export them are read right at the first try, without any option."""

import pytest

from assaypilot.engine.system.progress import silent
from assaypilot.engine.tables import structures
from assaypilot.engine.tables.check import check_report
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import read_table
from tests.engine.tables.exports import EXPORTS

CASES = [pytest.param(one, id=one.name, marks=pytest.mark.slow if one.slow else ()) for one in EXPORTS]


@pytest.mark.parametrize("export", CASES)
def test_an_export_is_read_right_at_the_first_try(export, monkeypatch):
    # The search for a core has a process of its own, which takes longer to start than to search.
    monkeypatch.setattr(structures, "guarded", lambda work, data, **options: work(data, silent))
    raw = read_table(export.path)
    mapping = propose(raw)
    report = check_report(raw, mapping, import_table(raw, mapping))
    assert (report["compounds"], report["id_column"]) == (export.compounds, export.id)
    assert report["smiles_column"] == export.smiles
    sites = [site["name"] for site in report["sites"] if site["name"] != "Core"]
    assert len(sites) == export.sites if isinstance(export.sites, int) else tuple(sites) == export.sites
    found = {
        e["name"]: (e["direction"], e["transform"], e["unit"], e["measured"], e["censored"])
        for e in report["endpoints"]
    }
    assert found == export.endpoints
    assert all(e["direction_why"] for e in report["endpoints"])
    told = "\n".join([*report["warnings"], *report["notes"]])
    for words in export.said:
        assert words in told, told
