"""What pictures of a campaign show and need."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.settings import Settings
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.features import SiteFeatures
from assaypilot.engine.domain.library import Library
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.export.answer import RankedPicture, picture_of
from assaypilot.engine.export.pictures import look
from assaypilot.engine.figures.palette import LIGHT
from assaypilot.engine.models.ols import least_squares


def pixels(figure):
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())


def test_the_window_shows_what_the_report_shows_until_a_compound_is_chosen(nasty: Status) -> None:
    report = pixels(picture_of(nasty).draw((6.0, 3.0), 100.0))
    in_the_window = picture_of(nasty, None, lambda: LIGHT)
    np.testing.assert_array_equal(pixels(in_the_window.draw((6.0, 3.0), 100.0)), report)
    assert isinstance(in_the_window, RankedPicture)
    chosen = in_the_window.compounds[0]
    assert (pixels(picture_of(nasty, chosen).draw((6.0, 3.0), 100.0)) != report).any()
    assert picture_of(nasty).caption == in_the_window.caption != ""


ROWS = [(a, b) for a in ("H", "Me", "Cl") for b in ("F", "CN", "OMe")]
EFFECT = {"H": 0.0, "Me": 0.4, "Cl": 0.9, "F": 0.0, "CN": 0.5, "OMe": -0.3}


@pytest.fixture
def status(tmp_path: Path) -> Status:
    rng = np.random.default_rng(5)
    library = Library.listed(("R1", "R2"), ROWS, ids=[f"C{k}" for k in range(9)])
    values = [6.0 + EFFECT[a] + EFFECT[b] + 0.2 * rng.standard_normal() for a, b in ROWS]
    history = [Result(f"C{k}", values[k], "pIC50", n=n) for k, n in ((0, 1), (1, 2), (3, 1), (4, 3), (6, 1), (7, 1))]
    history.append(Result("C2", 4.0, "pIC50", relation="<"))
    endpoints = [Endpoint("pIC50", noise_sd=0.2), Endpoint("hERG", direction="min", noise_sd=0.3)]
    with Campaign.create(
        tmp_path / "x.assaypilot", library=library, endpoints=endpoints, settings=Settings("pIC50", epsilon=0.3),
        history=history,
    ) as campaign:  # fmt: skip
        round_ = campaign.plan()
        assert round_ is not None
        campaign.record([Result("C8", 7.3, "pIC50")])
        return campaign.status()


def test_the_best_with_each_substituent(status: Status) -> None:
    found = look(status, 0)
    for site in range(2):
        for code, name in enumerate(status.library.sites[site].substituents):
            carrying = [k for k in range(9) if ROWS[k][site] == name and np.isfinite(found.estimate[k])]
            best = int(found.best_with[site][code])
            assert ROWS[best][site] == name
            if carrying:
                assert found.estimate[best] == max(found.estimate[k] for k in carrying)


def test_surprise_is_the_difference_from_a_fit_without_the_compound(status: Status) -> None:
    found = look(status, 0)
    features = SiteFeatures.of(status.library)
    seen = 0
    for k in range(len(found.rows)):
        others = np.arange(len(found.rows)) != k
        fit = least_squares(features, found.rows[others], found.counts[others], found.means[others])
        one = found.rows[[k]]
        if not fit.estimable(one)[0]:
            assert np.isnan(found.surprise[k])
            continue
        seen += 1
        variance = 1.0 / found.counts[k] + fit.half_norms(one)[0] ** 2
        expected = (found.means[k] - fit.means(one)[0]) / (0.2 * np.sqrt(variance))
        assert found.surprise[k] == pytest.approx(expected, rel=1e-6)
    assert seen >= 3
