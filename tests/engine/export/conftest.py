import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PIL import Image

from assaypilot.engine.campaign.state import Status
from assaypilot.engine.export import pictures, slide
from tests.engine.export import reporting
from tests.engine.export.making import MEASURABLE, begin, nasty_library, play


@pytest.fixture(scope="module", autouse=True)
def coarse_pictures() -> Iterator[None]:
    """Draw the pictures of reports and slides with few pixels, where half of the time goes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("assaypilot.engine.export.report.DENSITY", 0.5)
        patch.setattr("assaypilot.engine.export.slide._DPI", 40)
        yield


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the figures of reports and slides empty, for what is asked of everything else."""
    stream = io.BytesIO()
    Image.new("L", (1, 1), 255).save(stream, "png")
    for module in (pictures, slide):
        monkeypatch.setattr(module, "as_png", lambda figure, dpi: io.BytesIO(stream.getvalue()))


@pytest.fixture(scope="session")
def nasty_file(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Status]:
    """A campaign file on nine compounds with structures, bad ids and some rounds, and its status."""
    path = tmp_path_factory.mktemp("nasty") / "x.assaypilot"
    with begin(path, nasty_library(measurable=MEASURABLE), max_replicates=20) as campaign:
        return path, play(campaign, 2, plate="P 1", well="A01", comment="=HYPERLINK(1)", date="2030-01-02")


@pytest.fixture(scope="session")
def nasty(nasty_file: tuple[Path, Status]) -> Status:
    """The status of that campaign: something is in, out, undecided, measured and never measured."""
    return nasty_file[1]


@pytest.fixture(scope="session")
def decided(tmp_path_factory: pytest.TempPathFactory) -> Status:
    """The status of a decided campaign on 36 indoles."""
    with reporting.begin(tmp_path_factory.mktemp("decided"), reporting.indoles()) as campaign:
        return reporting.play(campaign)


@pytest.fixture
def play_nasty(nasty_file: tuple[Path, Status], tmp_path: Path) -> Callable[[], Path]:
    """Lays a copy of that campaign's file into the test's folder."""

    def copy() -> Path:
        path = tmp_path / "x.assaypilot"
        path.write_bytes(nasty_file[0].read_bytes())
        return path

    return copy
