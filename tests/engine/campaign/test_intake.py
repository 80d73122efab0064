"""Results as they come in: matched, put on the model scale, and told apart from what is there already."""

import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.campaign.results.intake import Intake, measurement, prepare
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.measurements import Measurement, Result
from assaypilot.engine.errors import AssayPilotError
from tests.engine.campaign.making import make, small_library

LIBRARY = small_library()
IDS = LIBRARY.ids
PIC50 = (Endpoint("pIC50", noise_sd=0.2),)
IC50 = (Endpoint("IC50 (nM)", "nM", transform="log", noise_sd=0.2),)


def take(results: list[Result], earlier: Any = (), **options: Any) -> Intake:
    endpoints = options.pop("endpoints", PIC50)
    objective = options.pop("objective", 0)
    options["due"] = {(objective, compound): n for compound, n in options.pop("outstanding", {}).items()}
    defaults: dict[str, Any] = {"first_number": len(earlier) + 1, "round_number": 1, "phase": 1}
    make = partial(measurement, LIBRARY, endpoints)
    return prepare(make, endpoints, results, **(defaults | options), earlier=earlier)


def recorded(*values: float | Result, rounds: int = 1, **options: Any) -> list[Measurement]:
    """Earlier measurements: the given values, of the first compounds of the library, or results."""
    results = [v if isinstance(v, Result) else Result(IDS[k], v) for k, v in enumerate(values)]
    return list(take(results, round_number=rounds, **options).measurements)


def test_ids_are_found_without_regard_to_case_and_outer_spaces() -> None:
    (measurement,) = take([Result("  r1=a|R2=B ", 6.0)]).measurements
    assert measurement.compound == LIBRARY.find("R1=A|R2=B")
    assert measurement.entered.compound == "  r1=a|R2=B ", "the original entry is kept"


@pytest.mark.parametrize(
    ("result", "says"),
    [
        (Result("nobody", 6.0, row=2), "'nobody' is not in the library"),
        (Result(IDS[0], math.nan), "nan is not a finite number"),
        (Result(IDS[0], -math.inf), "not a finite number"),
        (Result(IDS[0], 6.0, "Ki"), "there is no endpoint 'Ki'"),
        (Result(IDS[0], 6.0, n=0), "N must be 1 or more, got 0"),
        (Result(IDS[0], 6.0, sd=-1.0), "SD must be 0 or more"),
        (Result(IDS[0], 6.0, sd=math.nan), "SD must be 0 or more"),
        (Result(IDS[0], 6.0, unit="mg"), "unit mg cannot be converted"),
    ],
)
def test_what_cannot_be_used_is_reported_with_its_row_and_the_rest_is_taken(result: Result, says: str) -> None:
    taken = take([Result(IDS[1], 5.0), result])
    assert len(taken.measurements) == 1
    ((row, reason),) = taken.rejected
    assert row == result.row
    assert says in reason


def test_zero_has_no_logarithm() -> None:
    taken = take([Result(IDS[0], 0.0), Result(IDS[0], -3.0)], endpoints=IC50)
    assert [reason for _, reason in taken.rejected] == [
        "column IC50 (nM): 0 has no logarithm: is it below the limit of quantitation? Then write < and that limit",
        "column IC50 (nM): -3 has no logarithm (must be > 0)",
    ]


def test_potencies_are_modelled_on_the_log_and_bounds_turn_round() -> None:
    results = [Result(IDS[0], 35.0), Result(IDS[0], 35e-3, unit="uM"), Result(IDS[0], 10000.0, relation=">")]
    one, other, bound = take(results, endpoints=IC50).measurements
    assert one.value == pytest.approx(9 - math.log10(35))
    assert other.value == pytest.approx(one.value)
    assert (bound.value, bound.relation) == (5.0, "<")


