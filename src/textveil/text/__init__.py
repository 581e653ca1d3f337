"""English text: words and gaps, sentences, stopwords, expressions, parts of speech and senses."""

__all__: list[str] = []
"""Nothing here is for users: it may change without notice."""
