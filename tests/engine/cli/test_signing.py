"""A history that was rewritten as a whole is consistent, and only a signature shows it."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from assaypilot.engine.campaign.signing import signatures_of
from assaypilot.engine.domain.measurements import Result
from tests.engine.campaign.making import make


@pytest.fixture
def signed_file(tmp_path, run):
    """A campaign of a few events, signed by a new key."""
    path = tmp_path / "x.assaypilot"
    with make(path) as campaign:
        campaign.record([Result("R1=A|R2=A", 6.1, plate="P1")])
    answer = run("sign", path, "--key", tmp_path / "lab.key", "--new-key")
    assert answer.code == 0, answer.err
    return path, tmp_path / "lab.key"


def test_a_signed_history_is_confirmed_by_either_half_of_the_key(run, done, signed_file):
    path, key = signed_file
    for half in (key, f"{key}.public"):
        document = done("verify", path, "--key", half)
        assert document["ok"]
        assert document["signed"]["events"] == document["events"]
    assert "nothing was changed" in run("verify", path, "--key", key).out
    if sys.platform != "win32":
        assert key.stat().st_mode & 0o077 == 0


def test_a_history_made_again_with_another_value_is_seen(run, signed_file, tmp_path):
    path, key = signed_file
    other = tmp_path / "other.assaypilot"
    with make(other) as campaign:
        campaign.record([Result("R1=A|R2=A", 7.1, plate="P1")])
    shutil.copy(other, path)
    assert run("verify", path).code == 0  # consistent, and another history
    answer = run("verify", path, "--key", key)
    assert answer.code == 1


@pytest.mark.parametrize("change", ["head", "events", "time", "signature"])
def test_a_forged_signature_is_none(run, signed_file, change):
    path, key = signed_file
    place = signatures_of(path)
    told = json.loads(place.read_text(encoding="utf-8"))
    told[change] = {"head": "0" * 64, "events": 1, "time": "2020-01-01T00:00:00+00:00", "signature": "AAAA"}[change]
    place.write_text(json.dumps(told) + "\nnot json\n[]\n{}\n", encoding="utf-8")
    answer = run("verify", path, "--key", key)
    assert answer.code == 1
    assert "no signature here is by this key" in answer.err


def test_another_key_signs_and_checks_nothing_here(run, signed_file, tmp_path):
    path, key = signed_file
    assert run("sign", path, "--key", key, "--new-key").code == 1  # never over a key
    with make(tmp_path / "y.assaypilot"):
        pass
    assert run("sign", tmp_path / "y.assaypilot", "--key", tmp_path / "b.key", "--new-key").code == 0
    assert run("verify", path, "--key", tmp_path / "b.key").code == 1
    assert run("sign", path, "--key", f"{key}.public").code == 1
    for content in (b"", b"-----BEGIN PRIVATE KEY-----\nAAAA\n", b"x" * 20_000):
        Path(tmp_path / "c.key").write_bytes(content)
        answer = run("verify", path, "--key", tmp_path / "c.key")
        assert answer.code == 1
        assert "Traceback" not in answer.err
    assert run("verify", path, "--key", tmp_path / "none.key").code == 1
