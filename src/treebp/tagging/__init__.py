"""Labels along sequences: tags and lemmas of words, and whatever else a chain over hashed features can tell."""
