"""Plates: their wells, what stands in them, and how the measurements of a round are spread over them."""
