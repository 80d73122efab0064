"""Plates: their wells, the contents, and how the measurements of a round are spread over them."""
