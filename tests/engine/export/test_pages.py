"""What pages are made of: structures of one scale, columns that fit, texts that every format can hold."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.export.pdf_pages import load_fonts, not_drawn
from assaypilot.engine.export.plain import plain
from assaypilot.engine.figures.aligned import Aligned

load_fonts()


def test_rings_are_equally_large_in_pictures_next_to_each_other() -> None:
    aligned = Aligned(("c1ccccc1",))
    smiles = ["c1ccccc1", "CCCCc1ccccc1", "OC(=O)Cc1ccccc1"]
    bond = aligned.bond(smiles, 160, 90)
    rings = []
    for text in smiles:
        svg = aligned.svg(text, 160, 90, bond=bond)
        assert svg is not None
        ends = re.findall(r"d='M ([\d.]+),([\d.]+) L ([\d.]+),([\d.]+)'", svg)
        # The longest line of all is a whole bond: those of letters and the inner ones of a ring are shorter.
        rings.append(max(math.hypot(float(c) - float(a), float(d) - float(b)) for a, b, c, d in ends))
    assert rings == pytest.approx([bond] * 3, rel=0.05)
    assert Aligned(()).bond([], 160, 80) > 0


@given(st.text(max_size=60))
def test_any_text_becomes_one_line_that_xml_and_pdf_can_hold(text: str) -> None:
    made = plain(text)
    assert len(made) == len(text)
    assert not [letter for letter in made if ord(letter) < 32 or letter in "\ufffe\uffff\u2028\u2029\x7f"]
    made.encode("utf-8")
    assert all(a == b for a, b in zip(text, made, strict=True) if a.isprintable())


def test_signs_the_font_does_not_have_are_named() -> None:
    assert not_drawn(["pIC50 µM ≥ α", "plain"]) == []
    assert not_drawn(["化合物", "合 1"])[0].startswith("3 characters of names")
