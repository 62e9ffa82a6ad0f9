"""The command `dpso`: `main`, and one module a subcommand: HELP, EXAMPLE, configure(parser), run(args) -> exit code.

A command parses, calls the library, prints. Nothing is computed here.
"""
