"""What can be sampled: functions, estimators, commands, processes of their own; and how foreign code is contained.

What may not enter: statistics.
"""
