"""The tools of the project that users do not need."""
