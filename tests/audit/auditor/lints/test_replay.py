"""What replayed runs say of shares: a confidence limit that is as sure as it claims."""

from __future__ import annotations

import pytest
from scipy import stats

from audit.auditor.lints.replay import _share


@pytest.mark.parametrize("runs", [8, 20, 100])
@pytest.mark.parametrize("share", [0.05, 0.3, 0.6, 0.9])
def test_the_limit_on_a_share_is_above_it_once_in_a_thousand_at_most(runs: int, share: float) -> None:
    """The chance, summed over all counts, that the lower limit exceeds the true share."""
    limits = [_share(met, runs) if met else 0.0 for met in range(runs + 1)]
    wrong = sum(stats.binom.pmf(met, runs, share) for met in range(runs + 1) if limits[met] > share)
    assert wrong <= 1e-3
    assert limits == sorted(limits)


def test_the_limit_is_not_lower_than_it_need_be() -> None:
    """All of n runs met: the limit is the share whose n-th power is 1e-3."""
    for runs in (8, 24, 100):
        assert _share(runs, runs) ** runs == pytest.approx(1e-3)
    assert _share(24, 24) == pytest.approx(0.75, abs=0.001)
