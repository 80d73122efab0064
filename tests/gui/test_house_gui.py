"""The ground under the window: Qt starts, its signals lose no reference, and tests notice what is left running."""

import textwrap

from tests.packaging.test_house import ROOT, run_tests


def test_timer_or_thread_left_running_fails_its_test(tmp_path):
    text = """
        import threading
        from PySide6.QtCore import QTimer

        KEEP = []
        FOREVER = threading.Event()

        def test_leaves_a_timer(qapp):
            timer = QTimer()
            timer.start(10_000)
            KEEP.append(timer)

        def test_leaves_a_thread(qapp):
            threading.Thread(target=FOREVER.wait, daemon=True).start()

        def test_leaves_nothing(qapp):
            timer = QTimer()
            timer.start(10_000)
            timer.stop()
    """
    conftest = (ROOT / "tests" / "conftest.py").read_text(encoding="utf-8")
    conftest = conftest.replace("SECONDS_TO_END = 5.0", "SECONDS_TO_END = 0.2")
    output = run_tests(tmp_path, textwrap.dedent(text), conftest)
    assert "3 passed, 2 errors" in output
    assert "left running:\nQTimer" in output
    assert "left running:\nthread" in output
