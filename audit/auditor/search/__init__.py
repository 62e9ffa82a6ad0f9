"""Worst cases: neighbours for a mechanism, inputs that maximise a sensitivity or an oracle error.

What may not enter: a second auditor.
"""
