"""The Goal page."""
