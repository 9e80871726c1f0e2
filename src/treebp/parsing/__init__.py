"""The dependency parser: features, pruning, training, model files."""
