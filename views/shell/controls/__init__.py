"""What several pages offer in one way: boxes to choose in, and tables."""
