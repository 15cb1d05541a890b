"""Lessons beside the pages: the panel of a step, its exercise, and the progress that the browser keeps."""
