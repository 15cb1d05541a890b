"""What registers hold, and how it goes between host and machine."""
