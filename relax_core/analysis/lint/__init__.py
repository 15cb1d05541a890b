"""What is suspicious in a module that is well-formed: it runs here, and is not what its author can have meant."""
