"""Every command of the command line: its function, its help text and its options.

The text reads as ``--help`` does. ``# name module:function: About || more`` begins a command, and ``# @name`` lines
that several commands share and include by ``@name``. ``[title] description`` begins a group of options. All else is
``--option METAVAR <one|of|these> (kind, required, many, default x): help``; a positional has its name in place of the
option, and an option without metavar, choices and kind is a flag. Further lines of one thing are indented. A line
``? --these needs --all of those`` or ``excludes`` restricts combinations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ..export.formats import FORMATS, HANDLERS

JSON_LIMIT, TEXT_LIMIT = 10_000, 25
"""Compounds that ``status`` lists by default, as a document and in the terminal."""

_ALL = f"""
# @file
file FILE: campaign file
# @change
--note TEXT (default ): why, for the history
--dry-run: only say what it would do
# @value
@file
number NUMBER (value): of the value: 17, or C3 of a control
--reason TEXT (required): why, for the history
--yes: do it though it changes what is decided or guaranteed
--dry-run: only say what it would do
# @sheet
--sheet NAME: sheet of a workbook (default: the first with a table)
# @decimal
--decimal <point|comma>: what marks the decimals of a text file (default: found)
# @table
[table options]
--id COL: column of compound ids (default: found by its name)
--sheet NAME (many): sheet of TABLE, a workbook (default: the first with a table); given twice, the second is that of
  --join
--header ROW[-ROW] (rows): row of TABLE that is its header, as a spreadsheet counts; 1-2 for two rows; none
  (default: found)
@decimal
--smiles COL: column of structures
--core SMILES|FILE (many): what all structures share, with its sites as [*:1], [*:2]; or a .mol or .sdf file: sites
  are made by taking the structures apart; may be given several times
--merge <identical|charge|tautomer>: ids with the same structure are one compound; also when they differ in charge; or
  also as tautomers
--sites COL,... (names): columns of substituents (default: R1, R2, ...)
--blank <h|missing>: what an empty substituent means: hydrogen, or missing (default)
--join FILE[:COL]: a second table, joined by its column of ids
--available COL: column that says whether a compound is available (yes or no)
--interaction SITE,SITE (many): take two sites together where their effects do not add up: the model then knows their
  combinations that occur; may be given several times (check proposes pairs)
--product: the library is every combination of the substituents, not only the rows
--only-listed: with --product: only the compounds of the table can be measured, the others are what could be made
--assays each|pooled|NAME: where a column names assays or sources: an endpoint for each, all pooled, or one of them
  alone
--endpoint SPEC (many): what is measured:
  'NAME[;unit=][;direction=max|min][;transform=log|none][;sd=][;epsilon=][;limit=<5][;wells_per_measurement=1]', once
  for each; it need not be a column. The limit is in the unit of the values. An sd may be unknown, or unknown:0.2 with
  a guess: see --sd. kind=yes-no or kind=count: answers, or counts. 'NAME;of=NAME - NAME' is the difference of two
  others on the log scale, such as a selectivity
# @stock
[stock and synthesis] What is in stock, can be made, or cannot be made.
--stock COL: column that says yes, no, an amount, in stock, to be made, or cannot
--cost COL: column of what making each compound costs; 0: it is there
--lead COL: column of how long that takes: days, or such as 3 weeks, 2 rounds
# @terms
--currency EUR: of all costs (default EUR)
--round-days N (number): how many days a round takes in the lab (default 7)
# @goal
[goal options] epsilon, slack and sd are on the scale that is modelled: log10 units for a log endpoint.
--goal (text): epsilon-best (default): all compounds within epsilon of the best; best: the best compound; top: the
  best compounds, as many as --top says; pareto: the best trade-offs between several endpoints
--top N (int): how many of the best compounds are wanted (goal top)
# @distance
--epsilon X (number): distance from the best that still counts; for pareto the difference that does not matter, in
  endpoints that name none of their own
