"""What the paper says, line by line, at any precision.

Rooms, in the paper's order: `setting` (Section 2: norms, sets, losses, data), `privacy` (Section 2:
differential privacy), `convex` (Section 3), `smooth` (Section 4), `weakly_convex` (Section 5 and
Appendix B), `vectors` (test vectors). Below them: `numbers` (three number systems), `tape` (randomness),
`registry` and `editions` (from statements to code, from printed to corrected text).

What may not enter: numpy, anything of `audit`, global state, a generator, a float literal.
"""
