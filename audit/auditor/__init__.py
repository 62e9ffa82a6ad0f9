"""Is this mechanism as private as it claims? `audit_dp` and `audit_grid`, and what they are made of.

In the order of imports: `terms` (outputs, neighbours, findings, results), `targets` (what can be sampled), `learn`
(scores), `test` (plan, draws, exact test, bets), `lints` (what a few watched calls show), `search` (worst cases).

Constants: no bound's validity depends on any of them, only its power does. "Chosen for power" means by hand; what
halving and doubling such a constant does to the bound is measured (`dpso bench constants`, docs/measured.md).

What may not enter: knowledge of what is audited.
"""
