"""What leads to where people work: the browser, the shell, a paper."""
