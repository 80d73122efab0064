"""The campaign file: an append-only chain of events and the parts they name, and how it stays whole."""
