"""The command line: a module for each command, `app` puts them together, `main` runs them."""
