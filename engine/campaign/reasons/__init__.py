"""Why a compound stands where it stands, and what would decide it."""