def test_values_of_another_unit_than_those_before_are_asked_about_and_taken() -> None:
    endpoints = (Endpoint("IC50", "µM", transform="log", noise_sd=0.2),)
    before = recorded(0.02, 0.3, 1.1, 4.0, 9.0, 0.7, endpoints=endpoints)

    def asked(*values: float, unit: str | None = None, earlier: Any = before) -> tuple[str, ...]:
        results = [Result(IDS[k], value, unit=unit) for k, value in enumerate(values)]
        return take(results, earlier, endpoints=endpoints).warnings

    assert asked(314.0, 2040.0, 700.0) == (
        "The 3 values from 314 to 2040 of IC50 have no unit: taken as µM, they lie about a factor of 1,000 from the 6 "
        "before (0.02 to 9).",
    )
    assert len(asked(0.0009)) == 1, "mM would be lower by the same factor"
    assert not asked(314.0, 2040.0, 5.0), "one lies among those before"
    assert not asked(14.0, 30.0), "weaker compounds, not another unit"
    assert not asked(314.0, 2040.0, unit="nM"), "the unit is said"
    assert not asked(314.0, 2040.0, earlier=before[:5]), "too few before"


def test_a_bare_35_as_pic50_is_asked_about_and_taken() -> None:
    taken = take([Result(IDS[0], 35.0, row=4), Result(IDS[1], 7.5)])
    assert len(taken.measurements) == 2
    assert taken.warnings == (f'Row 4, {IDS[0]}: 35 is unusual for pIC50: "35 nM"?',)


@given(
    n=st.lists(st.tuples(st.integers(0, 3), st.integers(1, 4), st.booleans()), max_size=12),
    wanted=st.dictionaries(st.integers(0, 3), st.integers(1, 5), max_size=4),
)
def test_results_fill_the_plan_and_no_more(n: list[tuple[int, int, bool]], wanted: dict[int, int]) -> None:
    results = [Result(IDS[c], 6.0, n=k, excluded=marked) for c, k, marked in n]
    taken = take(results, outstanding=wanted).measurements
    for m, (compound, determinations, marked) in zip(taken, n, strict=True):
        assert (m.compound, m.n, m.phase) == (compound, determinations, int(m.counted > 0))
        assert 0 <= m.counted <= (0 if marked else determinations)
    for compound in range(4):
        usable = sum(k for c, k, marked in n if c == compound and not marked)
        filled = sum(m.counted for m in taken if m.compound == compound)
        assert filled == min(usable, wanted.get(compound, 0))
    assert [m.number for m in taken] == [*range(1, len(n) + 1)]


@given(
    values=st.lists(st.integers(-9, 9), min_size=1, max_size=8),
    n=st.integers(1, 3),
    first=st.integers(1, 50),
    data=st.data(),
)
def test_which_results_count_does_not_depend_on_the_order_of_the_file(
    values: list[int], n: int, first: int, data: st.DataObject
) -> None:
    def counted(numbers: list[int]) -> list[tuple[float, int]]:
        results = [Result(IDS[0], v, n=n) for v in numbers]
        taken = take(results, outstanding={0: 3, 1: 1}, first_number=first).measurements
        return sorted((m.value, m.counted) for m in taken)

    descending = counted(sorted(values, reverse=True))
    assert counted(sorted(values)) == counted(data.draw(st.permutations(values))) == descending


@pytest.mark.parametrize("order", [1, -1])
def test_sorting_a_file_by_value_does_not_choose_the_best_replicates(order: int) -> None:
    """Mean of what counts against mean of all, over many batches: the difference is noise round zero."""
    rng = np.random.default_rng(5)
    differences = []
    for first in range(1, 1001):
        values = np.sort(rng.normal(6.0, 1.0, 5))[::order]
        compound = int(rng.integers(0, 9))
        taken = take([Result(IDS[compound], v) for v in values], outstanding={compound: 2}, first_number=first)
        chosen = [m.value for m in taken.measurements if m.counted]
        assert len(chosen) == 2
        differences.append(np.mean(chosen) - values.mean())
    standard_error = np.std(differences) / math.sqrt(len(differences))
    assert standard_error == pytest.approx(math.sqrt((1 / 2 - 1 / 5) / 1000), rel=0.1)  # without replacement
    assert abs(np.mean(differences)) < 4 * standard_error


