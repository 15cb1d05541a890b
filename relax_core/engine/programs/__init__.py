"""What is known of one program: its text, its compilation, its runs."""
