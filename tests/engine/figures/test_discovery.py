"""The picture of what a campaign finds along its budget."""

from assaypilot.engine.figures.discovery import Discovery, discovery_plot
from assaypilot.engine.figures.palette import LIGHT

NOW = Discovery("now", (48, 96, 144), (0.3, 0.7, 1.0), (0.4, 0.9, 1.0))
TRIED = Discovery("with these settings", (96, 192), (0.6, 0.9), (0.7, 1.0), budget=192)


def test_both_shares_are_drawn_at_the_ends_of_rounds():
    found, best = discovery_plot([NOW]).axes[0].get_lines()
    assert list(found.get_xdata()) == [48, 96, 144]
    assert list(found.get_ydata()) == [0.3, 0.7, 1.0]
    assert list(best.get_ydata()) == [0.4, 0.9, 1.0]
    assert found.get_color() == best.get_color() == LIGHT.accent
    assert best.get_linestyle() != found.get_linestyle()


def test_first_of_two_forecasts_is_pale_and_a_budget_is_marked():
    figure = discovery_plot([NOW, TRIED], size=(4.5, 1.6))
    lines = figure.axes[0].get_lines()
    assert [line.get_color() for line in lines] == [LIGHT.muted] * 2 + [LIGHT.accent] * 2 + [LIGHT.cutoff]
    assert set(lines[-1].get_xdata()) == {192}
    told = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert told == ["now", "members found", "best found"]


def test_a_single_round_is_a_point_and_nothing_says_so():
    (found, _) = discovery_plot([Discovery("now", (96,), (1.0,), (1.0,))]).axes[0].get_lines()
    assert found.get_marker() == "o"
    assert "Nothing is expected" in discovery_plot([]).axes[0].texts[0].get_text()
