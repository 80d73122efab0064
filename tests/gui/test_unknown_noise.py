"""Noise that nobody knows, in a new campaign and on the Goal page, through their real widgets."""

import numpy as np
from PySide6.QtTest import QTest

from assaypilot.engine.campaign.changes import Change
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library, Site
from assaypilot.engine.domain.noise import StatedNoise
from assaypilot.engine.tables.check import endpoint_facts
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import parse_text
from assaypilot.gui.goal.goal_form import TermsForm
from assaypilot.gui.new_campaign.endpoint_box import EndpointBox
from tests.gui.helpers import creation_of, goal_of, made, returned, small_table, status, until

UNKNOWN = Endpoint("pIC50", noise_sd=0.3, noise_estimated=True)


def measured(folder, endpoint, **settings):
    """Where a campaign stands after its first round."""
    sites = [Site(f"R{k + 1}", tuple("ABC")) for k in range(2)]
    library = Library.product(sites)
    rng = np.random.default_rng(4)
    with made(folder / "x.assaypilot", library, endpoints=[endpoint], slack=0.5, per_round=24, **settings) as campaign:
        campaign.plan()
        campaign.record(returned(campaign, lambda at, _: 6.0 + 0.1 * at + 0.2 * float(rng.standard_normal())))
        return campaign.status()


def box_of(qtbot, text):
    """The box of the endpoint of a table."""
    table = parse_text(text)
    (fact,) = endpoint_facts(import_table(table, propose(table)))
    box = EndpointBox(fact)
    qtbot.addWidget(box)
    return box


def form_of(qtbot, now):
    """The form of the Goal page."""
    form = TermsForm()
    qtbot.addWidget(form)
    form.show_now(now, opened=True)
    return form


def test_a_new_campaign_takes_a_guess_or_none(qtbot):
    box = box_of(qtbot, "ID\tR1\tpIC50\na\tMe\t5\nb\tH\t6\n")
    # Nobody knows it and nothing tells it: estimated, from what is usual on its scale.
    assert box.unknown.isChecked()
    read = box.read()
    assert (read.noise_sd, read.noise_estimated) == (0.3, True)
    box.unknown.click()
    assert box.read() is None
    assert "is needed" in box.noise.note.text()
    box.unknown.click()
    assert box.read() is not None
    box.noise.edit.setText("0,4")
    read = box.read()
    assert (read.noise_sd, read.noise_estimated) == (0.4, True)
    box.unknown.click()
    read = box.read()
    assert (read.noise_sd, read.noise_estimated) == (0.4, False)


def test_a_campaign_of_unknown_noise_from_the_new_campaign(qtbot, window, tmp_path):
    window.new_campaign()
    creation = creation_of(window)
    creation.start_with(small_table(tmp_path / "small.csv"))
    (box, *_) = goal_of(qtbot, creation).endpoints.boxes
    assert box.unknown.isChecked()
    creation.goal_pane.slack.edit.setText("0.5")
    creation.goal_pane.file.edit.setText(str(tmp_path / "new.assaypilot"))
    until(qtbot, lambda: creation.complete)
    creation.create_button.click()
    until(qtbot, lambda: window.session.view is not None)
    now = status(window)
    assert now.endpoints[0].noise_estimated
    assert now.guarantee.kind == "calibrated"  # nobody's SD goes into it


def test_goal_page_shows_the_noise_that_the_series_model_learned(qtbot, tmp_path):
    now = measured(tmp_path, UNKNOWN, strategy="gaussian-process")
    line = form_of(qtbot, now).field("pIC50")
    assert (line.text, line.note.text()) == ("unknown", f"estimated {now.noise[0].sd:.2g}")
    assert 0.1 < now.noise[0].sd < 0.4  # 0.2 in truth


def test_goal_page_shows_unknown_noise_and_takes_a_value(qtbot, tmp_path):
    now = measured(tmp_path, UNKNOWN)
    form = form_of(qtbot, now)
    line = form.field("pIC50")
    assert line.text == "unknown"
    assert line.note.text() == f"estimated {now.noise[0].sd:.2g}, at most {now.noise[0].used:.2g} is used"
    assert form.read() == Change()
    line.edit.clear()
    QTest.keyClicks(line.edit, "0.2")
    wanted = form.read()
    assert wanted is not None
    assert wanted.noise == {"pIC50": 0.2}
    form.reset()
    assert not form.touched


def test_known_noise_can_be_declared_unknown(qtbot, tmp_path):
    now = measured(tmp_path, Endpoint("pIC50", noise_sd=0.2))
    form = form_of(qtbot, now)
    line = form.field("pIC50")
    assert "unknown" in line.note.text()
    for typed, guess in (("unknown", None), ("Unknown:0.3", 0.3)):
        line.edit.setText(typed)
        wanted = form.read()
        assert wanted is not None
        assert wanted.noise == {"pIC50": StatedNoise(guess, estimated=True)}
