"""Files that show with apache-tvm and numpy alone what was found in a recorded pipeline."""
