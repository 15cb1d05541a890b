"""Functions of the module and their interfaces: names, parameters and results."""
