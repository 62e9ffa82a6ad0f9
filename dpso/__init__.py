"""Trustworthy, executable differential privacy: audit a mechanism, cross-check an implementation, trace a lemma.

The public names; each is documented where it lives (`help(dpso.audit_dp)`) and is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpso import _own

if TYPE_CHECKING:
    from audit import (
        AuditResult,
        Budget,
        Code,
        Execution,
        Finding,
        GridResult,
        NamedPair,
        SearchResult,
        Space,
        assert_dp,
        audit_dp,
        audit_grid,
        audit_oracle,
        audit_sensitivity,
        estimator,
        in_interpreter,
        neighbour_pairs,
        pairs,
    )

__all__ = [
    "AuditResult",
    "Budget",
    "Code",
    "Execution",
    "Finding",
    "GridResult",
    "NamedPair",
    "SearchResult",
    "Space",
    "assert_dp",
    "audit_dp",
    "audit_grid",
    "audit_oracle",
    "audit_sensitivity",
    "estimator",
    "in_interpreter",
    "neighbour_pairs",
    "pairs",
]

if not _own.is_command():  # the command puts the search path right before it looks
    _own.refuse_hidden()


def __getattr__(name: str) -> Any:
    """Load the auditor when it is asked for."""
    if name not in __all__:
        raise AttributeError(f"module 'dpso' has no attribute {name!r}")
    _own.refuse_hidden()
    import audit

    return getattr(audit, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
