"""The documentation is made by one command: its notebooks run, its links lead somewhere, every public name is in it."""

import importlib
import json
import re
import sys
import time
from pathlib import Path

import pytest

import assaypilot.engine

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def documentation():
    sys.path.insert(0, str(ROOT / "packaging"))
    try:
        yield importlib.import_module("documentation")
    finally:
        sys.path.remove(str(ROOT / "packaging"))
        sys.modules.pop("documentation", None)


@pytest.fixture(scope="module")
def site(documentation, tmp_path_factory):
    """The whole site, made once, and the processor seconds that took."""
    folder = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(tmp_path_factory.mktemp("campaigns")))
        begun = time.process_time()
        pages = documentation.build(folder)
        seconds = time.process_time() - begun
    assert pages == len(list(folder.rglob("*.html")))
    return folder, seconds


@pytest.mark.slow
def test_every_link_leads_somewhere(site, documentation):
    assert documentation.broken_links(site[0]) == []


def test_broken_links_are_named(documentation, tmp_path):
    (tmp_path / "a.html").write_text(
        '<a href="b.html">b</a><a href="#x">x</a><h2 id="y"></h2><a href="a.html#y">', "utf-8"
    )
    assert documentation.broken_links(tmp_path) == ["a.html: b.html leads nowhere", "a.html: #x leads nowhere"]


@pytest.mark.slow
def test_notebooks_run_in_ten_seconds_and_show_what_they_found(site):
    folder, seconds = site
    assert seconds < 10.0
    for name in ("series", "reaction", "contest"):
        book = json.loads((folder / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))
        code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
        assert (book["nbformat"], len({cell["id"] for cell in book["cells"]})) == (4, len(book["cells"]))
        assert sum(bool(cell["outputs"]) for cell in code) >= len(code) - 1
    page = (folder / "notebooks" / "series.html").read_text(encoding="utf-8")
    assert "data:image/png;base64," in page
    assert page.count("<svg") == 10


def test_error_in_a_notebook_is_raised(documentation, tmp_path):
    (tmp_path / "x.md").write_text("# Title\n\n```python\na = 1\na / 0\n```\n", encoding="utf-8")
    cells = documentation.cells_of(tmp_path / "x.md")
    told = [(cell["cell_type"], cell["source"]) for cell in cells]
    assert told == [("markdown", "# Title"), ("code", "a = 1\na / 0")]
    with pytest.raises(ZeroDivisionError):
        documentation.run(cells, "x")


@pytest.mark.slow
def test_reference_has_every_public_name_and_method(site):
    text = (site[0] / "python.html").read_text(encoding="utf-8")
    for name in assaypilot.engine.__all__:
        assert f'id="{name}"' in text
    for method in vars(assaypilot.engine.Campaign):
        if not method.startswith("_"):
            assert f'id="Campaign.{method}"' in text
    assert "max_replicates" in text
    assert not re.search(r"&lt;(?:function|class|object)", text)


@pytest.mark.slow
def test_glossary_is_the_help_of_the_window(site):
    text = (site[0] / "help-words.html").read_text(encoding="utf-8")
    keys = re.findall(r"(?m)^# ([a-z-]+): ", (ROOT / "gui" / "help" / "words.md").read_text(encoding="utf-8"))
    assert len(keys) > 20
    for key in keys:
        assert f'<h2 id="{key}">' in text
