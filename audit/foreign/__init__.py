"""Other people's code: `fit(X, y)` classes, grids of parameters and pairs, and the bugs that a look finds before
statistics do.

=============  ==========================================================================================
estimator      a `fit(X, y)` class as a mechanism
grid, pairs    hyper-parameters × neighbours at one error level; text matrix and HTML heat map
lints          what a few dozen calls show: determinism, seeds, mutation, leaks, response to ε
recorder       every noise call: distribution, loc, scale, call site; `noise` follows where it is added
replay         both neighbours on the same draws: the first quantity whose noise is too small for it
budget         before starting: ms a call, draws that the time buys, largest ε they can certify
isolate        a worker process for code that hangs, exits, forks or floods; `worker` for another interpreter
store          draws kept on disk, so that an interrupted audit goes on
=============  ==========================================================================================
"""
