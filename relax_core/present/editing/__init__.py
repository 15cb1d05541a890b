"""What the editor knows: the words of a language, and the names of a program."""
