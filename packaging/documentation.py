"""Makes the documentation: `python3 packaging/dev.py docs DIR`, a folder of plain HTML that needs no server.

Pages are Markdown in site/pages, the glossary and the how-tos are the window's help, the reference comes from
docstrings. The notebooks of site/notebooks are Markdown, too, with Python that is run.
"""

import ast
import base64
import contextlib
import html
import inspect
import io
import json
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "packaging" / "site"
PAGES = ("index", "first-campaign", "how-to", "how-sure", "methods", "python", "gallery", "faq")
NOTEBOOKS = ("series", "reaction", "contest")
HELP = {"journey": "Journey", "pages": "Pages", "dialogs": "Dialogs", "words": "Glossary", "keys": "Keys"}
TOPIC = re.compile(r"^# ([a-z-]+): (.+)$", re.MULTILINE)
MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table")


def main(folder: Path) -> int:
    """Write the documentation and return 0; 1 when a link leads nowhere."""
    pages, broken = build(folder), broken_links(folder)
    print(f"{pages} pages in {folder / 'index.html'}")
    print("\n".join(broken), end="", file=sys.stderr)
    return 1 if broken else 0


def build(folder: Path) -> int:
    """Write all pages and return how many there are; what a notebook raises is raised."""
    shutil.copytree(ROOT / "packaging" / "pictures", folder / "pictures", dirs_exist_ok=True)
    (folder / "notebooks").mkdir(exist_ok=True)
    shutil.copy(SITE / "style.css", folder)
    texts = {name: (SITE / "pages" / f"{name}.md").read_text(encoding="utf-8") for name in PAGES}
    books = {name: cells_of(SITE / "notebooks" / f"{name}.md") for name in NOTEBOOKS}
    listed: dict[str, dict[str, str]] = {
        "": {f"{name}.html": text.split("\n")[0][2:] for name, text in texts.items()},
        "Notebooks": {f"notebooks/{name}.html": cells[0]["source"].split("\n")[0][2:] for name, cells in books.items()},
        "The window's help": {f"help-{name}.html": title for name, title in HELP.items()},
    }
    bodies = {f"{name}.html": markdown(text) for name, text in texts.items()}
    bodies["python.html"] = bodies["python.html"].replace("<!-- reference -->", reference())
    bodies |= {f"help-{name}.html": text for name, text in help_chapters().items()}
    for name, cells in books.items():
        run(cells, name)
        book = {"cells": cells, "metadata": {"kernelspec": {"display_name": "Python 3", "name": "python3"}}}
        text = json.dumps(book | {"nbformat": 4, "nbformat_minor": 5}, indent=1, ensure_ascii=False)
        (folder / "notebooks" / f"{name}.ipynb").write_text(text + "\n", encoding="utf-8")
        end = f'<p>This page as a <a href="{name}.ipynb">notebook</a>.</p>'
        bodies[f"notebooks/{name}.html"] = "\n".join([*map(as_html, cells), end])
    titles = {place: title for group in listed.values() for place, title in group.items()}
    for place, body in bodies.items():
        up = "../" * place.count("/")
        beside = ""
        for group, links in listed.items():
            rows = "".join(f'<li><a href="{up}{to}">{html.escape(shown)}</a></li>' for to, shown in links.items())
            beside += f"<h4>{group}</h4><ul>{rows}</ul>" if group else f"<ul>{rows}</ul>"
        (folder / place).write_text(
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(titles[place])}</title>'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">'
            f'<link rel="stylesheet" href="{up}style.css"></head>\n<body><nav>{beside}</nav>\n'
            f"<main>{body}</main></body></html>\n",
            encoding="utf-8",
        )
    return len(bodies)


def markdown(text: str) -> str:
    """Return Markdown as HTML whose headings can be linked to: `Several endpoints` is `several-endpoints`."""

    def anchored(match: re.Match[str]) -> str:
        level, inside = match.groups()
        plain = html.unescape(re.sub(r"<[^>]*>", "", inside)).casefold()
        return f'<h{level} id="{re.sub(r"[^a-z0-9]+", "-", plain).strip("-")}">{inside}</h{level}>'

    return re.sub(r"<h([1-6])>(.*?)</h\1>", anchored, str(MARKDOWN.render(text)))


def help_chapters() -> dict[str, str]:
    """Return the chapters of the window's help as HTML; a link to a topic leads to its chapter."""
    texts = {name: (ROOT / "gui" / "help" / f"{name}.md").read_text(encoding="utf-8") for name in HELP}
    place = {key: f"help-{name}.html#{key}" for name, text in texts.items() for key, _ in TOPIC.findall(text)}
    for name, text in texts.items():
        linked = re.sub(r"\]\(([a-z-]+)\)", lambda link: f"]({place.get(link[1], link[1])})", text)
        topics = TOPIC.sub(lambda topic: f'<h2 id="{topic[1]}">{html.escape(topic[2])}</h2>\n', linked)
        texts[name] = f"<h1>{HELP[name]}</h1>\n{MARKDOWN.render(topics)}"
    return texts


def cells_of(path: Path) -> list[dict[str, Any]]:
    """Return the cells of a page as Jupyter keeps them (nbformat 4.5): its Python is code, the rest is Markdown."""
    cells: list[dict[str, Any]] = []
    text = path.read_text(encoding="utf-8")
    for part in filter(str.strip, re.split(r"(?ms)^(```python\n.*?^```)$", text)):
        code = part.startswith("```")
        source = part.removeprefix("```python").removesuffix("```").strip("\n")
        cell: dict[str, Any] = {"id": f"cell-{len(cells)}", "metadata": {}, "source": source, "cell_type": "markdown"}
        cells += [cell | {"cell_type": "code", "execution_count": None, "outputs": []} if code else cell]
    return cells


