"""The window. No statistics."""
