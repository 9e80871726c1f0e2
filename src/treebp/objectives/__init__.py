"""What to train for, and how to pick a tree: module (E) of the paper's circuit."""
