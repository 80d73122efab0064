"""Notebooks as plain Python: cells after `# %%`, run in order, written as .ipynb and as HTML with what they show."""

import ast
import base64
import contextlib
import html
import io
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CELL = re.compile(r"^# %%(.*)\n", re.MULTILINE)


@dataclass
class Cell:
    """One cell, and what it printed and showed when it was run."""

    text: str
    markdown: bool
    printed: str = ""
    shown: dict[str, str] = field(default_factory=dict)
    """What its last expression is, by MIME type; pictures in base64."""


def cells_of(path: Path) -> list[Cell]:
    """Return the cells of a file; Markdown cells without the `# ` before each line."""
    parts = CELL.split(path.read_text(encoding="utf-8"))
    found = []
    for kind, text in zip(parts[1::2], parts[2::2], strict=True):
        markdown = "[markdown]" in kind
        own = re.sub(r"(?m)^# ?", "", text) if markdown else text
        found.append(Cell(own.strip("\n"), markdown))
    return found


def run(cells: list[Cell], name: str) -> None:
    """Run the code of all cells in one namespace, as a notebook does; the first error is raised."""
    space: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(cells):
        if cell.markdown:
            continue
        tree = ast.parse(cell.text)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        file, printed, value = f"{name}, cell {number}", io.StringIO(), None
        with contextlib.redirect_stdout(printed):
            exec(compile(tree, file, "exec"), space)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), file, "eval"), space)
        cell.printed = printed.getvalue()
        cell.shown = {} if value is None else shown(value)


def shown(value: Any) -> dict[str, str]:
    """Return a value as Jupyter would show it."""
    found = {"text/plain": repr(value)}
    for kind, method in (("text/html", "_repr_html_"), ("image/png", "_repr_png_")):
        made = getattr(value, method, None)
        content = made() if callable(made) else None
        if content is not None:
            found[kind] = base64.b64encode(content).decode() if isinstance(content, bytes) else content
    return found


def as_ipynb(cells: list[Cell]) -> dict[str, Any]:
    """Return the notebook as Jupyter keeps it (nbformat 4.5)."""
    listed = []
    for number, cell in enumerate(cells):
        own: dict[str, Any] = {"id": f"cell-{number}", "metadata": {}, "source": cell.text.splitlines(keepends=True)}
        if cell.markdown:
            listed.append(own | {"cell_type": "markdown"})
            continue
        outputs: list[dict[str, Any]] = []
        if cell.printed:
            outputs.append({"output_type": "stream", "name": "stdout", "text": cell.printed.splitlines(keepends=True)})
        if cell.shown:
            result = {"output_type": "execute_result", "metadata": {}, "execution_count": number, "data": cell.shown}
            outputs.append(result)
        listed.append(own | {"cell_type": "code", "execution_count": number, "outputs": outputs})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": listed, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def as_html(cell: Cell) -> str:
    """Return a cell of code with what it printed and showed."""
    parts = [f'<pre class="code"><code>{html.escape(cell.text)}</code></pre>']
    if cell.printed:
        parts.append(f'<pre class="out">{html.escape(cell.printed)}</pre>')
    if "image/png" in cell.shown:
        alt = html.escape(cell.text.splitlines()[-1], quote=True)
        parts.append(f'<div class="out"><img alt="{alt}" src="data:image/png;base64,{cell.shown["image/png"]}"></div>')
    elif "text/html" in cell.shown:
        parts.append(f'<div class="out wide">{cell.shown["text/html"]}</div>')
    elif cell.shown:
        parts.append(f'<pre class="out">{html.escape(cell.shown["text/plain"])}</pre>')
    return "\n".join(parts)
