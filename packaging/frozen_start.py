"""The start of the packaged program: a worker process when it is one, otherwise what `assaypilot` starts.

Worker processes start the program again. Python's own are recognised in `assaypilot.gui.launch`. Those of joblib,
those that read files, and the question of `assaypilot doctor` for Qt, come as if the program were a Python:
`-m MODULE`, `-c CODE`, and on Windows `--multiprocessing-fork NUMBER`. Just these are taken.
"""

import os
import re
import runpy
import sys

WORKER = "joblib.externals.loky.backend.popen_loky_posix"
GUARDED = "assaypilot.engine.system.guarded"
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
    if words == ["-m", GUARDED]:
        from assaypilot.engine.system.guarded import main as guarded

        return guarded()
    if len(words) == 2 and words[0] == "--multiprocessing-fork" and words[1].isdigit():
        from joblib.externals.loky.backend.popen_loky_win32 import main as work

        # Not said to a packaged program, and needed to get at the pipe, which is the other process's.
        work(int(words[1]), parent_pid=os.getppid())
        return 0
    asked = TRACKER.fullmatch(words[-1]) if words[-2:-1] == ["-c"] else None
    if asked is not None:
        from joblib.externals.loky.backend.resource_tracker import main as track

        track(int(asked[1]), asked[2] == "True")
        return 0
    if words[:1] == ["-c"]:
        from assaypilot.engine.cli.doctor import ASK_QT

        if words[1:] == [ASK_QT]:
            exec(ASK_QT, {"__name__": "__main__"})
            return 0
    from assaypilot.gui.launch import main

    return main()


if __name__ == "__main__":
    sys.exit(start(sys.argv[1:]))
