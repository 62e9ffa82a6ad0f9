"""Section 5 and Appendix B: weak convexity, proximal steps, a private strongly convex solver, and Algorithm 6.

In the paper's order: `functions`, `games` and `weak_convexity` (eq. 9, Definitions 22 and 23, Propositions 24 to 29),
`prox` (Proposition 16, Lemma 17, Definition 18), `mirror` and `strongly_convex` (the solver A_sc behind Theorem 19),
`proximal_guided` (Algorithm 6, Theorem 20), `counterexamples` (what is wrong as printed, run).

What may not enter: formulas of another section, anything that draws.
"""
