"""Commands for reviews: a report as one file, and what a change does to a folder of modules."""
