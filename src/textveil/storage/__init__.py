"""Files on disk: atomic writing, hashing, resumable runs, and cached scores."""
