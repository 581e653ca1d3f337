"""Files on disk: written atomically, hashed, resumed after an interruption, and cached scores."""
