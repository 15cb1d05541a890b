"""What is said about the program and about faults in programs: the guides, and a paragraph for each code."""
