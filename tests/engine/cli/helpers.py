import csv
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

R1 = {"H": 0.0, "Me": 0.4, "OMe": 0.9, "Cl": -0.3}
R2 = {"H": 0.0, "F": 0.6, "CF3": -0.8}


def truth_of(r1: str, r2: str) -> float:
    return 6.0 + R1[r1] + R2[r2]


def read_sheet(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.reader(stream))
    return rows[0], [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


def write_sheet(path: Path, header: Sequence[str], rows: Sequence[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.DictWriter(stream, header)
        writer.writeheader()
        writer.writerows(rows)


def write_rows(path: Path, rows: Iterable[Sequence[object]], delimiter: str = ",") -> Path:
    """A csv file of a header and rows."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, delimiter=delimiter).writerows(rows)
    return path


def fill(path: Path, value: Callable[[dict[str, str]], object]) -> list[dict[str, str]]:
    """Puts a value into every row of a work list, by its other cells; returns the rows."""
    header, rows = read_sheet(path)
    for row in rows:
        row["Value"] = str(value(row))
    write_sheet(path, header, rows)
    return rows


def fill_in(path: Path, measure: Callable[[str], float], rng: np.random.Generator, sd: float, keep: float = 1.0) -> int:
    """Fills in the empty Value cells of a work list as a lab would; how many were filled."""
    header, rows = read_sheet(path)
    filled = 0
    for row in rows:
        if rng.random() < keep:
            row["Value"] = f"{measure(row['ID']) + sd * rng.standard_normal():.4f}"
            filled += 1
    write_sheet(path, header, rows)
    return filled
