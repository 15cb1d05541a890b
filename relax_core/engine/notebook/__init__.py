"""What a notebook shows of modules, stages and runs: widgets of the app's components, and a form without a kernel."""
