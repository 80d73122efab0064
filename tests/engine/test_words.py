"""Short texts are understood as they should be: each reader's in `words.txt`, its answers in `tests/golden`."""

import json
from dataclasses import fields
from pathlib import Path

import pytest

from assaypilot.engine.campaign.results.duplicates import days
from assaypilot.engine.chemistry.cores import read_cores
from assaypilot.engine.chemistry.names import drawable, short_name, short_names
from assaypilot.engine.chemistry.structures import read_structure
from assaypilot.engine.domain.derived import find_parts
from assaypilot.engine.domain.desirability import parse_curve
from assaypilot.engine.domain.endpoint import Endpoint, Limit, normalise_unit
from assaypilot.engine.domain.library import Library, label_text
from assaypilot.engine.domain.noise import parse_noise
from assaypilot.engine.domain.plates import FORMATS, PlateUse, read_controls, read_well, wells_text
from assaypilot.engine.simulate.instances import get
from assaypilot.engine.tables import headers
from assaypilot.engine.tables.classes import classes_of
from assaypilot.engine.tables.compound_names import CompoundNames
from assaypilot.engine.tables.entries import Unreadable, read_entry
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import parse_text
from assaypilot.engine.tables.options import EndpointSpec, parse_endpoint_spec
from assaypilot.engine.tables.products import about_ids
from assaypilot.engine.tables.side_columns import run_number
from assaypilot.engine.tables.stock import parse_cost, parse_lead, parse_state
from assaypilot.engine.text import percent, probability, signed
from tests import snapshots


def of_header(text):
    """Return what a header says: a name, a unit, a run, and what the column is."""
    name, unit = headers.split_unit(text)
    kinds = {"a property": headers.is_property, "of a fit": headers.is_of_fit, "log": headers.is_log_concentration}
    found = [name, f"in {unit}" * bool(unit), *(kind for kind, is_it in kinds.items() if is_it(text))]
    run = run_number(text)
    return "; ".join(filter(None, [*found, f"run {run[1]} of {run[0]}" if run else ""]))


def of_spec(text):
    """Return what an endpoint is said to be, but for what it usually is."""
    spec = parse_endpoint_spec(text)
    told = {one.name: getattr(spec, one.name) for one in fields(spec)}
    return ", ".join(f"{name} {value}" for name, value in told.items() if value != getattr(EndpointSpec(""), name))


def of_name(text):
    """Return which compound the last id means among those before it."""
    *ids, name = text.split("|")
    found = CompoundNames(Library.listed(["R1"], [[f"X{k}"] for k in range(len(ids))], ids=ids)).find(name)
    return "none" if found is None else " batch ".join(filter(None, [ids[found.compound], found.batch]))


def of_answer(text):
    """Return the value and the number of determinations of a cell of yes and no."""
    entry = read_entry(Endpoint("Active", kind="yes-no", words=("active", "inactive")), text)
    return "no value yet" if entry is None else f"{entry.value:g}, n {entry.n}"


def of_scale(text):
    """Return the scale on which an endpoint is modelled, and the unit of differences there."""
    name, unit, transform = text.split("|")
    endpoint = Endpoint(name, unit, transform)
    return f"{endpoint.scale_name} in {endpoint.scale_unit}"


def of_value(text):
    """Return a value on the scale that is modelled."""
    name, unit, transform, value, own = text.split("|")
    return f"{Endpoint(name, unit, transform).to_model(float(value), own):.6g}"


def of_limit(text):
    """Return a limit as it is said, which reads as the same limit."""
    limit = Limit.parse(text)
    assert Limit.parse(limit.text) == limit
    return limit.text


def of_parts(text):
    """Return which of the endpoints that stand first a difference subtracts from which."""
    *names, difference = text.split("|")
    return " minus ".join(find_parts("S", difference, [Endpoint(name, "log") for name in names if name]))


def of_entry(text):
    """Return what is wrong with an entry of an IC50 in nM, and which cell is to blame."""
    with pytest.raises(Unreadable) as refused:
        read_entry(Endpoint("IC50", "nM", "log"), **dict(part.split("=", 1) for part in text.split("|")))
    return f"{refused.value.part}: {refused.value.reason}"


