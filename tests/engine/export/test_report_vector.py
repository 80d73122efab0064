"""What is drawn as vectors looks as its own program draws it; columns, texts and numbers of the report."""

import io
import math
import re

import numpy as np
import pypdfium2 as pdfium
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image, ImageFilter
from reportlab.pdfgen.canvas import Canvas

from assaypilot.engine.export.pdf_pages import load_fonts, not_drawn
from assaypilot.engine.export.plain import plain, shared_out
from assaypilot.engine.export.report_vector import FigureFlowable
from assaypilot.engine.figures.aligned import Aligned

load_fonts()


def seen(image: Image.Image, size: tuple[int, int]) -> np.ndarray:
    """A picture as somebody sees it who does not count pixels."""
    small = image.convert("L").resize(size, Image.Resampling.BOX)
    return np.asarray(small.filter(ImageFilter.GaussianBlur(1.5)), dtype=float)


def grey(data: bytes, size: tuple[int, int]) -> np.ndarray:
    with pdfium.PdfDocument(data) as read:
        return seen(read[0].render(scale=4).to_pil(), size)


def by_matplotlib(figure: Figure, size: tuple[int, int]) -> np.ndarray:
    stream = io.BytesIO()
    figure.set_dpi(288)
    FigureCanvasAgg(figure).print_png(stream)
    with Image.open(stream) as drawn:
        return seen(drawn, size)


def likeness(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.corrcoef(one.ravel(), other.ravel())[0, 1])


def as_pdf(figure: Figure) -> bytes:
    stream = io.BytesIO()
    flowable = FigureFlowable(figure)
    canvas = Canvas(stream, pagesize=(flowable.width, flowable.height))
    flowable.canv = canvas
    flowable.draw()
    canvas.save()
    return stream.getvalue()


def busy_figure() -> Figure:
    """Lines, dashes, alpha, filled and hollow markers, clipping, turned text, mathematics, curves."""
    figure = Figure(figsize=(4.0, 3.0), dpi=144)
    axes = figure.add_axes((0.15, 0.15, 0.8, 0.75))
    x = np.linspace(0, 6, 40)
    axes.plot(x, np.sin(x), "--", color="#1f5fbf", linewidth=2.0)
    axes.plot(x[::4], np.cos(x[::4]), "o", markerfacecolor="white", markersize=8)
    axes.fill_between(x, -0.5, 0.5 * np.sin(x), color="orange", alpha=0.4)
    axes.set_ylim(-0.8, 0.8)  # cuts the curves
    axes.set_ylabel("turned text", fontsize=12)
    axes.set_title("$x^2$ and bold", fontweight="bold")
    axes.annotate("CPD_$1_$2%", (3, 0.3), fontsize=14, fontweight="bold", parse_math=False)
    return figure


def test_a_figure_looks_as_matplotlib_draws_it() -> None:
    size = (400, 300)
    own, mine = by_matplotlib(busy_figure(), size), grey(as_pdf(busy_figure()), size)
    assert likeness(own, mine) > 0.98
    assert likeness(own, np.fliplr(mine)) < 0.7
    with pdfium.PdfDocument(as_pdf(busy_figure())) as read:
        text = read[0].get_textpage().get_text_range()
    assert "CPD_$1_$2%" in text
    assert "turned text" in text


def test_rings_are_equally_large_in_pictures_beside_each_other() -> None:
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


@given(st.lists(st.tuples(st.floats(1, 500), st.floats(0, 1)), min_size=1, max_size=12), st.floats(50, 800))
def test_columns_fit_and_give_nothing_away(columns: list[tuple[float, float]], width: float) -> None:
    natural = [one for one, _ in columns]
    least = [one * share for one, share in columns]
    found = shared_out(natural, least, width)
    assert sum(found) <= width * (1 + 1e-6)
    if sum(natural) <= width:
        assert found == natural
    elif sum(least) <= width:
        assert all(
            low * (1 - 1e-9) <= one <= high * (1 + 1e-9) for low, one, high in zip(least, found, natural, strict=True)
        )
        assert sum(found) == pytest.approx(width, rel=1e-4)


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
