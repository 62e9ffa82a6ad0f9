"""Hypothesis strategies for the setting of the paper (`from dpso import strategies as st`), for your own tests.

They draw what the audits themselves search: norms, sets and points of them, losses with their declared constants,
records, neighbouring datasets, parameters. `help(audit.checks.strategies)`, where they live, lists them.
"""

try:
    from audit.checks.strategies import *  # noqa: F403 - the face has the names of where they live
except ModuleNotFoundError as error:
    from audit.runtime.extras import remedy

    raise ImportError(f"dpso.strategies {remedy(error) or error}") from None