def test_result_that_states_another_round_than_the_phase_counts_for_none() -> None:
    results = [Result(IDS[0], 6.0, round=number, replicate=str(k)) for k, number in enumerate((1, 2, None))]
    taken = take(results, outstanding={0: 3}, other_rounds={1}).measurements
    assert [m.counted for m in taken] == [0, 1, 1]


def test_other_endpoints_never_fill_the_plan() -> None:
    endpoints = (Endpoint("logD"), *PIC50)
    results = [Result(IDS[0], 1.0, "logD"), Result(IDS[0], 6.0, "PIC50")]
    taken = take(results, endpoints=endpoints, objective=1, outstanding={0: 2})
    assert [m.counted for m in taken.measurements] == [0, 1]


def test_the_same_place_and_value_is_the_same_measurement() -> None:
    placed = [Result(IDS[0], 6.1, plate="P1", well="A1"), Result(IDS[0], 6.1, date="2026-11-20")]
    earlier = recorded(*placed)
    for typed in (True, False):
        assert take(placed, earlier, typed=typed).duplicates == 2
    others = [
        Result(IDS[0], 6.1, plate="P1", well="A2"), Result(IDS[0], 6.2, plate="P1", well="A1"),
        Result(IDS[1], 6.1, plate="P1", well="A1"), Result(IDS[0], 6.1, date="2026-11-21"),
        Result(IDS[0], 6.1, plate="P1", well="A1", relation=">"),
    ]  # fmt: skip
    assert take(others, earlier).duplicates == 0


def test_a_cumulative_file_is_recognised_without_places() -> None:
    earlier = recorded(6.1, 5.4, 7.0)
    again = [Result(IDS[k], v) for k, v in enumerate((6.1, 5.4, 7.0))]
    fresh = [Result(IDS[3], 6.6), Result(IDS[0], 6.3)]
    taken = take(again + fresh, earlier)
    assert taken.duplicates == 3
    assert [m.entered for m in taken.measurements] == fresh


def test_repeat_that_was_asked_for_counts_although_it_agrees_with_an_earlier_round() -> None:
    """At one decimal and an SD of .2, repeats agree with the first value in 14 % of cases."""
    earlier = recorded(6.1, 5.4, 7.0, 6.8, 7.2)
    repeats, new = [Result(IDS[2], 7.0), Result(IDS[4], 7.2)], [Result(IDS[5], 6.5)]

    def duplicates(results: list[Result], **options: Any) -> int:
        return take(results, earlier, **({"round_number": 2, "outstanding": {2: 1, 4: 1, 5: 1}} | options)).duplicates

    assert duplicates([*repeats, *new]) == 0
    assert duplicates([*repeats, *new], outstanding={5: 1}) == 2, "nobody asked for them"
    assert duplicates([*repeats, *new], round_number=1) == 2, "the round's own list, filled in by parts"
    assert duplicates([*repeats, *new, Result(IDS[0], 6.1)]) == 3, "the file repeats what nobody asked for"
    assert duplicates([Result(IDS[k], v) for k, v in enumerate((6.1, 5.4, 7.0))], outstanding={0: 1, 1: 1, 2: 1}) == 3
    # A phase measures the compounds of the last one more often, here without noise; a list so far has both phases.
    phase = [Result(IDS[k], v) for k, v in enumerate((6.1, 5.4, 7.0, 6.8, 7.2)) for _ in range(2)]
    assert duplicates(phase, outstanding=dict.fromkeys(range(5), 2)) == 0
    assert duplicates(phase, outstanding=dict.fromkeys(range(5), 1)) == 5


