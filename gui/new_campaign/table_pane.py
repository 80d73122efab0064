"""The table of a new campaign: a file or a pasted block, perhaps a second file, and how they were read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.system.progress import Cancelled
from assaypilot.engine.tables import headers
from assaypilot.engine.tables.raw import RawTable, fold
from assaypilot.engine.text import many

from ..library.library_rows import STRUCTURE_WIDTH, STRUCTURE_WISH
from ..runtime.settings import Settings
from ..runtime.tasks import Latest
from ..session.session import Session
from ..structures.drawing import Structures
from ..tables.rows import Column, RowsModel
from ..tables.table import Table
from ..widgets.file_dialogs import ask_for_table, ask_for_tables
from ..widgets.inputs import Pane, Segments
from ..widgets.layout import STRETCH, column_of, put, row_of
from ..widgets.text import ElidedLabel, button, error_words, label, polish
from .columns_fields import roles_chosen
from .table_panels import JoinPanel, ReadingPanel
from .table_work import Loaded, Place, Wanted, load

SHOWN = 60
"""Rows of the preview."""
MOST_WARNINGS = 3
"""Lines of warnings from reading; the check shows all of them."""


class TableModel(RowsModel):
    """The first rows of a table as they were read."""

    def show(
        self,
        columns: Sequence[str],
        cells: Sequence[Sequence[str]],
        rows: int,
        roles: Mapping[str, str] = MappingProxyType({}),
        pictures: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    ) -> None:
        """Show the first ``rows`` rows; the roles and the appearance of columns are by their names."""

        def column(place: int) -> Column:
            texts, name = cells[place], columns[place]
            seen = pictures.get(name)
            drawn = fold(name) in headers.STRUCTURES or seen is not None
            return Column(
                name,
                _heading(name, roles),
                lambda row: texts[row],
                smiles=(lambda row: texts[row] if seen is None else seen.get(texts[row], "")) if drawn else None,
                width=STRUCTURE_WIDTH if drawn else 0,
                wish=STRUCTURE_WISH if drawn else 0,
            )

        self.fill([column(place) for place in range(len(columns))], rows)


def _heading(name: str, roles: Mapping[str, str]) -> str:
    """Return the name of a column above its role; only one of them where both are the same."""
    role = roles.get(name, "not used") if roles else ""
    return name if role.casefold() in ("", name.casefold()) else f"{name}\n{role}"


class TablePane(Pane):
    """Choose a file or paste; the first rows are shown as they were read, and can be read otherwise."""

    read = Signal(object)
    """The RawTable."""
    role_wanted = Signal(str, QPoint)
    """The role of a column is to be chosen: its name, and the end of its heading on the screen."""

    def __init__(self, session: Session, settings: Settings) -> None:
        super().__init__()
        self.session, self.settings = session, settings
        self.loaded: Loaded | None = None
        self._job = Latest()
        self._wanted: Wanted | None = None
        self.setAcceptDrops(True)
        column = column_of(holder=self, spacing=10)
        self.intro = label(
            "One row per compound: an ID, its structure or its substituents in columns R1, R2, …, and values.",
            "muted",
            wrap=True,
        )
        column.addWidget(self.intro)
        row = row_of(spacing=10)
        self.choose = button("Choose a &file…", "go", then=self._choose)
        self.paste = button(
            "&Paste",
            tip="A block copied from a spreadsheet, with its header row",
            then=self.paste_clipboard,
        )
        self.file = ElidedLabel()
        put(row, self.choose, self.paste, (self.file, 1))
        column.addLayout(row)
        self.problem = label("", "problem", wrap=True)
        self.mend = label("", "muted", wrap=True)
        self.reading = ReadingPanel()
        self.reading.changed.connect(self._read_again)
        self.how = label("", "muted", wrap=True)
        self.otherwise = button(
            "Options, se&cond file…", "link", "Read the file otherwise, or join another", then=self._open
        )
        self.join = JoinPanel()
        self.join.wanted.connect(self._choose_second)
        self.join.dropped.connect(self.drop_second)
        self.join.changed.connect(self._read_again)
        self.views = Segments([("rows", "First rows"), ("alone", "Without a partner")], "What is shown")
        self.views.chosen.connect(lambda _: self._show_rows())
        self.model = TableModel(self)
        self._structures = Structures(self)
        self.table = Table(self.model, self._structures, name="The first rows of the table")
        self.table.setSortingEnabled(False)
        self.table.horizontalHeader().sectionClicked.connect(self._role_wanted)
        ways = row_of((self.how, 1), self.otherwise, spacing=10)
        put(column, self.problem, self.mend, ways, self.reading, self.join)
        switch = row_of(self.views, STRETCH)
        put(column, switch, (self.table, 1))
        self.empty = label("Drop a table here\ncsv, tsv, txt, xlsx, xls, ods, sdf or smi", "muted")
        self.empty.setObjectName("drop")
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column.addWidget(self.empty, 1)
        self._clear()

    @property
    def raw(self) -> RawTable | None:
        """The table, None while none was read."""
        return None if self.loaded is None else self.loaded.raw

    @property
    def complete(self) -> bool:
        """Whether a table was read."""
        return self.loaded is not None

    # ------------------------------------------------------------------ reading

    def load(self, path: Path, *second: Path) -> None:
        """Read a file, joined with a second one where there is one."""
        self.settings.folder = path.parent
        self._name_source(path)
        self._start(Wanted(Place(path), Place(second[0])) if second else Wanted(Place(path)))

    def paste_clipboard(self) -> None:
        """Read the clipboard."""
        self._name_source(None)
        self._start(Wanted(Place(text=QGuiApplication.clipboard().text())))

    def _name_source(self, path: Path | None) -> None:
        if path is None:
            self.file.setText("Pasted from the clipboard")
        else:
            self.file.setText(path.name, str(path))

    def load_second(self, path: Path) -> None:
        """Join a second file to the table."""
        if self.loaded is not None:
            self.settings.folder = path.parent
            self._start(replace(self.loaded.wanted, second=Place(path), id_column=None, other_column=None))

    def drop_second(self) -> None:
        """Read the first file alone."""
        if self.loaded is not None:
            self._start(replace(self.loaded.wanted, second=None, id_column=None, other_column=None))

    def _read_again(self) -> None:
        """Read the same files as they are to be read now."""
        if self.loaded is None:
            return
        wanted = self.loaded.wanted
        wanted = replace(wanted, first=replace(wanted.first, how=self.reading.how))
        if wanted.second is not None:
            own, other = self.join.own.currentData(), self.join.other.currentData()
            wanted = replace(wanted, id_column=own, other_column=other)
        self._start(wanted)

    def _start(self, wanted: Wanted) -> None:
        self._wanted = wanted
        words = f"Reading {wanted.first.name}"
        self._job.start(self.session.read(words, lambda report: load(wanted, report), self._show, self._refuse))

    def halt(self) -> None:
        """Stop reading when the dialog closes."""
        self._job.drop()

    def _choose(self) -> None:
        paths = ask_for_tables(self, self.settings.folder)
        if paths:
            self.load(*paths)

    def _choose_second(self) -> None:
        path = ask_for_table(self, self.settings.folder, "Choose the file to join")
        if path is not None:
            self.load_second(path)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take a file that is dragged in."""
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Read the file that was dropped, and join a second one."""
        paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        event.acceptProposedAction()
        if paths:
            self.load(*paths)

    # ------------------------------------------------------------------ showing

    def _show(self, loaded: Loaded) -> None:
        self.loaded = loaded
        raw = loaded.raw
        self._dress_choose("Other &file…", "")
        self.problem.hide()
        self.mend.hide()
        self.empty.hide()
        self.intro.hide()
        for part in (self.how, self.table):
            part.show()
        self.reading.show_reading(raw, loaded.sheets, loaded.wanted.first.how)
        self.join.show_joined(loaded)
        self._arrange()
        size = f"{many(len(raw), 'row')}, {len(raw.columns)} columns"
        kind = {"sdf": " · SD file", "smi": " · SMILES file"}.get(raw.kind, "")
        warnings = loaded.warnings
        more = len(warnings) - MOST_WARNINGS
        lines = [
            f"{size}{kind}",
            *warnings[:MOST_WARNINGS],
            *([f"… and {more} more under Rows and notes"] if more > 0 else []),
        ]
        self.how.setText("\n".join(lines))
        alone = sum(map(len, raw.unmatched))
        self.views.set_text("alone", f"Without a partner ({alone:,})")
        self.views.setVisible(bool(alone))
        if not alone and self.views.key != "rows":
            self.views.choose("rows")
        self._show_rows()
        self.changed.emit()
        self.read.emit(raw)

    def _open(self) -> None:
        """Offer the ways to read the file, and the second file; from now on for every table."""
        self._opened = True
        self._arrange()

    _opened = False
    _roles: Mapping[str, str] = MappingProxyType({})
    _pictures: Mapping[str, Mapping[str, str]] = MappingProxyType({})

    def _arrange(self) -> None:
        loaded = self.loaded
        opened = self._opened or (loaded is not None and len(loaded.sheets) > 1)
        self.reading.setVisible(loaded is not None and opened and self.reading.any)
        self.join.setVisible(loaded is not None and (opened or loaded.wanted.second is not None))
        self.otherwise.setVisible(loaded is not None and not opened)

    def show_roles(self, roles: Mapping[str, str], pictures: Mapping[str, Mapping[str, str]]) -> None:
        """Show the role above each column, and draw substituents by the SMILES of each label."""
        if (roles, pictures) != (self._roles, self._pictures):
            self._roles, self._pictures = roles, pictures
            self._show_rows()

    def correct_roles(self, role_of: Callable[[str, str], str]) -> None:
        """Show the chosen roles of the columns, while the table is unusable with them."""
        if self._roles and self.raw is not None:
            self.show_roles(roles_chosen(self._roles, self.raw.columns, role_of), self._pictures)

    def _role_wanted(self, place: int) -> None:
        if self._roles and self.raw is not None and self.views.key == "rows":
            header = self.table.horizontalHeader()
            at = QPoint(header.sectionViewportPosition(place), header.height())
            self.role_wanted.emit(self.raw.columns[place], header.viewport().mapToGlobal(at))

    def _show_rows(self) -> None:
        """Show the first rows, or the ids that only one of the files has."""
        loaded = self.loaded
        if loaded is None:
            return
        raw = loaded.raw
        drawn = next((place for place, name in enumerate(raw.columns) if fold(name) in headers.STRUCTURES), None)
        self._structures.use(() if drawn is None else raw.cells[drawn][:SHOWN])
        if self.views.key == "rows" or loaded.wanted.second is None:
            self.model.show(raw.columns, raw.cells, min(len(raw), SHOWN), self._roles, self._pictures)
            return
        here, there = raw.unmatched
        size = max(len(here), len(there))
        names = (f"Only in {loaded.wanted.first.name}", f"Only in {loaded.wanted.second.name}")
        self.model.show(names, [[*ids, *[""] * (size - len(ids))] for ids in (here, there)], size)

    def _refuse(self, error: Exception) -> None:
        before, wanted = self.loaded, self._wanted
        same = before is not None and wanted is not None and before.wanted.first.path == wanted.first.path
        if before is not None and (same or isinstance(error, Cancelled)):
            # The previous table stays, and the choices go back to it.
            first = before.wanted.first
            self._name_source(first.path)
            self.reading.show_reading(before.raw, before.sheets, first.how)
            self.join.show_joined(before)
        else:
            self._clear()
        if isinstance(error, AssayPilotError):
            text, mend = error_words(error)
        else:
            text, mend = (
                "Reading was stopped." if before is None else "Reading was stopped; the table is as before.",
                "",
            )
        self.problem.setText(text)
        self.problem.show()
        self.mend.setText(mend)
        self.mend.setVisible(bool(mend))
        self.changed.emit()

    def _dress_choose(self, text: str, role: str) -> None:
        """Highlight the button while choosing a file is the next step."""
        self.choose.setText(text)
        if self.choose.property("role") != role:
            polish(self.choose, role=role)

    def _clear(self) -> None:
        self.loaded = None
        self._dress_choose("Choose a &file…", "go")
        for part in (self.problem, self.mend, self.how, self.views, self.table):
            part.hide()
        self._roles, self._pictures = MappingProxyType({}), MappingProxyType({})
        self._arrange()
        self.empty.show()
        self.intro.show()
