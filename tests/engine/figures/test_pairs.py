"""The map of two sites against plain loops, and what is drawn of it."""

import io
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from assaypilot.engine.figures import heat
from assaypilot.engine.figures.heat import PairMap, heat_map, pair_map
from assaypilot.engine.figures.palette import DARK, LIGHT

NAN = float("nan")
SIZES = (3, 4, 2)


def small() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    codes = np.array([c for c in itertools.product(*map(range, SIZES)) if c[:2] != (1, 2)], dtype=np.int32)
    estimate = 6.0 + codes @ np.array([0.5, -0.25, 0.1])
    estimate[codes[:, 1] == 3] = NAN
    measured = (codes.sum(axis=1) % 3 == 0).astype(np.intp)
    return codes, estimate, measured


@given(st.integers(0, 10_000), st.booleans(), st.sampled_from([1.0, -1.0]), st.booleans())
def test_each_cell_is_what_a_loop_finds(seed: int, fix: bool, sign: float, by_effect: bool) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    sizes = (*SIZES, 2)
    codes = np.stack([rng.integers(0, size, n) for size in sizes], axis=1).astype(np.int32)
    estimate = np.where(rng.random(n) < 0.2, NAN, rng.normal(6, 1, n).round(1))
    measured = rng.integers(0, 3, n)
    fixed = {2: int(rng.integers(2)), 3: int(rng.integers(2))} if fix else {}
    view = pair_map(codes, sizes, (0, 1), estimate, measured, sign=sign, fixed=fixed, by_effect=by_effect)
    here = [k for k in range(n) if all(codes[k, site] == code for site, code in fixed.items())]
    assert set(view.rows.tolist()) == {int(codes[k, 0]) for k in here}
    assert set(view.columns.tolist()) == {int(codes[k, 1]) for k in here}
    for (i, a), (j, b) in itertools.product(enumerate(view.rows.tolist()), enumerate(view.columns.tolist())):
        cell = [k for k in here if codes[k, 0] == a and codes[k, 1] == b]
        values = [estimate[k] for k in cell if np.isfinite(estimate[k])]
        assert view.compounds[i, j] == len(cell)
        assert view.measured[i, j] == sum(measured[k] > 0 for k in cell)
        assert view.mean[i, j] == pytest.approx(np.mean(values) if values else NAN, nan_ok=True)
        if not cell:
            assert view.best[i, j] == -1
        else:
            assert view.best[i, j] == min(
                cell, key=lambda k: (-sign * estimate[k] if np.isfinite(estimate[k]) else np.inf, k)
            )
    assert view.gaps == int((view.compounds == 0).sum())
    if not by_effect:
        assert view.rows.tolist() == sorted(view.rows.tolist())


def test_the_best_come_first_and_the_unknown_last() -> None:
    codes, estimate, measured = small()
    view = pair_map(codes, SIZES, (0, 1), estimate, measured)
    assert view.rows.tolist() == [2, 1, 0]
    assert view.columns.tolist() == [0, 1, 2, 3]
    turned = pair_map(codes, SIZES, (0, 1), estimate, measured, sign=-1.0)
    assert turned.rows.tolist() == [0, 1, 2]
    assert turned.columns.tolist() == [2, 1, 0, 3]
    assert view.cell_of(2, 1) == (0, 1)
    assert view.cell_of(7, 1) is None


def test_a_map_needs_two_sites_and_shows_no_more_than_can_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    codes, estimate, measured = small()
    with pytest.raises(ValueError, match="two different sites"):
        pair_map(codes, SIZES, (1, 1), estimate, measured)
    monkeypatch.setattr(heat, "MOST", 2)
    view = pair_map(codes, SIZES, (0, 1), estimate, measured)
    assert view.mean.shape == (2, 2)
    assert view.left_out == (1, 2)
    assert view.rows.tolist() == [2, 1]


