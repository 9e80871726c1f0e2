"""Structured factors: global constraints and scores, summed over by dynamic programs."""
