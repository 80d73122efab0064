"""A virtual assay, and whole campaigns against it."""
