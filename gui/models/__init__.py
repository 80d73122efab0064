"""Qt table models: they translate roles and hold no logic."""