def drawn(view: PairMap, **more: object) -> Figure:
    rows, columns = [f"a{k}" for k in view.rows], [f"b{k} $x$" for k in view.columns]
    given = {"sites": ("R1 $_$", "R2"), "quantity": "pIC50 $a$", "size": (7.0, 5.0), "rest": "R3 averaged"} | more
    figure = heat_map(view, rows, columns, **given)  # type: ignore[arg-type]  # what a test asks for
    FigureCanvasAgg(figure).print_png(io.BytesIO())
    return figure


def texts(figure: Figure) -> list[str]:
    return [one.get_text() for one in [*figure.axes[0].texts, *figure.texts] if one.get_text()]


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_values_gaps_and_measured_cells_are_seen_without_colour(palette: object) -> None:
    codes, estimate, measured = small()
    view = pair_map(codes, SIZES, (0, 1), estimate, measured)
    figure = drawn(view, palette=palette, selected=(0, 0))
    said = texts(figure)
    assert {"7.05", "a2", "b0 $x$", "R1 $_$ ↓", "R2 →"} <= set(said)
    assert said.count("?") == 3  # of three rows, the column that cannot be estimated
    key = next(text for text in said if "measured (bold)" in text)
    assert "blank: no such compound" in key.replace("\n", " ")
    assert "? not estimable" in key.replace("\n", " ")
    assert key.endswith("R3 averaged")
    mesh = figure.axes[0].collections[0]
    mask = np.ma.getmaskarray(mesh.get_array()).reshape(view.mean.shape)
    assert (mask == ~np.isfinite(view.mean)).all()
    dots = sorted(
        (round(float(y)), round(float(x)))
        for line in figure.axes[0].lines
        for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)
    )
    assert dots == sorted((int(a), int(b)) for a, b in zip(*np.nonzero(view.measured), strict=True))
    assert not any(one.get_parse_math() for one in [*figure.axes[0].texts, *figure.texts] if "$" in one.get_text())


def test_text_in_cells_stands_out_from_its_cell() -> None:
    codes, estimate, measured = small()
    view = pair_map(codes, SIZES, (0, 1), estimate, measured)

    def luminance(colour: object) -> float:
        from matplotlib.colors import to_rgb

        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for palette in (LIGHT, DARK):
        for sign in (1.0, -1.0):
            figure = drawn(view, palette=palette, sign=sign)
            mesh = figure.axes[0].collections[0]
            fill = mesh.to_rgba(mesh.get_array()).reshape(*view.mean.shape, 4)
            for text in figure.axes[0].texts:
                x, y = text.get_position()
                if not text.get_text().replace(".", "").isdigit() or text.get_transform() != figure.axes[0].transData:
                    continue
                a, b = luminance(fill[round(y), round(x)][:3]), luminance(text.get_color())
                assert (max(a, b) + 0.05) / (min(a, b) + 0.05) > 4.2, (text.get_text(), palette.background)


def test_cells_say_what_is_known_only_as_bounds() -> None:
    codes = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 0, 1], [1, 1, 0], [2, 0, 0]], dtype=np.int32)
    estimate = np.array([6.0, 4.2, 4.4, 5.6, 7.0, 9.4])
    measured = np.array([2, 0, 0, 1, 0, 0])
    bounded = np.array([0, 1, 3, 0, 2, 1])
    view = pair_map(codes, SIZES, (0, 1), estimate, measured, by_effect=False, bounded=bounded)
    assert view.measured.tolist() == [[1, 1], [2, 1], [1, 0]]
    assert view.bounded.tolist() == [[0, 1], [1, 1], [1, 0]]
    shown = texts(drawn(view))
    assert any("only as a bound" in text for text in shown)
    assert not any("only as a bound" in text for text in texts(drawn(pair_map(*_plain()))))


def _plain() -> tuple[np.ndarray, tuple[int, ...], tuple[int, int], np.ndarray, np.ndarray]:
    codes, estimate, measured = small()
    return codes, SIZES, (0, 1), estimate, measured
