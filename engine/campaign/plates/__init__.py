"""Plates, and other blocks, in a campaign: where measurements stand, what controls say, how rounds are laid out."""
