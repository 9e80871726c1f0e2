"""Trees over HTTP: a server that parses what many clients send together, and a page to play with."""
