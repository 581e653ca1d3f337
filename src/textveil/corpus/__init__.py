"""Corpora: reading, n-gram counting, association measures, lexicons."""
