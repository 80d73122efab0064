"""Structures: read, told apart, taken apart into core and substituents, and put together; RDKit loads when needed."""
