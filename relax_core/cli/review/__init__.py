"""Commands for reviews: a report as one file, what a change does to a folder of modules, and runs over many modules."""
