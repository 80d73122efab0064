"""The start of the packaged program: a worker process when it is one, otherwise what `assaypilot` starts.

Worker processes start the program again. Python's own are told apart in `assaypilot.gui.launch`, by what PyInstaller
adds to multiprocessing; those of joblib are started as if the program were a Python, `-m MODULE` and `-c CODE`.
"""

import re
import runpy
import sys

WORKER = "joblib.externals.loky.backend.popen_loky_posix"
TRACKER = re.compile(
    r"from joblib\.externals\.loky\.backend\.resource_tracker import main; main\((\d+), (True|False)\)"
)


def start(words: list[str]) -> int:
    """Return the exit code of what the words ask for."""
    if words[:2] == ["-m", WORKER]:
        sys.argv = [sys.argv[0], *words[2:]]
        # Not in place of __main__: it is compared with that of the process that asked.
        runpy.run_module(WORKER, run_name="__main__", alter_sys=False)
        return 0
    asked = TRACKER.fullmatch(words[-1]) if words[-2:-1] == ["-c"] else None
    if asked is not None:
        from joblib.externals.loky.backend.resource_tracker import main as track

        track(int(asked[1]), asked[2] == "True")
        return 0
    from assaypilot.gui.launch import main

    return main()


if __name__ == "__main__":
    sys.exit(start(sys.argv[1:]))
