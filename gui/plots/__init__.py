"""Figures of the engine on the screen."""
