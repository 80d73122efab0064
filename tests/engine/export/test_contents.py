"""What an export says, whatever its format: the shortlist and what stands beside it."""

import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.settings import Settings
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.export.contents import Choice, contents
from assaypilot.engine.export.formats import FORMATS, write
from assaypilot.engine.export.sheet import Column
from assaypilot.engine.export.shortlist import ranked, table_of
from assaypilot.engine.system.progress import Cancelled
from tests.engine.export.making import (
    HERG,
    IC50,
    MEASURABLE,
    NASTY,
    SMILES,
    as_dicts,
    begin,
    nasty_library,
    plain_library,
)


def test_without_a_choice_what_is_in_comes_ranked(nasty: Status) -> None:
    now = contents(nasty)
    assert now.compounds.tolist() == ranked(nasty, "in").tolist() != []
    assert {row["Status"] for row in as_dicts(now.shortlist)} == {"in"}
    assert now.what == "1 of 9 compounds: compounds that are in"


def test_rows_and_columns_come_as_on_screen(nasty: Status) -> None:
    order = (7, 0, 4)
    now = contents(nasty, Choice("in", order, ("R2", "ID", "pIC50 estimate")))
    assert now.shortlist.header == ("R2", "ID", "pIC50 estimate", "Evidence", "Availability")
    assert now.shortlist.column("ID") == tuple(NASTY[c] for c in order)
    assert now.shortlist.digits[:3] == (None, None, 2)
    estimates = [round(float(nasty.candidates.estimate[c]), 3) for c in order]
    assert list(now.shortlist.column("pIC50 estimate")) == estimates
    assert len(now.everything.rows) == 9
    assert now.what == "3 of 9 compounds, chosen and sorted by hand"


def test_the_process_of_an_export_loads_neither_designs_nor_strategies(
    nasty: Status, tmp_path: Path
) -> None:  # 30 MB of it
    assert nasty.additivity
    path = tmp_path / "contents.pickle"
    path.write_bytes(pickle.dumps(contents(nasty)))
    code = "import pickle, sys; pickle.load(open(sys.argv[1], 'rb')).everything; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "assaypilot.engine.campaign.state" in loaded
    heavy = ("scipy", "rdkit", "matplotlib", "assaypilot.engine.design", "assaypilot.engine.strategies.designs")
    assert not loaded.intersection(heavy)


def test_in_stock_only_where_a_list_states_it(tmp_path: Path) -> None:
    with begin(tmp_path / "a.assaypilot", nasty_library(measurable=MEASURABLE)) as campaign:
        campaign.mark_unavailable([NASTY[0]], "none left")
        said = contents(campaign.status()).everything
    assert dict(zip(said.column("ID"), said.column("Availability"), strict=True)) == {
        NASTY[0]: "unavailable",
        **{NASTY[k]: "in stock" if MEASURABLE[k] else "to be made" for k in range(1, 9)},
    }
    with begin(tmp_path / "b.assaypilot") as campaign:
        assert set(contents(campaign.status()).everything.column("Availability")) == {"to be made"}


def test_what_was_made_but_does_not_count_is_not_called_measured(tmp_path: Path) -> None:
    history = [
        Result(NASTY[0], 10_000.0, "IC50", relation=">"),
        Result(NASTY[1], 100.0, "IC50"),
        Result(NASTY[2], 5.0, "hERG"),
        Result(NASTY[3], 5.0, "hERG"),
        Result(NASTY[3], 100.0, "IC50"),
    ]
    with begin(tmp_path / "x.assaypilot", endpoints=(IC50, HERG), history=history) as campaign:
        campaign.exclude(2, "precipitated", judgement=False)
        rows = {row["ID"]: row for row in as_dicts(contents(campaign.status()).everything)}
        assert rows[NASTY[0]]["Evidence"].startswith("predicted, measured only as a bound (")
        assert rows[NASTY[1]]["Evidence"] == "predicted, its values are not used"
        assert rows[NASTY[2]]["Evidence"] == "predicted, measured for hERG only"
        assert rows[NASTY[3]]["Evidence"] == "measured 1"
        assert {rows[NASTY[k]]["Availability"] for k in range(4)} == {"made"}
        campaign.mark_unavailable([NASTY[3]], "used up")
        rows = {row["ID"]: row for row in as_dicts(contents(campaign.status()).everything)}
        assert rows[NASTY[3]]["Availability"] == "made, none left"


def test_measurements_are_as_entered_and_state_what_became_of_them(tmp_path: Path) -> None:
    history = [Result(name, 100.0 * (k + 1), "IC50", plate="P1", well=f"A{k + 1}") for k, name in enumerate(NASTY[:5])]
    history.append(Result(NASTY[5], 0.03, "IC50", relation="<", unit="µM", n=3, sd=0.01, comment="late"))
    with begin(tmp_path / "x.assaypilot", history=history) as campaign:
        campaign.exclude(1, "bubble", judgement=False)
        campaign.correct(2, 250.0, reason="typo")
        issued = campaign.plan()
        campaign.record([Result(NASTY[issued.items[0].compound], 77.0, "IC50")])
        campaign.undo()
        now = contents(campaign.status())
    rows = as_dicts(now.measurements)
    assert [row["No."] for row in rows] == list(range(1, 8))
    assert [row["Used"] for row in rows] == [
        "no, excluded",
        *["estimates (history)"] * 4,
        "no, only a bound",
        "no, undone",
    ]
    assert [row["Excluded"] for row in rows] == ["yes", *["no"] * 5, "yes"]
    assert (rows[0]["Reason"], rows[1]["Reason"]) == ("excluded: bubble", "corrected: typo")
    assert (rows[1]["Value"], rows[1]["Unit"]) == (200.0, "nM")  # what was entered is never changed
    assert rows[1]["pIC50"] == pytest.approx(9 - np.log10(250.0), abs=1e-4)
    bound = rows[5]
    assert (bound["Value"], bound["Relation"], bound["Unit"], bound["N"], bound["SD"]) == (0.03, "<", "µM", 3, 0.01)
    assert (bound["Comment"], rows[2]["Well"], rows[6]["Round"]) == ("late", "A3", 1)