def of_structure(text):
    """Return a structure in our spelling and what was left out of it, or why it cannot be used."""
    found = read_structure(text)
    assert bool(found.smiles) != bool(found.reason)
    return found.reason or " without ".join(filter(None, [found.smiles, ", ".join(found.left_out)]))


def of_core(text):
    """Return a core in our spelling with its sites."""
    (core,) = read_cores([text])
    return f"{core.smiles}; {', '.join(core.sites)}"


def of_building_blocks(text):
    """Return the names of substituents that stand in one column, and whether they are drawn."""
    labels = tuple(text.split("|"))
    return "|".join([*short_names(labels), *("drawn" for drawn in drawable(labels) if drawn)])


def of_controls(text):
    """Return which control stands in which columns of a plate."""
    return "; ".join(f"{one.name} in {one.columns}" for one in read_controls(text.split("|")))


def of_plate(text):
    """Return the places of measurements of so many wells on a plate: how many, and some of them."""
    size, columns, edge, wells = text.split("|")
    use = PlateUse(int(size), read_controls(columns.split(";") if columns else []), edge=edge == "edge")
    grid = use.grid(int(wells))
    places = [wells_text(grid.at(i, j)) for i in range(len(grid.tops)) for j in range(len(grid.lefts))]
    return f"{use.free_wells} free wells; {len(places)} places: {'; '.join([*places[:4], *places[4:][-1:]])}"


def of_wells(text):
    """Return wells as people read them."""
    return wells_text([read_well(one, FORMATS[96]) for one in text.split()])


def of_instance(text):
    """Return the size of an instance that a simulation knows by this name."""
    made = get(text)
    return f"{made.compounds} compounds, {made.dimension} effects"


def mapped(*rows):
    """Return what a table of these rows is proposed to hold, in cells between bars."""
    return propose(parse_text("\n".join(row.replace("|", "\t") for row in rows)))


def of_solubility(header):
    """Return how a column of numbers under this header is read: what is better, on which scale."""
    (column,) = mapped(f"ID|R1|R2|{header}", "a|Me|F|3", "b|H|F|30", "c|Me|Cl|300", "d|H|Cl|3").endpoints
    return f"{column.endpoint.direction}, {column.endpoint.transform}"


def of_classes(text):
    """Return the classes that a column gives instead of values: its header first, then its cells."""
    header, *cells = text.split("|")
    return ", ".join(classes_of(header, cells)) or "none"


WORDS = {
    "instance": of_instance,
    "id column": lambda name: mapped(f"SMILES|{name}|R1|v", "C|a|Me|1.5", "CC|b|H|2.5").id,
    "structure column": lambda name: mapped(f"ID|{name}|R1|v", "a|C|Me|1.5", "b|CC|H|2.5").smiles,
    "solubility": of_solubility,
    "classes": of_classes,
    "structure": of_structure,
    "substituent": short_name,
    "building blocks": of_building_blocks,
    "core": of_core,
    "well of 96": lambda text: str(read_well(text, FORMATS[96])),
    "wells": of_wells,
    "controls": of_controls,
    "plate": of_plate,
    "scale": of_scale,
    "unit": normalise_unit,
    "value": of_value,
    "limit": of_limit,
    "logarithm": lambda name: "yes" if Endpoint(name).is_log else "no",
    "difference": of_parts,
    "curve": lambda text: parse_curve(text).text,
    "share": lambda text: percent(*map(json.loads, text.split("|"))),
    "probability": lambda text: probability(float(text)),
    "signed": lambda text: signed(*map(json.loads, text.split("|"))),
    "entry": of_entry,
    "header": of_header,
    "endpoint": of_spec,
    "noise": parse_noise,
    "label": label_text,
    "stock": parse_state,
    "cost": lambda text: f"{parse_cost(text, ',' if ',' in text else '.'):g}",
    "lead time": lambda text: f"{parse_lead(text, round_days=10.0):g} days",
    "day": lambda text: ", ".join(sorted(days(text))) or "none",
    "ids": lambda text: about_ids(text.split("|")),
    "compound": of_name,
    "yes or no": of_answer,
}


def test_words_are_understood_as_they_should_be():
    snapshots.expect_answers("words.txt", Path(__file__).with_name("words.txt"), WORDS)
