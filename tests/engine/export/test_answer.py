"""The picture of the answer: one for reports and the window."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from assaypilot.engine.campaign.state import Status
from assaypilot.engine.export.answer import RankedPicture, picture_of
from assaypilot.engine.export.pictures import answer_caption, answer_figure
from assaypilot.engine.figures.palette import DARK, LIGHT


def pixels(figure):
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())


def test_the_window_shows_what_the_report_shows_until_a_compound_is_chosen(nasty: Status) -> None:
    report = pixels(answer_figure(nasty, (6.0, 3.0)))
    in_the_window = picture_of(nasty, None, lambda: LIGHT)
    np.testing.assert_array_equal(pixels(in_the_window.draw((6.0, 3.0), 100.0)), report)
    assert isinstance(in_the_window, RankedPicture)
    chosen = in_the_window.compounds[0]
    assert (pixels(picture_of(nasty, chosen).draw((6.0, 3.0), 100.0)) != report).any()
    assert answer_caption(nasty) == in_the_window.caption != ""


def test_a_picture_drawn_again_has_the_colours_of_that_moment(nasty: Status) -> None:
    asked = iter((LIGHT, DARK))
    picture = picture_of(nasty, None, lambda: next(asked))
    corner = [pixels(picture.draw((6.0, 3.0), 100.0))[0, 0, :3].tolist() for _ in range(2)]
    assert corner == [list(bytes.fromhex(palette.background[1:])) for palette in (LIGHT, DARK)]


def test_a_place_names_a_compound_once_something_is_drawn(nasty: Status) -> None:
    picture = picture_of(nasty)
    assert picture.compounds == []
    assert picture.near(0.0, 7.0, (0.1, 0.1)) is None
    picture.draw((6.0, 3.0), 100.0)
    assert picture.near(1.0, 7.0, (0.1, 0.1)) == pytest.approx(picture.compounds[0])
