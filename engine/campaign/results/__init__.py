"""Results as they come in: matched, checked for duplicates, questioned, corrected."""
