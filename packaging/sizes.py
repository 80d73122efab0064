"""Counts the lines of the project by room: `python3 packaging/sizes.py`. Standard library only."""

import ast
import subprocess
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EMPTY = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def code_lines(path: Path) -> int:
    """Return how many lines of a Python file hold more than a comment or a docstring."""
    with path.open("rb") as file:
        tokens = [one for one in tokenize.tokenize(file.readline) if one.type not in EMPTY | {tokenize.ENCODING}]
    held = {line for one in tokens for line in range(one.start[0], one.end[0] + 1)}
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            held -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(held)


def table(root: Path = ROOT) -> str:
    """Return the table of sizes: engine and gui by room, then what else has a limit."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True).stdout
    paths = [root / name for name in listed.split("\0") if name and (root / name).is_file()]
    rooms: dict[str, list[int]] = {}
    for path in paths:
        parts = path.relative_to(root).parts
        if path.suffix != ".py" or parts[0] not in ("engine", "gui", "datasets", "packaging", "tests"):
            continue
        rooms.setdefault(parts[0], []).append(code_lines(path))
        if parts[0] in ("engine", "gui"):
            rooms.setdefault(f"{parts[0]}/{parts[1] if len(parts) > 2 else ''}", []).append(code_lines(path))
    rows = [f"{'room':<26} {'lines of code':>14} {'files':>6}"]
    rows += [f"{name:<26} {sum(counts):>14,} {len(counts):>6}" for name, counts in sorted(rooms.items())]
    others = {"README, words": len((root / "README.md").read_text(encoding="utf-8").split())}
    others["CHANGELOG, lines"] = len((root / "CHANGELOG.md").read_text(encoding="utf-8").splitlines())
    for folder in ("packaging", "tests"):
        own = [path for path in paths if path.suffix == ".py" and path.relative_to(root).parts[0] == folder]
        others[f"{folder}, all lines of Python"] = sum(len(path.read_bytes().splitlines()) for path in own)
    return "\n".join([*rows, "", *(f"{name:<34}{count:>7,}" for name, count in others.items())])


if __name__ == "__main__":
    print(table())
