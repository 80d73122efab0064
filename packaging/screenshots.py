"""Makes pictures of every page and dialog without a display: `python3 packaging/dev.py screenshots FOLDER`.

The compounds in them are made up, and so are their values: a simulated assay of an additive table.
With `--readme` the pictures of the README are written small into packaging/pictures, too.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from assaypilot.gui.app import dress
from assaypilot.gui.settings import Settings
from screens.further import further
from screens.journey import journey, trade_offs
from screens.later import bounds, changed_later, open_trade_offs
from screens.photographer import LOOKS, Photographer

PICTURES = Path(__file__).parent / "pictures"
README = {
    "candidates": "candidates-decided",
    "goal": "goal-tried",
    "round": "round-half-filled",
    "sar": "sar-map",
    "trade-offs": "trade-off-candidates",
}
"""The pictures of the README, by the names they have there."""
COMMONEST = 160
"""Colours of a small picture that are taken because they are common."""


def small(picture: Path, target: Path) -> None:
    """A copy with a palette of 256 of its colours, all others as the nearest of them."""
    image = QImage(str(picture)).convertToFormat(QImage.Format.Format_RGB32)
    width, height = image.width(), image.height()
    pixels = np.frombuffer(image.constBits(), dtype=np.uint32).reshape(height, -1)[:, :width] & 0xFFFFFF
    colours, places, counts = np.unique(pixels, return_inverse=True, return_counts=True)
    kept = palette_of(colours, counts)
    parts = [(np.asarray(values)[:, None] >> np.array([16, 8, 0])) & 255 for values in (colours, kept)]
    distance = ((parts[0][:, None, :].astype(np.int64) - parts[1][None, :, :]) ** 2).sum(axis=2)
    indices = distance.argmin(axis=1).astype(np.uint8)[places.reshape(height, width)]
    made = QImage(np.ascontiguousarray(indices).tobytes(), width, height, width, QImage.Format.Format_Indexed8)
    made.setColorTable([0xFF000000 | int(colour) for colour in kept])
    target.parent.mkdir(exist_ok=True)
    if not made.save(str(target), quality=0):
        sys.exit(f"{target} cannot be written.")


def palette_of(colours: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """At most 256 of some colours (0xRRGGBB): the commonest, and those least like any of them.

    The red of an oxygen, say, is in few points of a picture; of the commonest alone the nearest would be brown.
    """
    order = np.argsort(-counts, kind="stable")
    kept = list(order[:COMMONEST])
    parts = ((colours[:, None] >> np.array([16, 8, 0])) & 255).astype(np.int64)
    nearest = np.full(len(colours), np.iinfo(np.int64).max)
    for place in kept:
        nearest = np.minimum(nearest, ((parts - parts[place]) ** 2).sum(axis=1))
    while len(kept) < min(256, len(colours)):
        place = int(nearest.argmax())
        kept.append(place)
        nearest = np.minimum(nearest, ((parts - parts[place]) ** 2).sum(axis=1))
    return np.asarray(colours[kept])


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(
        prog="dev.py screenshots", description="Pictures of every page and dialog, made without a display."
    )
    parser.add_argument("folder", type=Path, help="where to put them")
    parser.add_argument("--readme", action="store_true", help="write the README's pictures, too")
    parser.add_argument("--only", choices=list(LOOKS), action="append", help="this look and no other; may be repeated")
    options = parser.parse_args()
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    application = QApplication([])
    dress(application, Settings(Path(tempfile.mkdtemp()) / "settings.ini"))
    wanted = options.only or list(LOOKS)
    if options.readme and "light-1280" not in wanted:
        parser.error("the README's pictures are of light-1280")
    for name in wanted:
        began = time.monotonic()
        photographer = Photographer(application, folder, LOOKS[name])
        for part in (journey, trade_offs, further, changed_later, bounds, open_trade_offs):
            part(photographer)
        photographer.close()
        print(f"{name}: {len(photographer.made)} pictures in {time.monotonic() - began:.0f} s", flush=True)
    if options.readme:
        for target, picture in README.items():
            small(folder / f"{picture}-light-1280.png", PICTURES / f"{target}.png")
    print(f"They are in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
