"""The algorithms that decide: one protocol, one registry, a folder for each family of them."""
