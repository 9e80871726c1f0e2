"""The same work on many machines."""
