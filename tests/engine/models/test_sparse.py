import csv

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assaypilot.engine.domain.library import Library, Scaffold
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.models.sparse import drop_site, keep_seen, merge_substituents


def library(rows, **more):
    names = [f"R{k + 1}" for k in range(len(rows[0]))]
    return Library.listed(names, rows, ids=[f"C{k}" for k in range(len(rows))], **more)


@pytest.mark.parametrize(
    ("file", "before", "after", "rank"),
    [("CHEMBL2321810_rgd_table.csv", 628, 192, 80), ("CHEMBL3638592_rgd_table.csv", 573, 91, 48)],
)
def test_the_pruned_public_series(public, file, before, after, rank):
    with public(file).open(encoding="utf-8-sig", newline="") as stream:
        full = library([[row["R1"], row["R2"], row["R3"]] for row in csv.DictReader(stream)])
    thinned = keep_seen(full, 2)
    step = thinned.step
    assert (step.compounds_before, step.compounds_after, step.rank_after) == (before, after, rank)
    assert f"{before} -> {after} compounds" in step.line
    assert len(full) == before  # what a step is done to stays


ROWS = st.lists(st.tuples(*[st.sampled_from("abcde")] * 3), min_size=2, max_size=25)


@given(ROWS, st.integers(1, 3))
def test_every_substituent_left_is_seen_often_enough_and_nothing_more_was_lost(rows, least):
    full = library([list(row) for row in rows])
    # The plain way: one failing compound after another.
    left = list(range(len(rows)))
    while True:
        bad = [k for k in left if any(sum(rows[j][s] == rows[k][s] for j in left) < least for s in range(3))]
        if not bad:
            break
        left.remove(bad[0])
    try:
        thinned = keep_seen(full, least)
    except AssayPilotError:
        assert len(left) < 2 or all(len({rows[k][s] for k in left}) < 2 for s in range(3))
        return
    assert thinned.kept.tolist() == left
    assert thinned.library.ids == tuple(full.ids[k] for k in left)
    for place, k in enumerate(left):
        carried = thinned.library.substituents(place)
        assert carried.items() <= full.substituents(k).items()


def test_a_site_is_left_out_by_name():
    full = library([["a", "x"], ["b", "x"], ["a", "y"]], smiles=["C", "CC", "CCC"])
    step = drop_site(full, " r2 ")
    assert [site.name for site in step.library.sites] == ["R1"]
    assert step.library.codes[:, 0].tolist() == [0, 1, 0]
    assert step.library.smiles == full.smiles
    assert step.step.line == "Without site R2: 3 -> 3 compounds, rank 3 of 3 -> 2 of 2."
    with pytest.raises(AssayPilotError, match=r"--drop-site: there is no site 'R9'.*the sites are R1, R2"):
        drop_site(full, "R9")
    with pytest.raises(AssayPilotError, match="no site with two substituents would be left"):
        drop_site(step.library, "R1")


def test_substituents_are_merged_under_a_name():
    full = library([["Me", "x"], ["Et", "y"], ["Ph", "x"], ["[H][*:1]", "y"]])
    merged = merge_substituents(full, "R1", ["Et", "Me"], "alkyl")
    assert merged.library.sites[0].substituents == ("alkyl", "Ph", "[H][*:1]")
    assert merged.library.codes[:, 0].tolist() == [0, 0, 1, 2]
    assert merged.step.line == "Me, Et at R1 count as alkyl: 4 -> 4 compounds, rank 4 of 5 -> 4 of 4."
    # Hydrogen goes by the name it is shown with; the new name may be one of theirs.
    assert merge_substituents(full, "R1", ["H", "Me"], "Me").library.sites[0].substituents == ("Me", "Et", "Ph")
    for labels, into, said in (
        (["Me"], "x", "name at least two"),
        (["Me", "Me"], "x", "name at least two"),
        (["Me", "Pr"], "x", "Pr is no substituent of R1"),
        (["Me", "Et"], "Ph", "Ph is another substituent of R1"),
    ):
        with pytest.raises(AssayPilotError, match=said):
            merge_substituents(full, "R1", labels, into)


def test_pruning_everything_is_refused():
    full = library([["a", "x"], ["b", "y"]])
    with pytest.raises(AssayPilotError, match="--min-seen: only substituents that at least 3 compounds carry, 0 comp"):
        keep_seen(full, 3)
    with pytest.raises(AssayPilotError, match="at least 1 compound must carry"):
        keep_seen(full, 0)


@given(ROWS)
def test_the_ranks_of_a_step_are_those_of_the_tables(rows):
    assume(len({row[0] for row in rows}) > 1)
    full = library([list(row) for row in rows])
    try:
        thinned = drop_site(full, "R3")
    except AssayPilotError:
        assume(False)
    for source, rank in ((full, thinned.step.rank_before), (thinned.library, thinned.step.rank_after)):
        columns = [np.ones(len(source))] + [
            source.codes[:, k] == code for k, site in enumerate(source.sites) for code in range(len(site.substituents))
        ]
        assert rank == np.linalg.matrix_rank(np.column_stack(columns).astype(float))


def test_site_left_with_one_substituent_joins_the_scaffold():
    full = library(
        [["a[*:1]", "x[*:2]"], ["b[*:1]", "x[*:2]"], ["b[*:1]", "y[*:2]"], ["a[*:1]", "x[*:2]"], ["b[*:1]", "x[*:2]"]]
    )
    cored = Library(full.sites, full.codes, full.ids, scaffold=Scaffold(("core",), (("Core", "core"),)))
    thinned = keep_seen(cored, 2)
    assert [site.name for site in thinned.library.sites] == ["R1"]
    assert thinned.library.scaffold == Scaffold(("core",), (("Core", "core"), ("R2", "x[*:2]")))
    # A site left out although the compounds differ there is not filled with anything.
    assert drop_site(cored, "R1").library.scaffold == cored.scaffold
