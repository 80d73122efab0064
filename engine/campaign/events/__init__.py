"""The kinds of events: one class for each, with what it does, what takes it back and how it reads."""
