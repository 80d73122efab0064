"""Pictures to the clipboard and to files, on white, with the data behind them in a csv file beside.

The clipboard takes one of the two at a time: where a picture and a text lie on it, programs for slides and letters
differ in which of them they paste.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QFileDialog

from assaypilot.engine.campaign.phrases import many
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.system.progress import Report

from ..plots.scene import picture_bytes
from ..runtime.tasks import Job
from ..tables.table import MOST_COPIED, as_clipboard
from ..widgets.file_dialogs import ask_for_place, file_name

if TYPE_CHECKING:
    from ..plots.scene import Scene, Shape
    from .desk import Desk
    from .exporting import Exporting


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

    def __init__(self, desk: Desk, exporting: Exporting, size: Callable[[], Shape]) -> None:
        """``size``: of the picture on the page that is shown, in inches."""
        self._desk, self._exporting, self._size = desk, exporting, size
        self.asking: QFileDialog | None = None
        """The question where to, the last one asked."""

    def copy(self, scene: Scene) -> Job:
        """The job that puts a picture on the clipboard."""
        desk, size = self._desk, self._size()

        def work(report: Report) -> bytes:
            return picture_bytes(scene, size, ".png", SHARP)

        def done(data: bytes) -> None:
            QGuiApplication.clipboard().setImage(QImage.fromData(data))
            desk.messages.note("The picture is on the clipboard.")

        return desk.session.aside("Copying the picture", work, done, desk.refuse)

    def copy_data(self, scene: Scene) -> Job:
        """The job that puts the data behind a picture on the clipboard, as a spreadsheet pastes them."""
        desk = self._desk

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
            desk.messages.note(f"The data of the picture are on the clipboard: {many(found[0], 'row')}.")

        return desk.session.aside("Copying the data", work, done, desk.refuse)

    def ask(self, scene: Scene, suffix: str) -> None:
        """Ask where a picture goes, and write it."""
        desk, view = self._desk, self._desk.session.view
        if view is None:
            return
        stem = f"{file_name(view.path.stem)} {file_name(scene.title)}"
        proposed = desk.settings.folder_for(FOLDER) / f"{stem}{suffix}"
        size = self._size()

        def chosen(path: Path) -> None:
            desk.settings.keep_folder_for(FOLDER, path.parent)
            self.to(path, scene, size)

        self.asking = ask_for_place(
            desk.parent, f"Export as {NAMES[suffix]}", proposed, NAMES[suffix], suffix, chosen, desk.messages.refuse
        )

    def to(self, path: Path, scene: Scene, size: Shape | None = None) -> Job:
        """The job that writes a picture, whose ending says what kind it is, and its data."""
        inches = size or self._size()
        data = data_path(path, replaced=path.exists())

        def work(report: Report) -> int:
            from assaypilot.engine.export.csv_file import write_csv
            from assaypilot.engine.export.whole import write_whole

            report(0.1, "Drawing")
            made = picture_bytes(scene, inches, path.suffix.lower())
            report(0.8, "Writing")
            header, rows = scene.table()
            write_csv(data, header, rows)
            write_whole(path, made)
            return len(rows)

        def done(_: int) -> None:
            self._exporting.written(path, f"{path.name} written, its data in {data.name}.")

        def again() -> None:
            self.ask(scene, path.suffix.lower())

        return self._exporting.start(f"Exporting {path.name}", path, work, done, again)