def test_bound_that_a_later_round_finds_again_is_a_new_measurement() -> None:
    bounds = [Result(IDS[k], 10000.0, relation=">") for k in range(3)]
    earlier = recorded(*bounds, rounds=1, endpoints=IC50)
    again = take([*bounds, bounds[0], Result(IDS[3], 12.0)], earlier, round_number=2, endpoints=IC50)
    assert (len(again.measurements), again.duplicates) == (5, 0)
    # Numbers show that a list holds an earlier round; its bounds are that round's, too.
    earlier = recorded(Result(IDS[3], 12.0), Result(IDS[4], 35.0), *bounds, rounds=1, endpoints=IC50)
    list_so_far = [Result(IDS[3], 12.0), Result(IDS[4], 35.0), *bounds, Result(IDS[5], 80.0)]
    taken = take(list_so_far, earlier, round_number=2, endpoints=IC50)
    assert (len(taken.measurements), taken.duplicates) == (1, 5)


def test_two_equal_replicates_in_a_file_are_two_and_one_of_them_alone_is_known() -> None:
    twice = [Result(IDS[0], 6.1), Result(IDS[0], 6.1)]
    assert len(take(twice).measurements) == 2
    earlier = recorded(*twice)
    assert take(twice, earlier).duplicates == 2
    third = take([*twice, Result(IDS[0], 6.1)], earlier)
    assert (third.duplicates, len(third.measurements)) == (2, 1)


def listed(values: dict[tuple[int, int], float], number: int = 1, **more: Any) -> list[Result]:
    """A filled-in work list: values by (compound, replicate)."""
    return [Result(IDS[c], v, round=number, replicate=str(k), **more) for (c, k), v in values.items()]


def test_what_agrees_by_chance_with_another_round_or_replicate_is_kept() -> None:
    earlier = recorded(*listed({(0, 1): 6.1, (1, 1): 5.4, (2, 1): 7.0}))
    assert take(listed({(0, 1): 6.1, (1, 1): 5.4, (2, 1): 7.0}, 2), earlier, round_number=2).duplicates == 0
    assert take(listed({(0, 2): 6.1}), earlier).duplicates == 0, "the only value of a file"
    elsewhere = recorded(*listed({(0, 1): 6.1}, plate="P1", well="A1"))
    assert take(listed({(0, 1): 6.1}, plate="P1", well="A2"), elsewhere).duplicates == 0, "another well"
    # Entries that never said their round are no reason to drop what does.
    bare = recorded(6.1, 5.4, 7.0)
    assert take(listed({(0, 1): 6.1, (1, 1): 5.4, (2, 1): 7.0}, 2), bare, round_number=2).duplicates == 0


@pytest.mark.parametrize("more", [{"plate": "P1", "well": "A1"}, {"date": "2026-11-20"}, {"well": "A1"}])
def test_a_place_that_is_filled_in_later_makes_no_second_measurement(more: dict[str, str]) -> None:
    values = {(0, 1): 6.1, (0, 2): 6.3, (1, 1): 5.4}
    with_place, without = listed(values, **more), listed(values)
    for first, second in ((without, with_place), (with_place, without)):
        assert take(second, recorded(*first)).duplicates == 3
        # Another value of the same replicate is another measurement.
        assert take(listed({(0, 1): 6.2}, **more), recorded(*first)).duplicates == 0
    # Who says no replicate may mean another one.
    bare = [Result(IDS[0], 6.1, round=1)]
    assert take([Result(IDS[0], 6.1, round=1, **more)], recorded(*bare)).duplicates == 0
    assert take(bare, recorded(*bare)).duplicates == 1


