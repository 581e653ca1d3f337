"""Scripts that obfuscate a file of lines with a peer, each in the environment of that peer."""
