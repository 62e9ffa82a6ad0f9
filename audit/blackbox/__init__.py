"""The black-box DP auditor: labelled draws, a learned score, one exact test.

Reading order: `confidence` (the test and its proof), `anytime` (the same by betting), `sampling` and `foreign` (draws),
`outputs`, `features`, `vectors`, `scores` (what is learned), `plan` (what is tested), `auditor` (the whole).
"""
