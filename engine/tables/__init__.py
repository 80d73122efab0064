"""Tables as labs have them: read, map, check."""
