"""LinGame: pure exploration as a game, and what pools measurements like it."""
