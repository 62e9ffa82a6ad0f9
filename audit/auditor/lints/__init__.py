"""What a few watched calls show: recorder, replay and the rules that turn them into findings.

What may not enter: verdicts.
"""
