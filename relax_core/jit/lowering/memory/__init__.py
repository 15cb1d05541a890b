"""Where buffers lie, how they are viewed, and which elements were written."""
