"""What checks keep of bindings and calls, so that the next form of a module is checked where it changed."""
