"""Tables of compounds: rows, columns, filter."""
