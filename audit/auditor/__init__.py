"""Is this mechanism as private as it claims? `audit_dp` and `audit_grid`, and what they are made of.

In the order of imports: `terms` (outputs, neighbours, findings, results), `targets` (what can be sampled), `learn`
(scores), `test` (plan, draws, exact test, bets), `lints` (what a few watched calls show), `search` (worst cases).

What may not enter: knowledge of what is audited.
"""