@pytest.mark.parametrize("saved", ["3/5/2026", "2026-03-05 00:00:00"])
def test_list_saved_by_a_spreadsheet_makes_no_second_measurement(saved: str) -> None:
    """It writes the day in its own way, and no more than ten digits."""
    earlier = recorded(*listed({(0, 1): 5.301029995663981}, date="2026-03-05", plate="P1", well="A1"))
    assert take(listed({(0, 1): 5.301029996}, date=saved, plate="P1", well="A1"), earlier).duplicates == 1
    assert take(listed({(0, 1): 5.301}, date=saved, plate="P1", well="A1"), earlier).duplicates == 0


def test_another_value_of_the_same_replicate_is_asked_about_and_kept() -> None:
    earlier = recorded(*listed({(0, 1): 6.1, (0, 2): 6.2, (1, 1): 5.4}))
    taken = take([*listed({(0, 1): 5.1}, row=2), *listed({(0, 2): 6.2, (1, 2): 5.5, (2, 1): 7.0})], earlier)
    assert (len(taken.measurements), taken.duplicates) == (3, 1)
    assert taken.warnings == (
        f"Row 2, {IDS[0]}: replicate 1 of round 1 was 6.1 and is 5.1 now. Both are kept; correct or exclude the wrong "
        "one.",
    )
    # In a list of all values so far a new one is asked about, unless it is the repeat that was planned.
    so_far = [Result(IDS[k], v) for k, v in enumerate((6.1, 5.4, 7.0))]
    for due, asked in (({}, 1), ({1: 1}, 0)):
        again = take([*so_far, Result(IDS[1], 5.5)], recorded(6.1, 5.4, 7.0), round_number=2, outstanding=due)
        assert (again.duplicates, len(again.warnings)) == (3, asked)
    # Another round, another well, a replicate that nobody numbered: another measurement.
    placed = recorded(*listed({(0, 1): 6.1}, plate="P", well="A1"))
    assert not take(listed({(0, 1): 5.1}, 2), earlier).warnings
    assert not take(listed({(0, 1): 5.1}, plate="P", well="A2"), placed).warnings
    assert take(listed({(0, 1): 5.1}), placed).warnings
    assert not take([Result(IDS[0], 5.1, round=1)], recorded(Result(IDS[0], 6.1, round=1))).warnings
    many = take(listed({(c, 1): 5.0 for c in range(8)}), recorded(*listed({(c, 1): 6.0 for c in range(8)}))).warnings
    assert (len(many), many[-1]) == (6, "3 more have another value than before.")


@given(values=st.dictionaries(st.tuples(st.integers(0, 3), st.integers(1, 3)), st.integers(4, 6), min_size=1),
       data=st.data())  # fmt: skip
def test_a_work_list_is_counted_once_however_it_comes(values: dict[tuple[int, int], int], data: st.DataObject) -> None:
    """Any piece of it, then all of it: every line is there exactly once, however many values are equal."""
    part = data.draw(st.sets(st.sampled_from(sorted(values))))
    whole = listed({key: float(value) for key, value in values.items()})
    earlier = recorded(*(r for r, key in zip(whole, values, strict=True) if key in part))
    taken = take(whole, earlier)
    assert taken.duplicates == len(part)
    lines = [(m.entered.compound, m.entered.replicate) for m in (*earlier, *taken.measurements)]
    assert sorted(lines) == sorted((r.compound, r.replicate) for r in whole)


def test_typed_values_are_two_when_they_are_typed_twice() -> None:
    earlier = recorded(6.1, typed=True)
    assert take([Result(IDS[0], 6.1)], earlier, typed=True).duplicates == 0
    assert take([Result(IDS[0], 6.1)], earlier, typed=False).duplicates == 1


def test_an_absurd_number_of_determinations_is_refused(tmp_path: Path) -> None:
    with make(tmp_path / "series.assaypilot") as campaign:
        campaign.plan()
        before = campaign.events
        with pytest.raises(AssayPilotError, match="too many for one compound"):
            campaign.record([Result("R1=A|R2=A", 6.0, "pIC50", n=10**22)])
        assert campaign.events == before
