import json
import math
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.cli.program import as_json, escaped, table

plain_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def _expected(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list):
        return [_expected(item) for item in value]
    if isinstance(value, dict):
        return {key: _expected(item) for key, item in value.items()}
    return value


@given(plain_json)
def test_json_is_strict_and_keeps_everything_else(value):
    def refuse(text: str) -> None:
        raise AssertionError(text)

    assert json.loads(as_json(value), parse_constant=refuse) == _expected(value)


def test_json_of_what_the_engine_holds():
    value = {"a": np.array([1.5, np.nan]), "b": np.int64(3), "c": Path("x"), "d": frozenset("ba"), "e": (1, np.inf)}
    assert json.loads(as_json(value)) == {"a": [1.5, None], "b": 3, "c": "x", "d": ["a", "b"], "e": [1, None]}


def test_texts_cannot_command_a_terminal():
    assert escaped("a\x1b[2Jb\nc\u202ed") == "a\ufffd[2Jb c\ufffdd"


def test_table_is_aligned():
    lines = table(["ID", "Value"], [("Ω", 7), ("long name", "10.25"), ("宽", None)])
    assert lines == ["ID         Value", "Ω              7", "long name  10.25", "宽"]
