"""Makes the documentation: `python3 packaging/dev.py docs DIR`, a folder of plain HTML that needs no server.

Pages are Markdown in site/pages, the glossary and the how-tos are the window's help, the reference comes from
docstrings, and the notebooks of site/notebooks are run.
"""

import argparse
import ast
import html
import inspect
import json
import re
import shutil
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import notebooks
from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "packaging" / "site"
NOTEBOOKS = (
    ("series", "A medicinal-chemistry series"),
    ("reaction", "A reaction table"),
    ("contest", "A contest of methods"),
)
HELP = (("journey", "Journey"), ("pages", "Pages"), ("dialogs", "Dialogs"), ("words", "Glossary"), ("keys", "Keys"))
PAGES = (
    ("index", "AssayPilot"),
    ("first-campaign", "First campaign in ten minutes"),
    ("how-to", "How to"),
    ("how-sure", "How sure: calibrated, proven, audited"),
    ("methods", "Methods and what they assume"),
    ("python", "Python API"),
    ("gallery", "Gallery"),
    ("faq", "FAQ and known limits"),
)
HEAD = re.compile(r"^# ([a-z-]+): (.+)$", re.MULTILINE)
MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table")


def main(arguments: list[str] | None = None) -> int:
    """Write the documentation and return 0; 1 when a link leads nowhere."""
    parser = argparse.ArgumentParser(prog="dev.py docs", description="Makes the documentation.", allow_abbrev=False)
    parser.add_argument("folder", type=Path, metavar="DIR", help="where to put it; made if need be")
    folder = parser.parse_args(arguments).folder
    pages = build(folder)
    broken = broken_links(folder)
    print(f"{pages} pages in {folder / 'index.html'}")
    for line in broken:
        print(line, file=sys.stderr)
    return 1 if broken else 0


def build(folder: Path) -> int:
    """Write all pages and return how many there are; what a notebook raises is raised."""
    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    (folder / "notebooks").mkdir(exist_ok=True)
    for picture in sorted((ROOT / "packaging" / "pictures").glob("*.png")):
        shutil.copy(picture, folder / "pictures")
    shutil.copy(SITE / "style.css", folder)
    for name, title in PAGES:
        text = (SITE / "pages" / f"{name}.md").read_text(encoding="utf-8")
        body = markdown(text.replace("<!-- reference -->", ""))
        if "<!-- reference -->" in text:
            body += reference()
        write(folder / f"{name}.html", title, body)
    chapters = help_chapters()
    for name, title in HELP:
        write(folder / f"help-{name}.html", title, chapters[name])
    for name, title in NOTEBOOKS:
        write(folder / "notebooks" / f"{name}.html", title, notebook(folder / "notebooks" / f"{name}.ipynb"), up="../")
    return len(PAGES) + len(HELP) + len(NOTEBOOKS)


def markdown(text: str) -> str:
    """Return Markdown as HTML whose headings can be linked to."""

    def anchored(match: re.Match[str]) -> str:
        level, inside = match.groups()
        return f'<h{level} id="{anchor(inside)}">{inside}</h{level}>'

    return re.sub(r"<h([1-6])>(.*?)</h\1>", anchored, str(MARKDOWN.render(text)))


def anchor(heading: str) -> str:
    """Return what a heading is called in a link: `Several endpoints` is `several-endpoints`."""
    plain = html.unescape(re.sub(r"<[^>]*>", "", heading))
    return re.sub(r"[^a-z0-9]+", "-", plain.casefold()).strip("-")


def write(path: Path, title: str, body: str, up: str = "") -> None:
    """Write one page with the contents of all beside it."""
    listed = [
        ("", [(f"{name}.html", shown) for name, shown in PAGES]),
        ("Notebooks", [(f"notebooks/{name}.html", shown) for name, shown in NOTEBOOKS]),
        ("The window's help", [(f"help-{name}.html", shown) for name, shown in HELP]),
    ]
    parts = []
    for heading, links in listed:
        rows = "".join(f'<li><a href="{up}{target}">{html.escape(shown)}</a></li>' for target, shown in links)
        parts.append(f"{f'<h4>{heading}</h4>' if heading else ''}<ul>{rows}</ul>")
    path.write_text(
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{html.escape(title)}</title>'
        f'<link rel="stylesheet" href="{up}style.css"></head>\n<body><nav>{"".join(parts)}</nav>\n'
        f"<main>{body}</main></body></html>\n",
        encoding="utf-8",
    )


def help_chapters() -> dict[str, str]:
    """Return the chapters of the window's help as HTML; a link to a topic leads to its chapter."""
    texts = {name: (ROOT / "gui" / "help" / f"{name}.md").read_text(encoding="utf-8") for name, _ in HELP}
    chapter = {key: name for name, text in texts.items() for key, _ in HEAD.findall(text)}
    found = {}
    for name, title in HELP:
        parts = HEAD.split(texts[name])
        pieces = [f"<h1>{html.escape(title)}</h1>"]
        for key, heading, text in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
            linked = re.sub(
                r"\]\(([a-z-]+)\)", lambda link: f"](help-{chapter.get(link[1], 'unknown')}.html#{link[1]})", text
            )
            pieces.append(f'<h2 id="{key}">{html.escape(heading)}</h2>\n{MARKDOWN.render(linked)}')
        found[name] = "\n".join(pieces)
    return found


