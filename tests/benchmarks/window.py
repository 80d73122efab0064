"""The window's longest stalls and its memory, step by step: a journey on 10,000 compounds, and a library of a million.

By hand: ``python -m tests.benchmarks.window`` (``--only journey`` or ``million``; ``--where`` prints what the window's
thread did in the longest silence of each step). Each step shows the wall time until everything is settled, the longest
time for which the event loop did not answer (stall), the processor time of the process (cpu) and of the window's thread
alone (own) in the longest such time, and the most memory: that of the window and of its worker processes together,
what they share counted once (PSS, where the system tells it). On a machine that does nothing else a stall is at most
its cpu. Wanted: no stall of 100 ms, less than 500 MB; a frame of a million rows in 20 ms.

Worker processes load this module first, as they load the program's entry, and it loads nothing of the window either.
"""

if __name__ == "__main__":
    from tests.benchmarks.journeys import main

    main(__doc__)
