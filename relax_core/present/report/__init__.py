"""A report: what the pages show of one program, as one HTML file that opens anywhere and loads nothing."""
