"""Exact distributions over dependency trees."""
