"""Makes the program's icons from its one drawing: `python packaging/icons.py FOLDER`, with PySide6 and Pillow.

Writes `assaypilot.ico` (Windows), `assaypilot.icns` (macOS) and `assaypilot-SIZE.png` (Linux).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PIL import Image
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

DRAWING = Path(__file__).resolve().parent.parent / "gui" / "resources" / "icon.svg"
PNG = (16, 24, 32, 48, 64, 128, 256, 512)
ICO = (16, 20, 24, 32, 40, 48, 64, 128, 256)
ICNS = (16, 32, 64, 128, 256, 512, 1024)


def drawn(size: int) -> Image.Image:
    """The icon, drawn anew at a size rather than made smaller."""
    picture = QImage(size, size, QImage.Format.Format_RGBA8888)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    QSvgRenderer(str(DRAWING)).render(painter, QRectF(0, 0, size, size))
    painter.end()
    return Image.frombytes("RGBA", (size, size), bytes(picture.constBits()))


def write(folder: Path) -> None:
    """Write every icon into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures = {size: drawn(size) for size in {*PNG, *ICO, *ICNS}}
    for size in PNG:
        pictures[size].save(folder / f"assaypilot-{size}.png")
    for name, sizes in (("assaypilot.ico", ICO), ("assaypilot.icns", ICNS)):
        largest, *others = (pictures[size] for size in sorted(sizes, reverse=True))
        if name.endswith(".ico"):
            largest.save(folder / name, sizes=[(size, size) for size in sizes], append_images=others)
        else:
            largest.save(folder / name, append_images=others)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Say into which folder: python packaging/icons.py FOLDER")
    application = QGuiApplication([])
    write(Path(sys.argv[1]))
