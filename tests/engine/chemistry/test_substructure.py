import pytest

from assaypilot.engine.chemistry.substructure import holding, similar_to
from assaypilot.engine.errors import AssayPilotError

SMILES = ["c1ccncc1C", "c1ccccc1C", "", "not one", "c1ccncc1CC"]


def test_structures_that_hold_a_part_are_marked():
    assert list(holding(SMILES, "c1ccncc1")) == [1, 0, 0, 0, 1]


def test_structures_like_another_are_marked():
    assert list(holding(SMILES, similar_to("c1ccncc1C", 1.0))) == [1, 0, 0, 0, 0]
    assert list(holding(SMILES, similar_to("c1ccncc1C", 0.45))) == [1, 0, 0, 0, 1]


@pytest.mark.parametrize("question", ["c1cc(", similar_to("no one", 0.5)])
def test_question_that_is_no_structure_is_refused(question):
    with pytest.raises(AssayPilotError):
        holding(SMILES, question)
