"""The kinds of events: one class for each, with its effect, its opposite and its text."""