def run(cells: list[dict[str, Any]], name: str) -> None:
    """Run the code of all cells in one namespace and keep what each prints and shows; the first error is raised."""
    space: dict[str, Any] = {"__name__": "__main__"}
    for cell in cells:
        if cell["cell_type"] == "markdown":
            continue
        tree = ast.parse(cell["source"])
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        value, file = None, f"{name}, {cell['id']}"
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(tree, file, "exec"), space)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), file, "eval"), space)
        if printed.getvalue():
            cell["outputs"].append({"output_type": "stream", "name": "stdout", "text": printed.getvalue()})
        if value is not None:
            data = {"text/plain": repr(value)}
            for kind, method in (("text/html", "_repr_html_"), ("image/png", "_repr_png_")):
                content = getattr(value, method, lambda: None)()
                if content is not None:
                    data[kind] = base64.b64encode(content).decode() if isinstance(content, bytes) else content
            result = {"output_type": "execute_result", "metadata": {}, "execution_count": None, "data": data}
            cell["outputs"].append(result)


def as_html(cell: dict[str, Any]) -> str:
    """Return a cell with what it printed and showed."""
    if cell["cell_type"] == "markdown":
        return markdown(cell["source"])
    parts = [f'<pre class="code"><code>{html.escape(cell["source"])}</code></pre>']
    for output in cell["outputs"]:
        data = output.get("data", {"text/plain": output.get("text")})
        if "image/png" in data:
            alt = html.escape(cell["source"].splitlines()[-1])
            parts.append(f'<div class="out"><img alt="{alt}" src="data:image/png;base64,{data["image/png"]}"></div>')
        elif "text/html" in data:
            parts.append(f'<div class="out wide">{data["text/html"]}</div>')
        else:
            parts.append(f'<pre class="out">{html.escape(data["text/plain"])}</pre>')
    return "\n".join(parts)


def reference() -> str:
    """Return the public names of the engine with their signatures and docstrings."""
    import assaypilot.engine as engine
    from assaypilot.engine.notebook import frames

    parts = [described(name, getattr(engine, name)) for name in engine.__all__]
    parts.append('<h2 id="options">Options of a table, an endpoint and a campaign</h2>')
    parts += [described(one.__name__, one) for one in (frames.MoreOptions, frames.EndpointTerms)]
    return "\n".join(parts)


def described(name: str, what: Any) -> str:
    """Return one public name: a class with its fields and public methods, or a function."""
    parts = [f'<h2 id="{name}"><code>{name}</code></h2>']
    if not inspect.isclass(what):
        return "\n".join([*parts, signature(name, what), documented(what)])
    # Fields, each with the text below it, as the source has them.
    fields = re.findall(r'(?m)^    [a-z]\w*: .+\n(?:    """(?s:.*?)"""\n)?', inspect.getsource(what))
    parts += [documented(what), f'<pre class="call">{html.escape(inspect.cleandoc("".join(fields)))}</pre>']
    for method, raw in vars(what).items():
        own: Any = getattr(raw, "__func__", raw)
        if not method.startswith("_") and (inspect.isfunction(own) or isinstance(own, property)):
            called = f"{name}.{method}"
            line = f"<pre>{called}</pre>" if isinstance(own, property) else signature(called, own)
            parts.append(f'<h3 id="{called}"><code>{method}</code></h3>{line}{documented(own)}')
    return "\n".join(parts)


def signature(name: str, what: Callable[..., Any]) -> str:
    """Return how a function is called."""
    made = inspect.signature(what)
    kept = [one for one in made.parameters.values() if one.name not in ("self", "cls")]
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(made.replace(parameters=kept)))
    text = re.sub(r"<\w+ '?(?:[\w.]+\.)?(\w+)(?: at \w+)?'?>", r"\1", text)  # a class or function as default
    return f'<pre class="call">{html.escape(name + text)}</pre>'


def documented(what: Any) -> str:
    """Return a docstring as HTML; ``code`` is code, numpy's sections are lists."""
    doc = re.sub(r"(?m)^(\w+)\n-{3,}\n", r"**\1**\n\n", inspect.getdoc(what) or "")
    doc = re.sub(
        r"(?m)^(\w[\w, ]*?)(?: : (.+))?\n    (?=\S)", lambda m: f"- `{m[1]}`{f' ({m[2]})' if m[2] else ''}: ", doc
    )
    return str(MARKDOWN.render(doc))


def broken_links(folder: Path) -> list[str]:
    """Return a line for each link between the pages, or to a picture, that leads nowhere."""
    texts = {path.resolve(): path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.html"))}
    anchors = {path: set(map(html.unescape, re.findall(r' id="([^"]+)"', text))) for path, text in texts.items()}
    broken = []
    for path, text in texts.items():
        for link in map(html.unescape, re.findall(r' (?:href|src)="((?!data:)[^"]+)"', text)):
            place, _, name = unquote(link).partition("#")
            target = (path.parent / place).resolve() if place else path
            gone = not target.is_file() or (name and target in texts and name not in anchors[target])
            if gone and "://" not in place and not place.startswith("mailto:"):
                broken.append(f"{path.relative_to(folder.resolve())}: {link} leads nowhere")
    return broken


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
