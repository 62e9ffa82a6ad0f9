"""Section 3: convex non-smooth generalised linear losses.

`moreau` (smoothing on the line), `oracle` (Algorithm 1), `phased_sgd` (Algorithm 2), `noisy_frank_wolfe`
(Algorithm 3), `sensitivity` (how far one record moves a phase), `counterexamples` (one a defect of the text).

What may not enter: formulas of another section, anything that draws.
"""
