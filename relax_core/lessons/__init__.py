"""Lessons: what a lesson is, how its Markdown file is read, and how answers are checked on the state of programs."""
