"""From text to tokens, words and sentences."""
