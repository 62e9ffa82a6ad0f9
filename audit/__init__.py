"""Is it true? Empirical, adversarial and, where possible, rigorous checks of the paper and of anybody's mechanism.

What may not enter: copies of the paper's formulas; they are in `reference`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from audit.auditor.api import assert_dp, audit_dp
    from audit.auditor.given import audit_outputs, audit_scores
    from audit.auditor.grid import GridResult, audit_grid
    from audit.auditor.one_run import audit_one_run, with_canaries
    from audit.auditor.search import pairs
    from audit.auditor.search.neighbours import Space
    from audit.auditor.search.pairs import NamedPair, neighbour_pairs
    from audit.auditor.search.sensitivity import SearchResult, audit_oracle, audit_sensitivity
    from audit.auditor.targets.estimator import estimator
    from audit.auditor.targets.isolate import in_interpreter
    from audit.auditor.terms.claim import GDP, RDP, ZCDP, Epsilon, Profile, TradeOff
    from audit.auditor.terms.options import Budget, Code, Execution
    from audit.auditor.terms.result import AuditResult, Finding

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

_HOMES = {
    "audit.auditor.api": ("assert_dp", "audit_dp"),
    "audit.auditor.given": ("audit_outputs", "audit_scores"),
    "audit.auditor.one_run": ("audit_one_run", "with_canaries"),
    "audit.auditor.grid": ("GridResult", "audit_grid"),
    "audit.auditor.search.neighbours": ("Space",),
    "audit.auditor.search.pairs": ("NamedPair", "neighbour_pairs"),
    "audit.auditor.search.sensitivity": ("SearchResult", "audit_oracle", "audit_sensitivity"),
    "audit.auditor.targets.estimator": ("estimator",),
    "audit.auditor.targets.isolate": ("in_interpreter",),
    "audit.auditor.terms.claim": ("Epsilon", "GDP", "Profile", "RDP", "TradeOff", "ZCDP"),
    "audit.auditor.terms.options": ("Budget", "Code", "Execution"),
    "audit.auditor.terms.result": ("AuditResult", "Finding"),
}


def __getattr__(name: str) -> Any:
    """Load the auditor when it is asked for: the command line starts without it."""
    if name == "pairs":
        return import_module("audit.auditor.search.pairs")
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'audit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
