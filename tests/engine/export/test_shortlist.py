from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.state import Settings, Status
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.export.contents import Choice, contents
from assaypilot.engine.export.shortlist import decimals, ranked, table_of
from assaypilot.engine.export.work_list import work_list

VALUES = {"a": 6.0, "b": 7.0, "c": 6.4, "d": 7.4, "e": 5.0, "f": 6.0}
ROWS = [("H", "H"), ("H", "F"), ("Me", "H"), ("Me", "F"), ("Cl", "H"), ("Cl", "F")]

Make = Callable[..., Campaign]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """A campaign on six compounds with one value each."""

    def create(
        sites: tuple[str, str] = ("R1", "R2"), smiles: list[str] | None = None, epsilon: float = 0.5, **endpoint: object
    ) -> Campaign:
        measured = Endpoint("pIC50", noise_sd=0.2, **endpoint)  # type: ignore[arg-type]  # what a test asks for
        return Campaign.create(
            tmp_path / "x.assaypilot",
            library=Library.listed(sites, ROWS, ids=list(VALUES), smiles=smiles),
            endpoints=[measured],
            settings=Settings("pIC50", epsilon, max_replicates=24),
            history=[Result(name, value) for name, value in VALUES.items()],
        )

    return create


def finish(campaign: Campaign) -> Status:
    """Plays the campaign to its end without noise."""
    while (issued := campaign.plan()) is not None:
        ids = campaign.status().library.ids
        campaign.record(
            [Result(ids[i.compound], VALUES[ids[i.compound]]) for i in issued.items for _ in range(i.replicates)]
        )
    return campaign.status()


@pytest.mark.parametrize(("direction", "best"), [("max", "dbcafe"), ("min", "eafcbd")])
def test_the_best_comes_first_whichever_way_is_better(make: Make, direction: str, best: str) -> None:
    with make(direction=direction) as campaign:
        assert "".join(campaign.status().library.ids[c] for c in ranked(campaign.status())) == best


def test_status_comes_before_the_estimate(make: Make) -> None:
    with make() as campaign:
        now = finish(campaign)
        order = ranked(now)
        codes = now.candidates.status[order].tolist()
        assert [now.library.ids[c] for c in ranked(now, "in")] == ["d", "b"]
        assert codes == sorted(codes)  # in is 1, out is 2, and nothing else is left
        assert {now.library.ids[c] for c in ranked(now, "out")} == {"a", "c", "e", "f"}
        assert len(ranked(now, "undecided")) == 0


def test_columns_say_what_and_on_what_evidence(make: Make) -> None:
    with make(smiles=["C", "CC", "", "CF", "CCl", "C"]) as campaign:
        now = finish(campaign)
        said = contents(now, Choice("all"), program="AssayPilot 9", exported="2030-01-02")
        sheet = said.shortlist_with_provenance
        rows = [dict(zip(sheet.header, row, strict=True)) for row in sheet.rows]
        assert len(rows) == 6
        first = rows[0]
        assert (first["ID"], first["SMILES"], first["R1"], first["R2"]) == ("d", "CF", "Me", "F")
        assert (first["Status"], first["Decided in round"]) == ("in", now.candidates.decided_in_round[3])
        assert first["pIC50 estimate"] == pytest.approx(7.4, abs=1e-3)
        assert first["pIC50 low"] < 7.4 < first["pIC50 high"]
        assert first["Evidence"] == f"measured {now.candidates.measured[3]}"
        assert first["P(within 0.5)"] == 1.0
        assert (first["Program"], first["Exported"]) == ("AssayPilot 9", "2030-01-02")
        assert {row["Campaign head"] for row in rows} == {now.head}
        assert {row["Guarantee"] for row in rows} == {"guarantee holds (95 % confidence)"}
        assert "P(within 0.75)" in sheet.header


def test_a_site_with_the_name_of_a_column(make: Make) -> None:
    with make(sites=("Status", "value")) as campaign:
        now = campaign.status()
        assert list(table_of(now, ranked(now)).header)[:4] == ["ID", "Status", "value", "Status (2)"]
        issued = campaign.plan()
        assert issued is not None
        sheet = work_list(campaign.status(), issued)
        assert len(set(sheet.header)) == len(sheet.header)


@given(st.floats(1e-6, 1e6))
def test_decimals_tell_a_tenth_of_epsilon_apart(epsilon: float) -> None:
    digits = decimals(epsilon)
    assert 0 <= digits <= 6
    if 1e-4 < epsilon < 10:
        assert 0.01 * epsilon <= 10.0**-digits <= epsilon
    assert decimals(0.5) == 2
    assert decimals(80.0) == 0


def test_ranking_of_unknown_estimates_keeps_the_order_of_the_table(tmp_path: Path) -> None:
    library = Library.listed(["R1", "R2"], ROWS, ids=list(VALUES))
    with Campaign.create(
        tmp_path / "z.assaypilot",
        library=library,
        endpoints=[Endpoint("pIC50", noise_sd=0.2)],
        settings=Settings("pIC50", 0.5),
    ) as campaign:
        assert np.array_equal(ranked(campaign.status()), np.arange(6))
