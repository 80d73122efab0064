"""Exports of a window: compounds and pictures, to files and to the clipboard, and actions on the files."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication, QImage
from PySide6.QtWidgets import QFileDialog

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.system.progress import Cancelled, Report
from assaypilot.engine.text import many

from ..plots.scene import picture_bytes
from ..runtime.tasks import Job
from ..tables.table import MOST_COPIED, as_clipboard
from ..widgets.file_dialogs import ask_for_place, file_name
from ..widgets.layout import show_dialog
from .export_dialog import ExportDialog, Kind, Wanted, Which, kind_of

if TYPE_CHECKING:
    from assaypilot.engine.campaign.state import Status
    from assaypilot.engine.export.contents import Choice

    from ..candidates.candidates_page import CandidatesPage
    from ..plots.scene import Scene, Shape
    from .page import Desk


FOLDER = "picture"
SHARP = 192.0
"""Dots per inch of a copied picture."""


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
        """The latest dialog for a place to write to."""

    def copy(self, scene: Scene) -> Job:
        """Return the job that puts a picture on the clipboard."""
        desk, size = self._desk, self._size()

        def work(report: Report) -> bytes:
            return picture_bytes(scene, size, ".png", SHARP)

        def done(data: bytes) -> None:
            QGuiApplication.clipboard().setImage(QImage.fromData(data))
            desk.messages.note("The picture is on the clipboard.")

        return desk.session.aside("Copying the picture", work, done, desk.refuse)

    def copy_data(self, scene: Scene) -> Job:
        """Return the job that puts the data behind a picture on the clipboard, as a spreadsheet pastes them."""
        desk = self._desk

        def work(report: Report) -> tuple[int, str]:
            from assaypilot.engine.export.sheet import plain

            header, rows = scene.table()
            if len(rows) > MOST_COPIED:
                raise AssayPilotError(
                    f"{len(rows):,} rows are too many for a clipboard, which takes {MOST_COPIED:,}",
                    mend="Export writes all of them with the picture.",
                )
            return len(rows), as_clipboard([header, *([plain(cell) for cell in row] for row in rows)])

        def done(found: tuple[int, str]) -> None:
            QGuiApplication.clipboard().setText(found[1])
            desk.messages.note(f"The data of the picture are on the clipboard: {many(found[0], 'row')}.")

        return desk.session.aside("Copying the data", work, done, desk.refuse)

    def ask(self, scene: Scene, suffix: str) -> None:
        """Ask for the place of a picture, and write it."""
        desk, view = self._desk, self._desk.session.view
        if view is None:
            return
        stem = f"{file_name(view.path.stem)} {file_name(scene.title)}"
        proposed = desk.settings.folder_for(FOLDER) / f"{stem}{suffix}"
        size, kind = self._size(), f"{suffix[1:].upper()} picture"

        def chosen(path: Path) -> None:
            desk.settings.keep_folder_for(FOLDER, path.parent)
            self.to(path, scene, size)

        self.asking = ask_for_place(
            desk.parent, f"Export as {kind}", proposed, kind, suffix, chosen, desk.messages.refuse
        )

    def to(self, path: Path, scene: Scene, size: Shape | None = None) -> Job:
        """Return the job that writes a picture, of the kind of its ending, and its data."""
        inches = size or self._size()
        data = data_path(path, replaced=path.exists())

        def work(report: Report) -> int:
            from assaypilot.engine.export.formats import write_whole
            from assaypilot.engine.export.sheet import write_csv

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


KIND, COLUMNS = "export/kind", "export/columns"
"""The remembered choices."""


class Exporting:
    """Compounds to files."""

    def __init__(self, desk: Desk, candidates: CandidatesPage, settle: Callable[[], None]) -> None:
        """``settle``: has the Candidates page up to date, also where it is not the one shown."""
        self._desk, self._candidates, self._settle = desk, candidates, settle
        self.dialog: ExportDialog | None = None
        """The export dialog, while it is open."""
        self.asking: QFileDialog | None = None
        """The latest dialog for a place to write to."""

    # ------------------------------------------------------------------ asking

    def shortlist(self) -> None:
        """Ask how to export the compounds that are in, else those on the Candidates page."""
        self.ask(None, None)

    def on_screen(self) -> None:
        """Ask how to export the Candidates page."""
        self.ask(None, "screen")

    def ask(self, kind: Kind | None, which: Which | None = None) -> None:
        """Ask what to export, with a kind of file and a choice of compounds to begin with."""
        desk, view = self._desk, self._desk.session.view
        if view is None or self.dialog is not None:
            return
        self._settle()
        status = view.status
        inside = int(status.counts.get("in", 0))
        if which is None:
            which = "screen" if not self._candidates.isHidden() or not inside else "in"
        settings = desk.settings
        wanted = Wanted(kind or kind_of(settings.text(KIND)), which, settings.text(COLUMNS) != "all")
        library = status.library
        drawn = library.scaffold is not None or (library.smiles is not None and any(library.smiles))
        dialog = ExportDialog(
            self._candidates.on_screen(), (inside, len(status.library)), wanted,
            structures=drawn, parent=desk.parent,
        )  # fmt: skip
        dialog.go.connect(self._ask_where)
        dialog.finished.connect(self._closed)
        self.dialog = dialog
        show_dialog(dialog)

    def _closed(self) -> None:
        self.dialog = None

    def _ask_where(self) -> None:
        settings, view, dialog = self._desk.settings, self._desk.session.view, self.dialog
        if view is None or dialog is None:
            return
        wanted = dialog.wanted
        stem = f"{file_name(view.path.stem)} {'shortlist' if wanted.which == 'in' else 'candidates'}"
        proposed = settings.folder_for("export") / f"{stem}{wanted.kind.suffix}"

        def chosen(path: Path) -> None:
            settings.keep_folder_for("export", path.parent)
            settings.keep_text(KIND, wanted.kind.suffix)
            if wanted.kind.columns:
                settings.keep_text(COLUMNS, "shown" if wanted.as_columns else "all")
            dialog.accept()
            self.to(path, wanted.which, as_columns=wanted.as_columns)

        self.asking = ask_for_place(
            dialog, f"Export as {wanted.kind.name}", proposed, wanted.kind.name, wanted.kind.suffix, chosen,
            dialog.refuse,
        )  # fmt: skip

    # ------------------------------------------------------------------ writing

    def to(self, path: Path, which: Which = "in", *, as_columns: bool = False) -> Job | None:
        """Return the job that writes compounds to a file, of the kind of its ending."""
        view = self._desk.session.view
        if view is None:
            return None
        self._settle()
        screen = self._candidates.on_screen()
        order = screen.order if which == "screen" else None
        columns = screen.columns if as_columns else None
        status, file = view.status, view.path.name

        def work(report: Report) -> int:
            from assaypilot.engine.export.contents import Choice

            choice = Choice("in" if which == "in" else "all", order, columns, screen.calculated)
            return export_contents(path, status, choice, file, report)

        def written(rows: int) -> None:
            words = f"{many(rows, 'compound')} written to {path.name}."
            self.written(path, words)

        again = kind_of(path.suffix.lower())
        return self.start(f"Exporting {path.name}", path, work, written, lambda: self.ask(again, which))

    def start(
        self, name: str, path: Path, work: Callable[[Report], int], then: Callable[[int], None],
        again: Callable[[], None],
    ) -> Job:  # fmt: skip
        """Return the job that writes a file, whole or not at all; ``again`` is offered when that fails."""
        desk = self._desk

        def whole(report: Report) -> int:
            with leftovers_removed(path):
                return work(report)

        def failed(error: Exception) -> None:
            if isinstance(error, Cancelled):
                desk.messages.note(f"Stopped: {path.name} was not written.")
            elif isinstance(error, AssayPilotError):
                desk.messages.refuse(error, ("Another place…", again))

        desk.messages.outdate()
        return desk.session.aside(name, whole, then, failed, writes=True)

    def written(self, path: Path, words: str) -> None:
        """Show that a file was written, and offer to open it."""
        self._desk.messages.note(
            words, ("Open", lambda: self._look(open_file(path), path)),
            ("Show in Folder", lambda: self._look(show_in_folder(path), path)),
        )  # fmt: skip

    def _look(self, done: bool, path: Path) -> None:
        if not done:
            gone = not path.exists()
            self._desk.messages.refuse(
                AssayPilotError(
                    "the file is not there any more" if gone else "no program here opens it",
                    file=str(path),
                    mend="Export it again." if gone else "It is at the place named; copy it from there.",
                )
            )


def export_contents(path: Path, status: Status, choice: Choice, file: str, report: Report) -> int:
    """How many compounds were written to ``path``, in a process of its own; ``file`` is the campaign's name."""
    from assaypilot.engine.export.contents import contents
    from assaypilot.engine.export.formats import write
    from assaypilot.engine.system.processes import in_another_process

    report(0.0, "Gathering")
    return in_another_process(write, path, contents(status, choice, file=file), report=report)


@contextmanager
def leftovers_removed(path: Path) -> Iterator[None]:
    """While another process writes a file: the temporary files of a failure are removed."""

    def leftovers() -> set[Path]:
        start, end = f".{path.name}.", ".part"
        return {one for one in path.parent.glob("*") if one.name.startswith(start) and one.name.endswith(end)}

    before = leftovers()
    try:
        yield
    except BaseException:
        for left in leftovers() - before:
            with suppress(OSError):  # held by a virus scanner, and no export
                left.unlink(missing_ok=True)
        raise


def open_file(path: Path) -> bool:
    """Whether the system opens a file with the program it has for it."""
    return path.exists() and QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))


def show_in_folder(path: Path) -> bool:
    """Whether the folder of a file is shown, the file selected where the system can do that."""
    if not path.exists():
        return False
    if sys.platform == "win32":
        # As one text: it wants quotes around the path alone, where a list would be quoted as a whole.
        subprocess.Popen(f'explorer /select,"{path.absolute()}"')
        return True
    if sys.platform == "darwin":
        subprocess.Popen(["open", "-R", str(path)])
        return True
    return QDesktopServices.openUrl(QUrl.fromLocalFile(str(path.parent)))
