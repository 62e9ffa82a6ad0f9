"""From a score to a bound: the plan, the test draws, the exact test, the bets of the anytime mode.

What may not enter: a decision that depends on test draws and is not covered by the error level.
"""
