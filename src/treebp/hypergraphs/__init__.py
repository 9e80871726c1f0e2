"""Hypergraphs, and sums over their derivations."""