def test_rounds_and_what_was_picked(nasty: Status) -> None:
    now = contents(nasty)
    rounds, picks = as_dicts(now.rounds), as_dicts(now.picks)
    assert [row["Round"] for row in rounds] == [1, 2]
    assert {row["State"] for row in rounds} == {"closed"}
    for row, issued in zip(rounds, nasty.rounds, strict=True):
        own = [pick for pick in picks if pick["Round"] == row["Round"]]
        assert [pick["ID"] for pick in own] == [NASTY[item.compound] for item in issued.items]
        assert (
            sum(pick["Measurements requested"] for pick in own) == row["Measurements requested"] == issued.measurements
        )
        assert sum(pick["Came back"] for pick in own) == row["Came back"] == issued.came
        assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d", str(row["Issued (UTC)"]))
    assert all(pick["Why"] for pick in picks)


def test_structures_no_table_has_drawn_are_put_together(tmp_path: Path) -> None:
    with begin(tmp_path / "x.assaypilot", nasty_library(smiles=None)) as campaign:
        now = contents(campaign.status(), Choice("all", tuple(range(9))))
    assert now.shortlist.column("SMILES") == SMILES
    assert now.structure(4) == SMILES[4]
    with begin(tmp_path / "y.assaypilot", plain_library()) as campaign:
        now = contents(campaign.status(), Choice("all"))
    assert "SMILES" not in now.shortlist.header
    assert now.structure(4) == ""


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("ending", FORMATS)
def test_every_format_can_be_stopped_and_leaves_what_was_there(tmp_path: Path, nasty: Status, ending: str) -> None:
    path = tmp_path / f"list{ending}"
    path.write_bytes(b"old")
    fractions: list[float] = []
    assert write(tmp_path / f"whole{ending}", contents(nasty, Choice("all")), lambda f, _: fractions.append(f)) == 9
    assert len(fractions) > 1
    assert all(0.0 <= fraction <= 1.0 for fraction in fractions)
    assert fractions == sorted(fractions)
    (tmp_path / f"whole{ending}").unlink()
    for stop_at in sorted({0, 1, len(fractions) // 2, len(fractions) - 1}):
        calls = 0

        def stop(fraction: float, message: str, stop_at: int = stop_at) -> None:
            nonlocal calls
            calls += 1
            if calls > stop_at:
                raise Cancelled

        with pytest.raises(Cancelled):
            write(path, contents(nasty, Choice("all")), stop)
        assert path.read_bytes() == b"old"
        assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.fixture
def status(tmp_path: Path) -> Status:
    rows = [(a, b) for a in ("H", "Me") for b in ("F", "Cl", "Br")]
    library = Library.listed(["R1", "MW"], rows, ids=[f"C{n}" for n in range(6)])
    with Campaign.create(
        tmp_path / "c.assaypilot", library=library, endpoints=[Endpoint("pIC50", noise_sd=0.2)],
        settings=Settings("pIC50", epsilon=0.5, slack=0.5),
    ) as campaign:  # fmt: skip
        return campaign.status()


def test_cells_go_with_their_compounds(status: Status) -> None:
    weights = Column("MW", [100.5, None, 102.5, 103.5, 104.5, 105.5], 1)
    alerts = Column("Alert", ["", "nitro", "", "", "", "azo"])
    made = contents(status, Choice("all", (5, 1, 0), None, (weights, alerts)))
    sheet = pickle.loads(pickle.dumps(made)).shortlist
    assert sheet.column("ID") == ("C5", "C1", "C0")
    assert sheet.column("MW (2)") == (105.5, None, 100.5)  # MW is a site of this campaign
    assert sheet.column("Alert") == ("azo", "nitro", "")
    assert sheet.column("MW") == ("Br", "Cl", "F")
    assert sheet.digits[sheet.header.index("MW (2)")] == 1
    chosen = contents(status, Choice("all", (5, 1), ("MW (2)", "ID"), (weights,))).shortlist
    assert chosen.header[:2] == ("MW (2)", "ID")
    assert [row[:2] for row in chosen.rows] == [(105.5, "C5"), (None, "C1")]


def test_estimates_and_their_ends_stand_under_their_heads(decided: Status) -> None:
    known, every = decided.candidates, range(len(decided.library))
    sheet = table_of(decided, every)
    low, estimate, high = (np.array(sheet.column(f"pIC50 {what}"), dtype=float) for what in ("low", "estimate", "high"))
    assert np.abs(estimate - known.estimate).max() < 0.01
    assert np.abs(low - known.low).max() < 0.01
    assert np.abs(high - known.high).max() < 0.01