def notebook(path: Path) -> str:
    """Run a notebook, write it as .ipynb, and return its page."""
    cells = notebooks.cells_of(SITE / "notebooks" / f"{path.stem}.py")
    notebooks.run(cells, path.stem)
    path.write_text(json.dumps(notebooks.as_ipynb(cells), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    body = "\n".join(markdown(cell.text) if cell.markdown else notebooks.as_html(cell) for cell in cells)
    return f'{body}<p>This page as a <a href="{path.name}">notebook</a>.</p>'


def reference() -> str:
    """Return the public names of the engine with their signatures and docstrings."""
    import assaypilot.engine as engine
    from assaypilot.engine.notebook import terms

    parts = [described(name, getattr(engine, name)) for name in engine.__all__]
    parts.append('<h2 id="options">Options of a table, an endpoint and a campaign</h2>')
    parts += [described(name, getattr(terms, name)) for name in ("MoreOptions", "EndpointTerms")]
    return "\n".join(parts)


def described(name: str, what: Any) -> str:
    """Return one public name: a class with its public methods, or a function."""
    parts = [f'<h2 id="{name}"><code>{name}</code></h2>', documented(inspect.getdoc(what) or "")]
    if not inspect.isclass(what):
        return f"{parts[0]}{signature(name, what)}{parts[1]}"
    parts.append(attributes(what))
    for method, raw in vars(what).items():
        own: Any = raw.__func__ if isinstance(raw, classmethod | staticmethod) else raw
        doc = inspect.getdoc(own)
        if method.startswith("_") or not doc or not (inspect.isfunction(own) or isinstance(own, property)):
            continue
        called = f"{name}.{method}"
        line = f"<pre>{called}</pre>" if isinstance(own, property) else signature(called, own)
        parts.append(f'<h3 id="{called}"><code>{method}</code></h3>{line}{documented(doc)}')
    return "\n".join(parts)


def attributes(what: Any) -> str:
    """Return the fields of a class with their types and the texts below them, as its source has them."""
    (tree,) = ast.parse(inspect.getsource(what)).body
    body, rows = getattr(tree, "body", []), []
    for place, node in enumerate(body):
        if not isinstance(node, ast.AnnAssign) or ast.unparse(node.target).startswith("_"):
            continue
        below = body[place + 1] if place + 1 < len(body) else None
        text = ""
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            text = re.sub(r"^<p>|</p>$", "", str(MARKDOWN.render(inspect.cleandoc(str(below.value.value)))).strip())
        kind = html.escape(ast.unparse(node.annotation))
        rows.append(f"<li><code>{ast.unparse(node.target)}</code>: <code>{kind}</code>. {text}</li>")
    return f"<ul>{''.join(rows)}</ul>" if rows else ""


def signature(name: str, what: Callable[..., Any]) -> str:
    """Return how a function is called, on one line or with a line for each argument."""
    made, listed, starred = inspect.signature(what), [], False
    for key, one in made.parameters.items():
        if key in ("self", "cls"):
            continue
        if one.kind is one.KEYWORD_ONLY and not starred:
            listed.append("*")
            starred = True
        mark = "**" if one.kind is one.VAR_KEYWORD else ""
        kind = "" if one.annotation is one.empty else f": {str(one.annotation).strip(chr(34))}"
        usual = getattr(one.default, "__name__", repr(one.default))
        listed.append(f"{mark}{key}{kind}{'' if one.default is one.empty else f' = {usual}'}")
    back = "" if made.return_annotation is made.empty else f" -> {str(made.return_annotation).strip(chr(34))}"
    text = f"{name}({', '.join(listed)}){back}"
    if len(text) > 100:
        text = f"{name}(\n    " + ",\n    ".join(listed) + f",\n){back}"
    return f"<pre>{html.escape(text)}</pre>"


def documented(doc: str) -> str:
    """Return a docstring as HTML; ``code`` is code, numpy's sections are lists."""
    doc = re.sub(r"(?m)^(\w+)\n-{3,}\n", r"**\1**\n\n", doc)
    doc = re.sub(
        r"(?m)^(\w[\w, ]*?)(?: : (.+))?\n    (?=\S)", lambda m: f"- `{m[1]}`{f' ({m[2]})' if m[2] else ''}: ", doc
    )
    return str(MARKDOWN.render(doc))


class _Links(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep where a tag leads, and what it can be called."""
        for name, value in attrs:
            if name in ("href", "src") and value and not value.startswith("data:"):
                self.links.append(value)
            if name == "id" and value:
                self.anchors.add(value)


def broken_links(folder: Path) -> list[str]:
    """Return a line for each link between the pages, or to a picture, that leads nowhere."""
    pages = {}
    for path in sorted(folder.rglob("*.html")):
        pages[path.resolve()] = found = _Links()
        found.feed(path.read_text(encoding="utf-8"))
    broken = []
    for path, found in pages.items():
        for link in found.links:
            place, _, name = unquote(link).partition("#")
            if "://" in place or place.startswith("mailto:"):
                continue
            target = (path.parent / place).resolve() if place else path
            if not target.is_file() or (name and target in pages and name not in pages[target].anchors):
                broken.append(f"{path.relative_to(folder.resolve())}: {link} leads nowhere")
    return broken


if __name__ == "__main__":
    raise SystemExit(main())
