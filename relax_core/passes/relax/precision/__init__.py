"""Computing in float16 where that is fast, and in float32 where it must be exact."""
