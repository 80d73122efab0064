"""The algorithms that decide: one protocol, one registry, one file each."""
