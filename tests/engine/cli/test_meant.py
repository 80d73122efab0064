"""Slips of the fingers, and the words of other programs: the line says what was probably meant."""

import pytest

from assaypilot.engine.system.nearby import where_else


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["chek", "t.csv"], "there is no command 'chek'. Did you mean: check? assaypilot --help lists them."),
        (["close", "a"], "Did you mean: record FILE --close?"),
        (["xyzzy"], "there is no command 'xyzzy'. assaypilot --help lists them."),
        (["check", "t.csv", "-sites", "R1"], "-sites is no option of check. Did you mean --sites? See"),
        (["check", "t.csv", "--site", "R1"], "--site is no option of check. Did you mean --sites? See"),
        (["plan", "a", "-o", "r.csv"], "-o is no option of plan. Did you mean --out?"),
        (["demo", "--sed=7"], "--sed is no option of demo. Did you mean --seed?"),
        (["new", "a", "--table", "t", "--per_round", "9"], "Did you mean --per-round?"),
        (["status", "a", "--epsilon", "1"], "--epsilon is no option of status. It is one of new, "),
        (
            ["check", "t.csv", "--sites", "R1", "R2", "R3"],
            "'R2 R3' is too much. Several values of --sites stand between commas, without spaces: --sites R1,R2,R3.",
        ),
        (["new", "my", "series.assaypilot", "--table", "t"], "A name with spaces goes in quotation marks."),
        (["new", "a.assaypilot", "t.csv"], "Write: assaypilot new FILE --table TABLE"),
    ],
)
def test_what_was_meant_is_named(run, words, said):
    answer = run(*words)
    assert answer.code == 2
    assert said in answer.err.splitlines()[-1]
    assert len(answer.err.splitlines()) == 1
    assert " ".join(said.split()[-3:]).rstrip(".?") in str(run(*words, "--json").document["error"])


def test_an_unknown_command_is_named_to_programs(run):
    error = run("chek", "t.csv", "--json").document["error"]
    assert (error["option"], error["message"]) == ("COMMAND", "there is no command 'chek'")


def test_help_and_version_are_words_too(run):
    assert "usage: assaypilot check" in run("help", "check").out
    assert run("help").out == run("--help").out
    assert run("version").out == run("--version").out


def test_a_page_of_options_does_not_hide_what_is_wrong(run):
    lines = run("new", "a", "--table", "t", "--epsilon", "half").err.splitlines()
    assert len(lines) == 1
    assert lines[0].endswith("See assaypilot new --help.")


def test_a_misspelled_file_is_found_in_its_folder(run, campaign, tmp_path):
    (tmp_path / "series.csv").write_text("ID,R1,pIC50\na,Me,5\n")
    assert "seris.csv: there is no such file. Did you mean series.csv?" in run("check", tmp_path / "seris.csv").err
    bare = campaign.with_suffix("")
    assert f"There is no such file. Did you mean {campaign.name}?" in run("status", bare).err
    assert where_else(tmp_path / "quite another.xlsx") == "Check the name and the folder."
    assert where_else(tmp_path / "no folder" / "series.csv") == "Check the name and the folder."
