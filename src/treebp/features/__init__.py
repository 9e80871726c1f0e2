"""Hashed features: the language of templates, hashing, the encoding of words, and the optimiser of sparse weights."""
