"""The command `dpso`, also as `python -m dpso`: own modules are found first, those of the working folder last."""

import sys

from dpso._own import refuse_hidden, search_own_first


def main() -> int:
    """Run one subcommand and return its exit code."""
    search_own_first()
    try:
        refuse_hidden()
    except ImportError as error:
        print(f"dpso: {error}", file=sys.stderr)
        return 2
    from audit.cli.main import main as command

    return command()


if __name__ == "__main__":
    sys.exit(main())
