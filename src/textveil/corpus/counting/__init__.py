"""Counting n-grams: exactly, level by level, in bounded memory."""
