"""Limits of size and time for files that may come from anyone: what is larger is no table of a series.

Everything that reads a file or hands its contents to a library takes its limits from here.
"""

from __future__ import annotations

CHILD_SECONDS = 20.0
"""Of a processor, for a guarded process; reading an xlsx of 100,000 x 20 takes 3."""
CHILD_MEMORY = 1_000_000_000
"""Bytes that a guarded process may write to; reading an xlsx of 100,000 x 20 takes 310 MB."""
LARGEST_FILE = 1 << 28
"""Bytes of a file; a csv table of 100,000 x 20 has 15 MB."""
LARGEST_TEXT = 80_000_000
"""Bytes of a text, which is read without a process of its own: it takes up to ten times as much memory."""
MOST_CELLS = 8_000_000
"""Cells of a text, empty ones too: a million compounds in eight columns."""
MOST_RECORDS = 500_000
"""Records of an SD file."""
LONGEST_HEADER = 500
"""Characters of a column's name; patterns that look for units and runs in it need time that grows with its square."""
LONGEST_CELL = 131_072
"""Characters of one cell, as Python's csv reader has it; a spreadsheet keeps 32,767, a molblock of 50 atoms 5,000."""
LARGEST_UNPACKED = 1 << 29
"""Bytes of all parts of a workbook."""
MOST_PARTS = 20_000
MOST_SPANNED = 30_000_000
"""Cells between the first and the last of a sheet, empty ones too; the guarded process may hold fewer."""
LONGEST_SMILES = 5_000
"""Characters of a structure as SMILES."""
LONGEST_BLOCK = 100_000
"""Characters of a structure as a molblock; 300 atoms with their hydrogens have 40,000."""
MOST_ATOMS = 300
"""Heavy atoms of a structure: a peptide of 40 residues. What chemistry takes grows with the third power of it."""
