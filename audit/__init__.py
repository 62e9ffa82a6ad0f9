"""Is it true? Empirical, adversarial and, where possible, rigorous checks of the paper and of anybody's mechanism.

What may not enter: copies of the paper's formulas; they are in `reference`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from audit.blackbox.auditor import assert_dp, audit_dp
    from audit.foreign.estimator import estimator
    from audit.foreign.grid import audit_grid
    from audit.sensitivity import audit_oracle, audit_sensitivity

__all__ = ["assert_dp", "audit_dp", "audit_grid", "audit_oracle", "audit_sensitivity", "estimator"]

_HOMES = {
    "assert_dp": "audit.blackbox.auditor",
    "audit_dp": "audit.blackbox.auditor",
    "audit_grid": "audit.foreign.grid",
    "audit_oracle": "audit.sensitivity",
    "audit_sensitivity": "audit.sensitivity",
    "estimator": "audit.foreign.estimator",
}


def __getattr__(name: str) -> Any:
    """Load the auditor when it is asked for: the command line starts without it."""
    if name not in _HOMES:
        raise AttributeError(f"module 'audit' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
