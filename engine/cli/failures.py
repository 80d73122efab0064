"""Where the traceback of a bug is kept, so that the user sees one line."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import time
import traceback
from pathlib import Path


def data_folder() -> Path:
    """Return the user's own folder for what the program keeps between starts; it may not exist yet."""
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "AssayPilot"
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "AssayPilot"
    return Path(os.environ.get("XDG_STATE_HOME") or home / ".local" / "state") / "assaypilot"


def save(error: BaseException, command: str) -> str:
    """One sentence for the user; the traceback goes into a file on this computer and nowhere else."""
    from ..system.version import program_version

    text = "\n".join(
        [
            f"AssayPilot {program_version()}, Python {platform.python_version()}, {platform.platform()}",
            f"command: {command}",
            "The lines below may quote a name or a value of yours: read them before you pass them on.",
            "",
            "".join(traceback.format_exception(error)),
        ]
    )
    name = f"internal-error-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{os.getpid()}.txt"
    for place in (data_folder, lambda: Path(tempfile.gettempdir())):
        try:
            folder = place()
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8", errors="replace")
        except (OSError, RuntimeError):  # full, read-only, or nobody's home is known
            continue
        return f"internal error ({type(error).__name__}): this is a mistake in the program. Saved to {folder / name}"
    return f"internal error ({type(error).__name__}): this is a mistake in the program, and nothing could be saved"
