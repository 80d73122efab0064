"""What a campaign is about: library, endpoints, goals, measurements, stock and plates."""
