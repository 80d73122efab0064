"""The Round page."""
