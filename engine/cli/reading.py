"""The table that the options of a command name: read, joined, and what its columns are."""

from __future__ import annotations

import argparse
import re

from ..campaign.phrases import many
from ..domain.noise import StatedNoise
from ..errors import AssayPilotError
from ..tables.column_roles import NoSites
from ..tables.files import is_workbook
from ..tables.join import join_tables, split_join
from ..tables.mapping import propose
from ..tables.opening import ReadAs, read_as, read_table
from ..tables.options import TableMapping, TableOptions, parse_endpoint_spec
from ..tables.raw import RawTable
from ..tables.stock import STOCK_ROLES
from ..text.documents import pick
from .console import Console


def read_mapped(
    options: argparse.Namespace, sd: StatedNoise | None, console: Console
) -> tuple[RawTable, TableMapping, dict[str, float]]:
    """Return the table as it is, what its columns are, and the epsilons said with endpoints, by the table options."""
    specs = tuple(map(parse_endpoint_spec, options.endpoint))
    if options.only_listed and not options.product:
        raise AssayPilotError(
            "only the table's compounds are in the library anyway", option="--only-listed", mend="Give --product, too."
        )
    same = pick(options, "id smiles product only_listed available min_seen assays")
    same |= {role: getattr(options, role, None) for role in STOCK_ROLES}
    wanted = TableOptions(
        **same,
        sites=options.sites or (),
        blank=options.blank or "missing",
        endpoints=specs,
        sd=sd,
        cores=tuple(options.core),
        merge=options.merge or "no",
        drop_sites=tuple(options.drop_site),
        joined=tuple(options.join_substituents),
        interactions=tuple(options.interaction),
    )
    raw = _tables(options, console)
    try:
        mapping = propose(raw, wanted, console.report)
    except NoSites as error:
        raise _with_advice(error, raw, options) from None
    return raw, mapping, {spec.name: spec.epsilon for spec in specs if spec.epsilon is not None}


def _tables(options: argparse.Namespace, console: Console) -> RawTable:
    """Return the table, with the one that is joined to it.

    Each sheet that was named belongs to the next of them that has any.

    A single sheet is that of the table when it is a workbook, else that of the joined one.
    """
    files = [options.table]
    column = None
    if options.join:
        file, column = split_join(options.join)
        files.append(file)
    sheets: list[str] = [options.sheet] if isinstance(options.sheet, str) else list(options.sheet or ())
    books = [place for place, file in enumerate(files) if is_workbook(file)]
    if len(sheets) > max(1, len(books)):
        raise AssayPilotError(
            f"{len(sheets)} sheets were named, for {many(len(books), 'workbook')}",
            option="--sheet",
            mend="Name one for each workbook: first that of the table, then that of --join.",
        )
    # Without any workbook the table itself says that it has no sheets.
    of_file = dict(zip(books or [0], sheets, strict=False))
    raw = read_said(options.table, of_file.get(0), options.decimal, console, options.header)
    for place, file in enumerate(files[1:], start=1):
        other = read_table(file, console.report, sheet=of_file.get(place))
        raw = join_tables(raw, other, id_column=options.id, other_column=column)
    return raw


def read_said(
    file: str, sheet: str | None, decimal: str | None, console: Console, header: tuple[int, int] | None = None
) -> RawTable:
    """Return the table in a file, of which a sheet, the mark of its decimals and its header may be said."""
    if header is None and decimal is None:
        return read_table(file, console.report, sheet=sheet)
    mark = {None: None, "point": ".", "comma": ","}[decimal]
    return read_as(file, ReadAs(sheet=sheet, header=header, decimal=mark), console.report).raw


def _with_advice(error: NoSites, raw: RawTable, options: argparse.Namespace) -> NoSites:
    """Return the refusal of a table without sites, with advice on a header that was missed, or structures elsewhere."""
    nameless = sum(re.fullmatch(r"column \d+", column) is not None for column in raw.columns)
    if options.header is None and raw.kind in ("text", "workbook") and 3 * nameless > len(raw.columns):
        error.mend = f"{error.mend} Or say which row is the header, for example --header 2 or --header 1-2."
    elif not error.candidates and not options.join and "core" not in (error.mend or ""):
        error.mend = f"{error.mend} Or, if another file has the structures of these ids, join it: --join FILE."
    return error
