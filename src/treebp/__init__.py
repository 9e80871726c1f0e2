"""Structured belief propagation with exact gradients."""
