"""What notebooks and scripts use: pandas in and out, ids instead of positions; see ``assaypilot.engine``."""
