"""One hypothesis profile for everybody: the same examples on every run, nothing written to disk, no deadlines."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "dpso",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("dpso")
