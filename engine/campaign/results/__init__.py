"""Results as they come in: matched, told apart from what is there, doubted, corrected."""
