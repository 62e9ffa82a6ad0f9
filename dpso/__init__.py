"""Trustworthy, executable differential privacy: audit a mechanism, cross-check an implementation, trace a lemma.

The public names; each is documented where it lives (`help(dpso.audit_dp)`) and is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpso import _own

if TYPE_CHECKING:
    from audit import (
        GDP,
        RDP,
        ZCDP,
        AuditResult,
        Budget,
        Code,
        Epsilon,
        Execution,
        Finding,
        GridResult,
        NamedPair,
        Profile,
        SearchResult,
        Space,
        TradeOff,
        assert_dp,
        audit_dp,
        audit_grid,
        audit_one_run,
        audit_oracle,
        audit_outputs,
        audit_scores,
        audit_sensitivity,
        estimator,
        in_interpreter,
        neighbour_pairs,
        pairs,
        with_canaries,
    )

__all__ = [  # noqa: RUF022 - in the order of `sorted`
    "AuditResult",
    "Budget",
    "Code",
    "Epsilon",
    "Execution",
    "Finding",
    "GDP",
    "GridResult",
    "NamedPair",
    "Profile",
    "RDP",
    "SearchResult",
    "Space",
    "TradeOff",
    "ZCDP",
    "assert_dp",
    "audit_dp",
    "audit_grid",
    "audit_one_run",
    "audit_oracle",
    "audit_outputs",
    "audit_scores",
    "audit_sensitivity",
    "estimator",
    "in_interpreter",
    "neighbour_pairs",
    "pairs",
    "with_canaries",
]

# The command puts the search path right before it looks; a plugin looks when a name is asked for.
if not (_own.is_command() or _own.is_plugin()):
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
