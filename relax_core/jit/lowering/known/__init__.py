"""What is known before code is made: bounds, ranges, work, coverage."""
