"""One module a subcommand of `dpso`: HELP, EXAMPLE, configure(parser), run(args) -> exit code.

A command parses, calls the library, prints. Nothing is computed here.
"""
