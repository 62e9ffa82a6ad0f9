"""Audit an OpenDP measurement: a clamped sum with Laplace noise. Needs OpenDP: pip install opendp

OpenDP counts the distance of datasets in records added or removed, so `map(1)` is the ε of one record more or less.
*Replacing* a record is two such steps: its ε is `map(2)`. To quote `map(1)` for replace-one neighbours is an easy
slip, and the audit sees it.
"""

from dpso import audit_dp

try:
    import opendp.prelude as dp
except ImportError as error:
    raise SystemExit(f"skipped: needs OpenDP, pip install opendp ({error})") from None

dp.enable_features("contrib")
changes = dp.vector_domain(dp.atom_domain(bounds=(-100, 100)))
measurement = dp.t.make_sum(changes, dp.symmetric_distance()) >> dp.m.then_laplace(scale=100.0)


def mechanism(dataset, rng):
    """OpenDP draws from the operating system: the generator is not used, and a rerun differs."""
    return measurement(dataset)


one, other = [30, 40, -50, -100], [30, 40, -50, 100]
for steps in (2, 1):
    claimed = measurement.map(steps)
    result = audit_dp(mechanism, one, other, epsilon=claimed, samples=4_000, confidence=0.999999, seed=1)
    print(f"ε = map({steps}) = {claimed:g}:", result)
