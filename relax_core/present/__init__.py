"""View models: what pages and the command line show, as text, numbers and SVG; no IR and no browser."""
