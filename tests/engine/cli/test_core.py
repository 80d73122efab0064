"""Structures taken apart from the command line, into a campaign file."""

import pytest

from assaypilot.engine.campaign.campaign import Campaign

CORE = "[*:1]c1ccnc([*:2])c1"


@pytest.fixture
def series(table):
    rows = [("ID", "SMILES", "pIC50")]
    groups = {"C": 0.2, "Cl": 0.5, "CO": 0.9, "F": -0.1}
    others = {"N": 0.0, "F": 0.6, "C": -0.4}
    rows += [
        (f"C{a}{b}", f"{a}c1ccnc({b})c1", 6 + groups[a] + others[b] + (0.02 if b == "F" else 0))
        for a in groups
        for b in others
    ]
    return table(rows)


def test_a_campaign_from_structures_and_a_core(series, tmp_path, done):
    document = done("check", series, "--core", CORE)
    assert [site["name"] for site in document["sites"]] == ["R1", "R2"]
    assert (document["rank"], document["cores"]) == (6, ["c1cc([*:1])cc([*:2])n1"])
    path = tmp_path / "c.assaypilot"
    done("new", path, "--table", series, "--core", CORE, "--epsilon", "0.5", "--sd", "0.2")
    with Campaign.open(path, read_only=True) as campaign:
        library = campaign.status().library
    assert library.scaffold.cores == ("c1cc([*:1])cc([*:2])n1",)
    assert library.substituents(0) == {"R1": "C[*:1]", "R2": "N[*:2]"}
    assert done("verify", path)["ok"]
    assert len(done("plan", path)["compounds"]) > 0


def test_without_a_core_the_best_one_is_taken_and_named(series, done):
    found = done("check", series)
    (said,) = [text for text in found["warnings"] if text.startswith("No core was given")]
    core = said.split("Taken is ")[1].split(",")[0]
    assert (found["rank"], found["cores"]) == (6, [core])
    assert done("check", series, "--core", core)["rank"] == 6
