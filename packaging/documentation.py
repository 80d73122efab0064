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
import itertools
import json
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from string import Template
from typing import Any
from unittest import mock
from urllib.parse import unquote

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "packaging" / "site"
PAGES = ("index", "first-campaign", "how-to", "how-sure", "methods", "python", "gallery", "faq")
NOTEBOOKS = ("series", "reaction", "contest")
HELP = {"journey": "Journey", "pages": "Pages", "dialogs": "Dialogs", "words": "Glossary", "keys": "Keys"}
TOPIC = re.compile(r"^# ([a-z-]+): (.+)$", re.MULTILINE)
MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table")


def build(folder: Path) -> int:
    """Write all pages and return how many there are; what a notebook raises is raised."""
    shutil.copytree(ROOT / "packaging" / "pictures", folder / "pictures", dirs_exist_ok=True)
    (folder / "notebooks").mkdir(exist_ok=True)
    shutil.copy(SITE / "style.css", folder)
    pages = []  # each with its group, its place, its title and its body
    for name in PAGES:
        text = (SITE / "pages" / f"{name}.md").read_text(encoding="utf-8")
        body = markdown(text).replace("<!-- reference -->", reference() if name == "python" else "")
        pages.append(("", f"{name}.html", text.split("\n")[0][2:], body))
    for name in NOTEBOOKS:
        cells = cells_of(SITE / "notebooks" / f"{name}.md")
        run(cells, name)
        book = {"cells": cells, "metadata": {"kernelspec": {"display_name": "Python 3", "name": "python3"}}}
        text = json.dumps(book | {"nbformat": 4, "nbformat_minor": 5}, indent=1, ensure_ascii=False)
        (folder / "notebooks" / f"{name}.ipynb").write_text(text + "\n", encoding="utf-8")
        end = f'<p>This page as a <a href="{name}.ipynb">notebook</a>.</p>'
        title = cells[0]["source"].split("\n")[0][2:]
        pages.append(("Notebooks", f"notebooks/{name}.html", title, "\n".join([*map(as_html, cells), end])))
    pages += [("The window's help", f"help-{name}.html", HELP[name], text) for name, text in help_chapters().items()]
    template = Template((SITE / "page.html").read_text(encoding="utf-8"))
    for _, place, title, body in pages:
        up, beside = "../" * place.count("/"), ""
        for group, links in itertools.groupby(pages, key=lambda page: page[0]):
            rows = "".join(f'<li><a href="{up}{to}">{html.escape(shown)}</a></li>' for _, to, shown, _ in links)
            beside += f"<h4>{group}</h4><ul>{rows}</ul>" if group else f"<ul>{rows}</ul>"
        text = template.substitute(title=html.escape(title), up=up, beside=beside, body=body)
        (folder / place).write_text(text, encoding="utf-8")
    return len(pages)


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
        *before, last = ast.parse(cell["source"]).body
        file = f"{name}, {cell['id']}"
        shown: list[Any] = []
        with contextlib.redirect_stdout(io.StringIO()) as printed, mock.patch("sys.displayhook", shown.append):
            exec(compile(ast.Module(before, []), file, "exec"), space)
            exec(compile(ast.Interactive([last]), file, "single"), space)
        if printed.getvalue():
            cell["outputs"].append({"output_type": "stream", "name": "stdout", "text": printed.getvalue()})
        for value in [one for one in shown if one is not None]:
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
    made = Path(sys.argv[1])
    print(f"{build(made)} pages in {made / 'index.html'}")
    sys.exit("\n".join(broken_links(made)) or 0)
