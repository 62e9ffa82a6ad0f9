"""While a score is learned linear algebra has one thread; afterwards as many as before."""

from __future__ import annotations

import os

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from audit.auditor.learn import scores
from audit.auditor.learn.scores import Score
from audit.auditor.targets.isolate import in_child
from audit.auditor.terms import outputs
from audit.runtime.threads import single_threaded


def counts(api: str = "blas") -> set[int]:
    return {found["num_threads"] for found in threadpool_info() if found["user_api"] == api}


def test_one_thread_within_and_as_many_as_before_after_it() -> None:
    with threadpool_limits(limits=2, user_api="blas"):
        before = counts()
        assert single_threaded(counts)() == {1}
        assert counts() == before

        @single_threaded
        def fails() -> None:
            raise ArithmeticError

        with pytest.raises(ArithmeticError):
            fails()
        assert counts() == before


def test_learning_has_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[set[int]] = []
    fit = scores.Encoder.fit

    def watched(*args: object, **kwargs: object) -> object:
        seen.append(counts())
        return fit(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(scores.Encoder, "fit", watched)
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 500)
    with threadpool_limits(limits=2, user_api="blas"):
        Score.learn(outputs.tabulate(rng.normal(size=500) + labels), labels)
    assert seen
    assert set.union(*seen) == {1}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_worker_has_one_openmp_thread() -> None:
    assert in_child(lambda: (os.environ["OMP_NUM_THREADS"], sorted(counts("openmp") - {1}))) == ("1", [])
