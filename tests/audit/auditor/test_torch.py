"""Mechanisms that read, draw from and publish torch tensors (only where torch is installed)."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from audit import audit_dp, estimator
from audit.auditor.targets.containment import Noticed, contained
from audit.auditor.targets.sampling import TEST, BlockName, CallableTarget, Pair
from audit.auditor.terms.leaves import flatten
from audit.auditor.terms.relation import describe, records, same
from bench.foreign import inspect_alone

torch: Any = pytest.importorskip("torch")

ONES = torch.ones(4)
FLIPPED = torch.tensor([-1.0, 1.0, 1.0, 1.0])


def laplace_sum(scale: float) -> Any:
    return lambda data: data.sum() + torch.distributions.Laplace(0.0, scale).sample()


def kinds(result: Any) -> set[str]:
    return {f.kind for f in result.findings}


# ------------------------------------------------------------------------------------------------ global state


def test_global_state_is_seeded_per_block_noted_and_restored() -> None:
    before = [torch.get_rng_state().clone(), random.getstate(), np.random.get_state()[1].copy()]
    seen: list[Any] = []
    noticed = Noticed()
    for seed in (1, 1, 2):
        with contained(noticed, seed):
            seen.append((float(torch.rand(())), random.random(), float(np.random.rand())))
    assert seen[0] == seen[1]
    assert all(a != b for a, b in zip(seen[1], seen[2], strict=True))
    assert noticed.global_sources == {"torch", "random", "numpy.random"}
    assert torch.equal(torch.get_rng_state(), before[0])
    assert random.getstate() == before[1]
    assert np.array_equal(np.random.get_state()[1], before[2])


def test_global_state_is_restored_after_a_failure_and_is_not_noted_without_use() -> None:
    before = torch.get_rng_state().clone()
    noticed = Noticed()
    with pytest.raises(RuntimeError), contained(noticed, 5):
        raise RuntimeError
    assert noticed.global_sources == set()
    assert torch.equal(torch.get_rng_state(), before)


def test_a_block_of_torch_draws_can_be_made_again() -> None:
    target, labels = CallableTarget(laplace_sum(1.0)), np.array([0, 1, 1, 0])
    pair = Pair(ONES, FLIPPED)
    first, again, other = (
        [float(x) for x in target.outputs(pair, labels, BlockName(0, TEST, 0, index))] for index in (0, 0, 1)
    )
    assert first == again
    assert first != other


# ------------------------------------------------------------------------------------------- datasets and outputs


def test_tensors_are_compared_and_cut_into_records() -> None:
    assert same(ONES, ONES.clone())
    assert not same(ONES, FLIPPED)
    assert not same(ONES, ONES.numpy())
    assert describe(ONES, FLIPPED)[0] == "replace-one"
    assert describe(ONES, ONES[1:])[0] == "add-remove"
    assert describe((torch.ones(4, 2), ONES), (torch.ones(4, 2), FLIPPED))[0] == "replace-one"
    seen = records({"X": torch.ones(4, 2), "y": FLIPPED})
    assert seen is not None
    assert len(seen) == 4


def test_an_object_without_an_equality_of_its_own_is_compared_by_its_contents() -> None:
    make = torch.utils.data.TensorDataset
    assert same(make(ONES), make(ONES.clone()))
    assert not same(make(ONES), make(FLIPPED))


@pytest.mark.parametrize(
    ("tensor", "leaves"),
    [
        (torch.tensor(0.5), [0.5]),
        (torch.tensor([[1, 2], [3, 4]]), [1.0, 2.0, 3.0, 4.0]),
        (torch.tensor([True, False]), ["True", "False"]),
        (torch.tensor([0.5, float("nan")], dtype=torch.bfloat16), [0.5, "nan"]),
        (torch.nn.Parameter(torch.tensor([0.25])), [0.25]),
        (torch.ones(2, requires_grad=True) * 3, [3.0, 3.0]),
    ],
)
def test_every_tensor_is_an_output(tensor: Any, leaves: list[Any]) -> None:
    assert flatten(tensor)[0] == leaves


def test_a_state_dict_is_an_output() -> None:
    leaves, _ = flatten(torch.nn.Linear(2, 1).state_dict())
    assert leaves[0] == "keys 'bias', 'weight'"
    assert [isinstance(x, float) for x in leaves[1:]] == [True] * 3


# ------------------------------------------------------------------------------------------------------- audits


def test_torch_noise_is_audited() -> None:
    good = audit_dp(laplace_sum(2.0), ONES, FLIPPED, epsilon=1.0, samples=2000)
    bad = audit_dp(laplace_sum(0.4), ONES, FLIPPED, epsilon=1.0, samples=300)
    assert (good.verdict, bad.verdict) == ("consistent", "violated")
    assert kinds(good) == {"global-state"}


def test_a_constant_torch_seed_and_a_changed_tensor_are_noticed() -> None:
    def reseeds(data: Any) -> Any:
        torch.manual_seed(0)
        return laplace_sum(2.0)(data)

    def changes(data: Any) -> Any:
        return laplace_sum(4.0)(data.mul_(2))

    assert "deterministic" in kinds(audit_dp(reseeds, ONES, FLIPPED, epsilon=1.0, samples=100))
    assert "mutates-input" in kinds(audit_dp(changes, ONES, FLIPPED, epsilon=1.0, samples=100))
    assert torch.equal(ONES, torch.ones(4))


class Net:
    """Noisy gradient descent on a linear layer."""

    def __init__(self, sigma: float = 1.0):
        self.sigma = sigma

    def fit(self, X: Any, y: Any) -> Net:
        weight = torch.zeros(X.shape[1], requires_grad=True)
        loss = ((X @ weight - y) ** 2).sum() / 2
        loss.backward()
        gradient: Any = weight.grad
        self.weight_ = -(gradient + self.sigma * torch.randn(X.shape[1]))
        return self


def test_the_five_line_recipe_on_a_torch_model() -> None:
    X = torch.ones(4, 1)
    sure = {"epsilon": 1.0, "delta": 1e-5, "samples": 300}
    bad = audit_dp(estimator(Net, sigma=0.3), (X, ONES), (X, FLIPPED), **sure)
    good = audit_dp(estimator(Net, sigma=9.0), (X, ONES), (X, FLIPPED), **sure)
    assert (bad.verdict, good.verdict) == ("violated", "consistent")


@pytest.fixture
def started_threads() -> Iterator[None]:
    """Torch's threads are there when the worker is forked, and would not be in the worker."""
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    torch.randn(10**6).exp().sum()
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("started_threads")
def test_torch_in_a_worker_that_can_be_ended() -> None:
    def parallel(data: Any) -> Any:
        return laplace_sum(0.4)(data) + 0 * torch.randn(10**5).exp().sum()

    result = audit_dp(parallel, ONES, FLIPPED, epsilon=1.0, samples=100, isolate=True, timeout=10.0)
    assert result.verdict == "violated"
    assert "not-inspected" not in kinds(result)


def test_chance_that_is_out_of_sight_is_not_taken_for_a_difference_of_the_datasets() -> None:
    """Three calls a side that differ in shape are no proof of anything."""

    def sometimes_nothing(data: Any) -> Any:
        return None if torch.rand(()) < 0.5 else laplace_sum(2.0)(data)

    for seed in range(100):
        seen = inspect_alone(sometimes_nothing, ONES, FLIPPED, epsilon=1.0, calls=3, seed=seed)
        assert {f.kind for f in seen.findings} <= {"global-state"}
