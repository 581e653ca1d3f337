"""A method of every kind for textveil."""
