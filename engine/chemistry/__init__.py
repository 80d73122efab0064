"""Structures: reading, comparing, splitting into core and substituents, assembling; RDKit loads when needed."""
