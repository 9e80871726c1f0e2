"""Structured belief propagation: variables, factors in groups, messages, beliefs and exact gradients."""
