"""Icons, help and style."""
