"""What each page of a program shows, as replies."""
