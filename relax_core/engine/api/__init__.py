"""The public functions of RelaxScope, in this process: what `import relax_core` gives, by subject."""
