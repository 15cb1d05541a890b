"""What a run would cost, counted from the program without running it."""
