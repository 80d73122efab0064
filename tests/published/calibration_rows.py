"""The committed report of calibrations as rows: what is read of it, and how some are made anew while others stay."""

from tests.published.calibration_checks import KS_FLOOR
from tests.published.calibration_kinds import KINDS

_ORDER = {kind.label: place for place, kind in enumerate(KINDS)}


def tables(text):
    """The tables of a report in turn, each a list of rows of cells, its head left out."""
    out, inside = [], False
    for line in text.splitlines():
        if not line.startswith("|"):
            inside = False
        elif not inside:
            inside = True
            out.append([])
        elif not line.startswith("|---"):
            out[-1].append([cell.strip() for cell in line.strip("|").split("|")])
    return out


def passes(cells):
    """Whether a row of a calibration passes, by what is printed of it."""
    delta, lower, p, promise = cells[3], cells[7], cells[13], cells[14]
    return (
        float(lower) <= float(delta)
        and (p == "-" or float(p) >= KS_FLOOR)
        and (promise == "-" or float(promise) <= 1.0)
    )


def merged(now, before):
    """The report ``now``, of some strategies, with the rows of another one for all others."""
    kept, out, rows, place, inside = tables(before), [], [], -1, False
    for line in now.splitlines():
        if inside and not line.startswith("|"):
            out += _together(rows, kept[place])
            inside = False
        if not line.startswith("|"):
            out.append(line)
        elif not inside:
            inside, rows, place = True, [], place + 1
            out.append(line)
        elif line.startswith("|---"):
            out.append(line)
        else:
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
    if inside:
        out += _together(rows, kept[place])
    text = "\n".join(out) + "\n"
    plain = tables(text)[0]
    first = next(line for line in out if line.startswith("Made by"))
    passed = f"{first.partition('fixed. ')[0]}fixed. {sum(map(passes, plain))} of {len(plain)} calibrations pass."
    return text.replace(first, passed)


def _together(rows, kept):
    """Lines of a table: new rows, and the old ones that no new one replaces, strategy by strategy."""
    made = {tuple(row[:3]): row for row in rows}
    every = [made.pop(tuple(row[:3]), row) for row in kept]
    every += made.values()
    every.sort(key=lambda row: _ORDER.get(row[0], 0))
    return [f"| {' | '.join(row)} |" for row in every]
