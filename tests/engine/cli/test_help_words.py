"""Slips of the fingers, and the words of other programs: the line says what was probably meant."""

from assaypilot.engine.system.places import where_else


def test_help_and_version_are_words_too(run):
    assert "usage: assaypilot check" in run("help", "check").out
    assert run("help").out == run("--help").out
    assert run("version").out == run("--version").out


def test_a_misspelled_file_is_found_in_its_folder(run, campaign, tmp_path):
    (tmp_path / "series.csv").write_text("ID,R1,pIC50\na,Me,5\n")
    assert "seris.csv: there is no such file. Did you mean series.csv?" in run("check", tmp_path / "seris.csv").err
    bare = campaign.with_suffix("")
    assert f"There is no such file. Did you mean {campaign.name}?" in run("status", bare).err
    assert where_else(tmp_path / "quite another.xlsx") == "Check the name and the folder."
    assert where_else(tmp_path / "no folder" / "series.csv") == "Check the name and the folder."
