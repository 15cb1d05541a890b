"""The browser components: one typed function per component."""
