"""Small published tables with source and licence."""
