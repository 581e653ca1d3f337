"""The parts of the documentation site that are written from the code, and the checks of the built site."""
