"""The open campaign: its work, its view, its replay."""
