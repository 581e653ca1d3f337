"""English text: words and gaps, sentences, stopwords, expressions, parts of speech and senses."""
