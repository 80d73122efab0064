"""Pictures to the clipboard and to files, on white, with the data behind them in a csv file beside.

The clipboard takes one of the two at a time: where a picture and a text lie on it, programs for slides and letters
differ in which of them they paste.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QFileDialog

from assaypilot.engine.campaign.phrases import many
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.system.progress import Cancelled, Report

from ..plots.scene import picture_bytes
from ..runtime.tasks import Job
from ..tables.table import MOST_COPIED, as_clipboard
from ..widgets.save_dialog import ask_for_place, file_name

if TYPE_CHECKING:
    from ..plots.scene import Scene, Shape
    from .main_window import MainWindow

__all__ = ["PictureFiles", "data_path"]

FOLDER = "picture"
SHARP = 192.0
"""Dots per inch of a copied picture."""
NAMES = {".png": "PNG picture", ".svg": "SVG picture", ".pdf": "PDF picture"}


def data_path(picture: Path, *, replaced: bool) -> Path:
    """Where the data of a picture go: ``<its name> data.csv``, numbered where another file has that name.

    ``replaced``: the picture takes the place of an older one, and so do its data.
    """
    found = picture.with_name(f"{picture.stem} data.csv")
    number = 2
    while found.exists() and not replaced:
        found = picture.with_name(f"{picture.stem} data {number}.csv")
        number += 1
    return found


class PictureFiles:
    """Copies and exports the pictures of a window."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self.asking: QFileDialog | None = None
        """The question where to, the last one asked."""

    @property
    def _size(self) -> Shape:
        """Inches of the picture on the page that is shown."""
        window = self._window
        return (window.candidates if window.page is window.candidates else window.sar).canvas.inches

    def copy(self, scene: Scene) -> Job:
        """The job that puts a picture on the clipboard."""
        window, size = self._window, self._size

        def work(report: Report) -> bytes:
            return picture_bytes(scene, size, ".png", SHARP)

        def done(data: bytes) -> None:
            QGuiApplication.clipboard().setImage(QImage.fromData(data))
            window.messages.note("The picture is on the clipboard.")

        def failed(error: Exception) -> None:
            if isinstance(error, AssayPilotError):
                window.messages.refuse(error)

        return window.session.aside("Copying the picture", work, done, failed)

    def copy_data(self, scene: Scene) -> Job:
        """The job that puts the data behind a picture on the clipboard, as a spreadsheet pastes them."""
        window = self._window

        def work(report: Report) -> tuple[int, str]:
            from assaypilot.engine.export.csv_file import plain

            header, rows = scene.table()
            if len(rows) > MOST_COPIED:
                raise AssayPilotError(
                    f"{len(rows):,} rows are too many for a clipboard, which takes {MOST_COPIED:,}",
                    mend="Export writes all, beside the picture.",
                )
            return len(rows), as_clipboard([header, *([plain(cell) for cell in row] for row in rows)])

        def done(found: tuple[int, str]) -> None:
            QGuiApplication.clipboard().setText(found[1])
            window.messages.note(f"The data of the picture are on the clipboard: {many(found[0], 'row')}.")

        def failed(error: Exception) -> None:
            if isinstance(error, AssayPilotError):
                window.messages.refuse(error)

        return window.session.aside("Copying the data", work, done, failed)

    def ask(self, scene: Scene, suffix: str) -> None:
        """Ask where a picture goes, and write it."""
        window, view = self._window, self._window.session.view
        if view is None:
            return
        stem = f"{file_name(view.path.stem)} {file_name(scene.title)}"
        proposed = window.settings.folder_for(FOLDER) / f"{stem}{suffix}"
        size = self._size

        def chosen(path: Path) -> None:
            window.settings.keep_folder_for(FOLDER, path.parent)
            self.to(path, scene, size)

        self.asking = ask_for_place(
            window, f"Export as {NAMES[suffix]}", proposed, NAMES[suffix], suffix, chosen, window.messages.refuse
        )

    def to(self, path: Path, scene: Scene, size: Shape | None = None) -> Job:
        """The job that writes a picture, whose ending says what kind it is, and its data."""
        window = self._window
        inches = size or self._size
        data = data_path(path, replaced=path.exists())

        def work(report: Report) -> None:
            from assaypilot.engine.export.csv_file import write_csv
            from assaypilot.engine.export.whole import write_whole

            report(0.1, "Drawing")
            made = picture_bytes(scene, inches, path.suffix.lower())
            report(0.8, "Writing")
            header, rows = scene.table()
            write_csv(data, header, rows)
            write_whole(path, made)

        def done(_: None) -> None:
            window.exporting.written(path, f"{path.name} written, its data in {data.name}.")

        def failed(error: Exception) -> None:
            if isinstance(error, Cancelled):
                window.messages.note(f"Stopped: {path.name} was not written.")
            elif isinstance(error, AssayPilotError):
                window.messages.refuse(error, ("Another place…", lambda: self.ask(scene, path.suffix.lower())))

        window.messages.outdate()
        return window.session.aside(f"Exporting {path.name}", work, done, failed, writes=True)
