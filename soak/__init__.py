"""The soak: an opt-in search for inputs that crash textveil, stop it, or make it repeat a text in a message."""
