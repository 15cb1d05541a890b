"""Types and well-formedness: everything that is known of a program, or wrong with it, before it runs."""
