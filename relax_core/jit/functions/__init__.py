"""Elementary functions as straight-line code without calls, for one value or for a vector of them."""
