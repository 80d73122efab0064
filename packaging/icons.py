"""Makes the program's icons from its one drawing: `python packaging/icons.py FOLDER`, with PySide6 and Pillow.

Writes `assaypilot.ico` (Windows), `assaypilot.icns` (macOS) and `assaypilot-SIZE.png` (Linux).
"""

import os
import sys
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PIL import Image
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

DRAWING = Path(__file__).resolve().parent.parent / "gui" / "resources" / "icon.svg"
SIZES = (16, 24, 32, 48, 64, 128, 256, 512, 1024)


def write(folder: Path) -> None:
    """Write every icon into the folder, each size drawn rather than made smaller."""
    folder.mkdir(parents=True, exist_ok=True)
    for size in SIZES:
        picture = QImage(size, size, QImage.Format.Format_ARGB32)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        QSvgRenderer(str(DRAWING)).render(painter, QRectF(0, 0, size, size))
        painter.end()
        picture.save(str(folder / f"assaypilot-{size}.png"))
    *smaller, largest = (Image.open(folder / f"assaypilot-{size}.png") for size in SIZES)
    largest.save(folder / "assaypilot.icns", append_images=smaller)
    largest.save(folder / "assaypilot.ico", sizes=[(size, size) for size in SIZES[:7]], append_images=smaller)


if __name__ == "__main__":
    application = QGuiApplication([])
    write(Path(sys.argv[1]))
