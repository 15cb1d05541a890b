"""What the Pipeline page shows of a recorded pipeline, as replies."""
