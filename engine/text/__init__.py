"""How numbers are written for people."""
