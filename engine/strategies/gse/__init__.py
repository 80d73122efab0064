"""GSE: the best compound within a fixed budget."""