--slack X (number): how soft that cutoff is (default epsilon / 2); not for pareto
# @lab
--budget N (int): measurements in all (default: no limit)
--max-replicates N (int, default 4): of one compound in a round (default 4)
--sd X (noise): assay noise: SD between measurements of one compound; or unknown, or unknown:0.2 with a guess for the
  first plan: then it is estimated from replicates, and decisions use an upper bound on it
--seed N (natural, default 0): of random choices (default 0)
# demo practice:demo: A whole practice campaign with a simulated assay, until the set is decided || The table is
  synthetic: 960 compounds, 5 sites.
--seed N (natural, default 0): of the simulated assay (default 0)
--out DIR: leave practice.assaypilot and shortlist.csv in this folder
# strategies doctor:strategies: The strategies by name
# datasets doctor:datasets: The tables that come with the program
# doctor doctor:doctor: Versions, Qt platform, fonts, write access: what a bug report needs
# check starting:check: Reads a table as an import would and reports what it understood; writes nothing
table TABLE: csv, tsv, txt, xlsx, xls, ods, sdf or smi file
@table
@stock
# new starting:new: Creates a campaign file from a table
file FILE: the campaign file to create, usually NAME.assaypilot
--table TABLE (required): csv, xlsx, sdf or other table with the compounds
--name (text): of the campaign (default: the file's name)
@table
@stock
@terms
@goal
--objective NAME,... (many): the endpoint the goal is about (default: the only one); for pareto two or
  more (default: all)
--profile CURVE (many): how desirable values of an endpoint are, or MW, cLogP, TPSA, HBD, Rotatable bonds of structures:
  'NAME:0AT..1AT[..1TO..0FROM][;weight=1]', once for each: 'pIC50:6..8' is 0 up to 6 and 1 from 8. The goal is then
  about the score, the geometric mean from 0 to 1 (name an --objective to only show it)
@distance
--delta X (number, default 0.05): 1 - confidence (default 0.05: 95 %% sure)
--control SPEC (many): a reference compound, measured on every plate: 'NAME[;value=7.1]', or
  'NAME;ENDPOINT=7.1' for one of several endpoints, on the scale that is modelled; may be given several times. Rows of
  results with its name are its values
--strategy NAME (default auto): see assaypilot strategies (default auto)
--parameter NAME=VALUE (setting, many): of the strategy
--history <data|shown> (default data): values of the table: data for the series model (default), or only shown
--per-round N (int, default 96): measurements the lab takes in a round (default 96)
@lab
# plan rounds:plan: Issues the next round, or shows the open one again, unchanged || When the set is decided it
  issues none and names the reason.
@file
--out CSV|PDF: write the round as a work list (.csv), to be filled in and recorded, or as a page to print (.pdf)
--confirm: when the campaign has ended: a confirmation round of each compound that is in and was never measured, once;
  what lies outside its prediction interval is named by status
--withdraw: take the open round back, with its plates, while it has no result
--orders CSV: write the compounds that have to be made first as an order list
[plates] The well of each measurement. The campaign keeps the layout, so plan and the window always show the same
  plates. A work list X.csv names plate and well, and X_plates.csv lists every well with its content.
--plate <24|48|96|384|1536> (int): lay the round out on plates of so many wells, replicates apart, each endpoint on
  its own plates
--control-columns [NAME=]COL,... (many): columns kept for controls, such as 1,12 (max and min controls in turn), or
  max=1 and min=12; may be given several times
--no-edge: no measurement in the outermost rows and columns
--same-wells: all endpoints are read from the same wells
--no-plates: remove the round's plate layout
[liquid handlers] Which source well goes into which well of the round, for a round on plates.
--transfers FILE: write the transfers: an Echo pick list or a Hamilton work list (.csv), or a Tecan work list (.gwl)
--format <{"|".join(HANDLERS)}>: liquid handler of the list
--sources TABLE: source wells of compounds and controls: ID, Plate, Well
--volume VOL: of each transfer, such as "25 nL" or "2 uL"
--source-plate <24|48|96|384|1536> (int): wells of the source plates
? --control-columns,--no-edge,--same-wells needs --plate
? --no-plates excludes --plate
? --withdraw excludes --out,--confirm,--orders,--plate,--no-plates,--transfers
? --transfers,--format,--sources,--volume,--source-plate needs --transfers,--format,--sources,--volume,--source-plate
# record recording:record: Adds results from a table; what was recorded before is not counted again
@file
results RESULTS (optional): csv or xlsx with the columns ID, Value and optionally Endpoint, Relation, Unit, Replicate,
  N, SD, Date, Plate, Well, Batch, Comment; or one column per endpoint; may be left out with --close or --unavailable
@sheet
@decimal
--unit UNIT (optional): the unit of values that have none in the table
--close: end the round with what has come back
--again: count the same results once more: they are new runs
--missing <return|failed|other>: with --close, what a proof makes of measurements that did not come back. return
  (default): they are asked for again. failed: lost for reasons in the lab, whatever their value; decisions go on
  without them. other: the same, but nothing is guaranteed from here on. The series model goes on with what is there
--unavailable ID,... (many): unavailable compounds, which no later round contains; may be given
  several times, which an id with a comma needs
? --missing needs --close
# audit rounds:audit: Issues an audit round: a random sample of the compounds that are not in || Its results are
  recorded as usual; status then bounds the members missed, whatever the model believes.
@file
--size N (positive, required): compounds to draw
--out CSV|PDF: write the sample as a work list (.csv) or a page to print (.pdf)
# curves fitting_curves:curves: Fits dose-response curves and writes a table of results with standard errors, which
  record reads || A raw table is a list (compound, concentration, response), has a column for each concentration or,
  as Prism, for each compound; or it is read by well with a plate map (--map). Controls on a plate make responses
  percent effect. A curve that does not reach 50 % in the tested range gives a bound.
raw RAW: csv, xlsx or other table of readings
out OUT.csv: the table of results to write
@sheet
--endpoint NAME (default pIC50): what the values are called: pIC50 (default), pEC50, or a concentration such as
  "IC50 (nM)"
--points CSV: write every point with its fit; a reason in its column Excluded takes a point out when that file is
  fitted again
--plots PDF: draw the curves, with what to look at
--plateaus <free|fixed> (default free): free (default): each curve has its own; fixed: 0 and 100 %% effect
[reading] Settings that the table does not contain.
--response COL: column of responses
--unit UNIT: of concentrations that have none: M, mM, uM, nM or pM
--responses <raw|effect|remaining>: raw: a signal; effect: percent of the full effect (%% inhibition); remaining:
  percent that is left (%% activity); default: by the column's name
--neutral NAME,... (names): wells without effect (DMSO, negative control)
--full NAME,... (names): wells with full effect (blank, positive control)
--map MAP.csv: plate map: Well, ID, Concentration; Plate and Control where needed
# stock stocking:stock: What is in stock, can be made or cannot, what that costs and how long it takes; and what has
  arrived || A list has an ID and Stock, Cost or Lead. It may come at any time; what cannot be read is named, the rest
  is taken.
@file
list LIST (optional): csv or xlsx with ID, and Stock, Cost or Lead
@sheet
--arrived ID,... (many): compounds that are there now; all: everything on order
--orders CSV: write what is on order as a list, which can be read back
--note TEXT (default ): why, for the history
@stock
@terms
# exclude changing:amend: Leaves a recorded value out, for a reason that is kept || It stays in the file. Values are
  named by their numbers, those of controls C1, C2, ...: assaypilot log FILE --values.
@value
--judgement: it is left out because of its value, not for a technical cause: a proof ends then
# include changing:amend: Uses a value again that was left out || Values are named by their numbers, those of controls
  C1, C2, ...: assaypilot log FILE --values.
@value
# correct changing:amend: Corrects a recorded value; what was entered first is kept || Values are named by their
  numbers, those of controls C1, C2, ...: assaypilot log FILE --values.
@value
value VALUE: the right one, in the unit of its endpoint or with its own: 12.5, 12,5, '>10000', '0.35 uM'
# change changing:change: Changes the goal, the assay noise, the limits or what the lab takes, and says first what
  that does || Where it changes what is guaranteed, it asks, or needs --yes. The window can undo it while nothing was
  decided since.
@file
--epsilon X (number): distance from the best that still counts
--slack X (number|none): how soft that cutoff is; none: half of epsilon
--delta X (number): 1 - confidence
--strategy NAME: go on by another strategy, with everything measured
--sd [NAME=]X (many): assay noise (SD) of an endpoint; or unknown: from then on it is estimated from replicates
--limit NAME<X (many): limit of an endpoint, or NAME=none
--profile CURVE (many): another curve of the profile, as new takes it: pIC50:6..8; the others stay
--margin NAME=X (many): for trade-offs the difference in an endpoint that does not matter, or none for that of all
--per-round N (int): measurements the lab takes in one round
--max-replicates N (int): of one compound in one round
--budget N (int|none): measurements in all; none: no limit
--control SPEC (many): one more control, as new takes it: 'NAME;value=7.1', or 'NAME;ENDPOINT=7.1'; may be given
  several times
--endpoint SPEC: one more endpoint, as new takes it: NAME;sd=0.3;limit=>50 with a limit from the next round on,
  without limit to be recorded only
--goal <pareto>: with --endpoint: the best trade-offs between the objective and the new endpoint
--yes: do it though it changes what is guaranteed
@change
# add changing:add: Adds compounds, with new substituents perhaps, to a campaign, and says first what that does ||
  Values in the table are not taken over; record them.
@file
table TABLE: csv, xlsx, sdf or other table: ids, and a column for every site; or structures, where those of the
  campaign were taken apart
--id COL: column of compound ids (default: found by its name)
--smiles COL: column of structures
--available COL: column that says whether a compound is available (yes or no)
@sheet
--yes: do it though results were seen already
@change
# status standing:status: What is in, out and undecided, how sure that is, and what was measured
@file
--only <in|undecided|out|all> (default all): list these compounds (default all)
--limit N (natural): list at most N compounds, best first (default {JSON_LIMIT:,} with --json, {TEXT_LIMIT} without);
  counts are always complete
--round N (natural): as it was at the end of round N, when the next one was planned; 0: before the first
--forecast: and what it will still take, by simulated campaigns (a second or more; the command forecast says more)
# forecast standing:forecast: What a campaign will still take, what its budget decides and what the next round is
  worth || By simulated campaigns that go on from where it stands, with the same strategy. The file is only read.
@file
--runs N (positive): simulated campaigns; for a proof 9, 19, 29, .. (default: what takes seconds)
--seed S (natural, default 0): of what is simulated (default 0)
# export files:export: Writes the shortlist as a table, a workbook, an SD file, a report or a slide || The ending of
  the name says which. Workbook and report hold measurements, rounds and settings, too.
@file
out OUT{"|".join(FORMATS)}: the file to write
--only <in|undecided|out|all> (default in): which compounds (default in)
# overview files:overview: The campaigns of a project: where each stands, and what comes next
places FOLDER|FILE (any): default: the folder it is called in
# log files:log: The history: every event, in order; or every value, with its number
@file
--values ID (optional): instead, every recorded value (of the compound or control ID) with the number that exclude and
  correct ask for
# verify files:verify: Whether the file is consistent; exit code 1 when it is not
@file
--recompute: make every decision again, however long that takes
--head HEAD: a head noted earlier that must be in the history
--key KEY: the key (public or private) by which the history was signed
# sign files:sign: Sign the history by a key of the lab, so that verify --key shows whether it was rewritten
file FILE: campaign file; signatures are kept in FILE.signatures
--key KEY (required): file of an Ed25519 private key (PEM)
--new-key: make the key first, with its public half in KEY.public
# design designing:design: One optimal design with its certificate: which compounds to measure how often, to learn
  most || Without the results of a campaign: for a first plate, or to see what a plan could reach at best.
table TABLE: csv, xlsx, sdf or other table of what can be measured
--criterion <g|xy> (required): g: the least certain mean is as certain as can be; xy: the least certain difference of
  two means
--measurements N (positive, required): measurements in all; with a budget at most
--targets TABLE: the compounds that matter, with the same sites (default: those of TABLE)
--forbid COL: column of yes and no: compounds that cannot be measured
--force COL: column of yes and no: compounds that must be measured
--max-per-compound N (positive): measurements of one compound
--max-support N (positive): different compounds
--tau X (number, default 0.0): SD of each compound's own deviation from additivity, in units of the assay noise (SD):
  turns many replicates of few compounds into more compounds (default 0)
--cost COL: column of what making each compound costs; 0: already made
--budget X (number): money in all
--cost-per-measurement X (number, default 0.0): added to --cost (default 0)
? --cost needs --budget
? --budget needs --cost
? --cost-per-measurement needs --cost,--budget
? --max-support excludes --budget
@table
# simulate simulating:simulate_command: Whole campaigns against a simulated assay, scored against a truth that is
  known || The same seed gives the same result whatever the number of processes. Without goal options an instance
  keeps those of its paper.
--list: the instances by name
--dataset NAME: a table that comes with the program
--table TABLE: csv, xlsx, sdf or other table with measured values
--instance NAME[:SETTING=VALUE,...]: an instance of a paper; see --list
--truth <fit|values>: what is true of a table's compounds. fit (default): the sum of contributions that fits its
  values best. values: the values themselves, so that contributions do not add up and nothing is guaranteed
--runs N (positive, default 100): campaigns to run (default 100)
--jobs N (natural, default 1): processes (default 1; 0: one per processor)
--cluster ADDRESS: of a Dask scheduler, such as tls://host:8786 with the certificates of Dask's own settings
  (distributed.comm.tls). With tcp:// nothing is encrypted and no one proves who they are, and whoever answers can run
  code here: for a network you trust
--curve: also what was found, missed and wrong at the end of each round
--own-deviation SD (number, default 0.0): what each compound's mean deviates from the sum of effects, drawn in every
  run (default 0)
--max-phases N (positive, default 100000): give a run up after these (default 100,000)
@goal
--objective NAME,...: the endpoint the goal is about (default: the only one); for pareto two or more (default: all)
@distance
--delta X (number): 1 - confidence (default the instance's own, else 0.05: 95 %% sure)
--strategy NAME[,NAME]: see assaypilot strategies; baselines can be named here, too
--parameter NAME=VALUE (setting, many): of the strategy
--per-round N (int): measurements the lab takes in a round (default: every phase is one round)
@lab
@table
"""


class Command(NamedTuple):
    """A command of the command line."""

    does: str
    """The function that does it, with its module in this folder: ``rounds:plan``."""
    about: str
    more: str
    takes: tuple[str, ...]
    """Its options and what they share, one text each."""
    rules: tuple[str, ...]
    """Rules for combinations of options."""


def _commands() -> Iterator[tuple[str, Command]]:
    """Yield the commands by name, and what several share under ``@name``."""
    for part in re.split(r"^# ", _ALL, flags=re.M)[1:]:
        head, *takes = (" ".join(entry.split()) for entry in re.split(r"\n(?! )", part.strip()))
        name, _, rest = head.partition(" ")
        does, _, about = rest.partition(": ")
        about, _, more = about.partition(" || ")
        rules = tuple(entry[2:] for entry in takes if entry.startswith("? "))
        yield name, Command(does, about, more, tuple(entry for entry in takes if entry[:2] != "? "), rules)


PARTS = dict(_commands())
COMMANDS = {name: command for name, command in PARTS.items() if not name.startswith("@")}
"""The commands by name, in the order of ``--help``. Any other first word is a file for the window."""
