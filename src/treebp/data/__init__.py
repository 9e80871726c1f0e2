"""Treebanks in and out, evaluation, and a treebank of our own."""
