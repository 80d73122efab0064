"""The words of chemists' tables, in one place: what columns are called, and what cells say.

Each line is a name of ours and, behind a colon, the words for it, the surest first. Headers are folded (lower case,
single spaces), cells in lower case. Whoever misses a synonym adds it here.
"""

from __future__ import annotations

import re


def _words(text: str) -> dict[str, tuple[str, ...]]:
    entries = (entry.split(":", 1) for entry in re.split(r"\n(?! )", text.strip()))
    return {name: tuple(" ".join(word.split()) for word in words.split("|")) for name, words in entries}


HEADERS = _words("""
id: id | compound id | cmpd id | molecule id | mol id | molecule chembl id | chembl id | pubchem cid | pubchem sid |
  cpd | cpd id | compound | cmpd | compd | compound no | compound nr | compound number | compound # | cmpd no | cmpd
  nr | cmpd number | cmpd # | cpd no | cpd nr | cpd number | cpd # | compd no | compd nr | compd number | compd # |
  corporate id | sample id | compound name | molecule name | sample name | substance id | registration number |
  compound registration number | reg number | reg no | registry id | entity registry id | corporate number |
  verbindung | verbindungsnummer | substanz | composé | name | example | example no | ex no | sample | substance
structure: smiles | canonical smiles | isomeric smiles | smiles string | cxsmiles | pubchem ext datasource smiles |
  mol | molecule | structure | structures | struc | structure (smiles) | structure smiles | compound structure |
  chemical structure | compound smiles | molecule smiles | parent smiles | ligand smiles | input smiles | original
  smiles | standardized smiles | std smiles | rdkit smiles
endpoint name: endpoint | standard type | result type | activity type | assay | readout | assay name | readout name |
  readout type | result name | parameter | parameter name | measurement type
value: value | standard value | result | measured value | result value | activity value | wert | messwert | ergebnis
mean: mean | avg | average | geomean | geo mean | geometric mean | mean value | average value
tells values apart: readout | result type | standard type | activity type | endpoint | parameter | target | target
  name | target chembl id | assay | assay name | assay id | assay chembl id | protocol | protocol name | cell | cell
  line | species | organism | target organism | time point
tells forms apart: stereo | stereochemistry | stereo comment | enantiomer | isomer | stereoisomer | chirality |
  configuration | absolute configuration | config | salt | salt form | salt name | salt code | form
quality: qc | qc flag | qc status | qc result | qc pass | qc pass/fail | quality | pass/fail | validity | validated |
  validation | validation status | curve status | fit status | fit quality | result status | data status | status |
  flag
level of a row: type | row type | record type | value type | data type | statistic | stat | aggregation | run | level
control of a well: control | control type | content | well type | well content | sample type | role | type | well role
""")
"""What columns are called."""
ROLES = _words("""
relation: relation | qualifier | operator | standard relation | modifier | prefix | qual | mod | relation symbol |
  result operator | result qualifier | result modifier | result prefix | activity operator | activity qualifier |
  activity modifier | activity prefix | inequality
unit: unit | units | standard units | standard unit | result unit | result units | activity units | einheit | unité
n: n | count | replicates | n replicates | determinations | number of determinations | no of determinations | n runs |
  runs | # runs | n tests | anzahl | anzahl messungen | anzahl bestimmungen | test occasions | n of m | n/m
sd: sd | s d | stdev | stddev | st dev | std | std dev | std deviation | standard deviation | standardabweichung |
  stabw | std abw | std abweichung | écart type | ecart type
sem: sem | se | s e m | stderr | std err | std error | standard error | standard error of the mean | error | err |
  uncertainty | fehler | standardfehler
round: round | round no | round number
replicate: replicate | rep
date: date | date tested | run date | experiment date | datum | testdatum | messdatum
plate: plate | plate id | plate barcode | plate name | platte
well: well | well id | well position | position
batch: batch | batch id | batch name | lot | lot id | lot number | chargennummer
comment: comment | comments | remark | remarks | note | notes | bemerkung | bemerkungen | kommentar | remarque |
  remarques
excluded: excluded | exclude | outlier | rejected
available: available | makeable | measurable
stock: stock | in stock | stock status | stock amount | in stock?
cost: cost | synthesis cost | cost of synthesis | cost (eur) | cost (usd) | price | making cost
lead: lead | lead time | lead time (days) | lead (days) | lead days | delivery time | delivery
""")
"""What columns beside values are called, by what they hold."""
for _role in ("date", "plate", "well", "batch", "comment"):
    ROLES[_role] += tuple(f"{of} {name}" for of in ("assay", "test") for name in ROLES[_role])
CELLS = _words("""
in stock: yes | y | true | x | t | ja | oui | in stock | stock | instock | available | arrived | delivered | made | on
  hand | here
to be made: no | n | false | f | nein | non | not in stock | out of stock | to be made | to make | make | to order |
  order | on order | orderable | makeable | can be made | synthesis | synthesise | synthesize
cannot be made: cannot | can not | can't | cannot be made | cannot make | not makeable | unavailable | not available |
  impossible | never | no longer available | cannot be had
not measured yet: nd | n/d | n.d. | not determined | nt | n/t | n.t. | not tested | not measured | pending | tbd | ? |
  n.b. | k.a. | nicht bestimmt | nicht getestet | nicht gemessen | ausstehend
failed: fail | failed | invalid | reject | rejected | bad | not ok | nok | outlier | exclude | ungültig | invalidated
  | not validated | knocked out
summary: mean | average | avg | median | total | sum | sd | stdev | std | std dev | standard deviation | cv | gesamt |
  summe | mittelwert | min | max | minimum | maximum | count | geomean | geometric mean | total: | average: | mean:
type: string | text | varchar | char | integer | int | long | longinteger | real | double | float | number | numeric |
  decimal | singlereal | currency | date | datetime | time | boolean | bool | smiles
neutral: neutral | neutral control | negative | negative control | neg | neg control | dmso | vehicle | vehicle
  control | solvent | solvent control | untreated | no compound | no inhibitor | 0 % effect | 0 % inhibition | zpe |
  nc
full: full | full effect | full control | positive | positive control | pos | pos control | 100 % effect | 100 %
  inhibition | reference inhibitor | no enzyme | no cells | blank | background | hpe | pc
""")
"""What cells say."""
