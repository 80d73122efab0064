"""The domain of a campaign: library, endpoints, goals, measurements, stock and plates."""
