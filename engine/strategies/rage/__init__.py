"""RAGE: the best of what is wanted, found by measuring what can be measured."""
