"""Commands that lead to where people work: the browser, the shell."""
