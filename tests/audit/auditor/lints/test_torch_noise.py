"""Torch's noise is followed as numpy's is (only where torch is installed)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from audit.auditor.lints.losses import epsilon_where, gaussian_delta
from audit.auditor.lints.recorder import Recorder
from bench.foreign import inspect_alone

torch: Any = pytest.importorskip("torch", reason="NOT TESTED: torch's noise; install torch to run these tests")

ZERO, ONE = torch.zeros(3), torch.tensor([1.0, 0.0, 0.0])
DELTA = 1e-5


def seen(mechanism: Any, **more: Any) -> Any:
    return inspect_alone(mechanism, ZERO, ONE, **({"epsilon": 1.0, "delta": DELTA} | more))


def kinds(mechanism: Any, **more: Any) -> set[str]:
    return {f.kind for f in seen(mechanism, **more).findings} - {"global-state"}


def gaussian(mu: float) -> float:
    return epsilon_where(lambda e: float(gaussian_delta(mu, np.asarray(e))), DELTA, 100.0)


def _seeded(data: Any, rng: Any, scale: float) -> Any:
    generator = torch.Generator().manual_seed(int(rng.integers(2**40)))
    return data + scale * torch.randn(3, generator=generator)


def _reseeded(data: Any, rng: Any, scale: float) -> Any:
    torch.manual_seed(int(rng.integers(2**40)))
    return data + scale * torch.randn(3)


GAUSSIAN: dict[str, Any] = {
    "randn": lambda d, rng, s: d + s * torch.randn(3),
    "randn_like": lambda d, rng, s: d + torch.randn_like(d) * s,
    "normal": lambda d, rng, s: d + torch.normal(0.0, s, size=(3,)),
    "located": lambda d, rng, s: torch.normal(d, s),
    "filled": lambda d, rng, s: d.clone().add_(torch.empty(3).normal_(0, s)),
    "alpha": lambda d, rng, s: torch.add(d, torch.randn(3), alpha=s),
    "subtracted": lambda d, rng, s: d - torch.randn(3) * s,
    "negative": lambda d, rng, s: s * torch.randn(3) - d,
    "divided": lambda d, rng, s: d + torch.randn(3) / (1 / s),
    "distribution": lambda d, rng, s: d + torch.distributions.Normal(torch.zeros(3), s).rsample(),
    "in 64 bits": lambda d, rng, s: d.double() + s * torch.randn(3, dtype=torch.float64),
    "to numpy": lambda d, rng, s: d.numpy() + s * torch.randn(3).numpy(),
    "from numpy": lambda d, rng, s: d + torch.from_numpy(rng.normal(0, s, size=3)),
    "as tensor": lambda d, rng, s: d + torch.as_tensor(rng.normal(0, s, size=3)),
    "a generator": _seeded,
    "seeded anew": _reseeded,
}


@pytest.mark.parametrize("name", list(GAUSSIAN))
def test_the_loss_is_read_off_the_noise(name: str) -> None:
    """Half the unit of noise for a difference of 1 is found and measured; five units are right, and silent."""
    broken = seen(lambda d, rng: GAUSSIAN[name](d, rng, 0.5))
    assert {f.kind for f in broken.findings} - {"global-state"} == {"sensitivity"}
    assert broken.transcript.epsilon(DELTA) == pytest.approx(gaussian(2.0), rel=1e-3)
    assert broken.transcript.spending[0].site.startswith("test_torch_noise.py:")
    right = seen(lambda d, rng: GAUSSIAN[name](d, rng, 5.0))
    assert {f.kind for f in right.findings} - {"global-state"} == set()
    assert right.transcript.epsilon(DELTA) == pytest.approx(gaussian(0.2), rel=1e-3)


@pytest.mark.parametrize(("law", "scale", "found"), [("Laplace", 0.4, {"sensitivity"}), ("Laplace", 1.0, set())])
def test_distributions_count_as_one_draw(law: str, scale: float, found: set[str]) -> None:
    def mechanism(data: Any) -> Any:
        return data.sum() + getattr(torch.distributions, law)(0.0, scale).sample()

    result = seen(mechanism, delta=0.0)
    assert {f.kind for f in result.findings} - {"global-state"} == found
    assert result.transcript.epsilon(0.0) == pytest.approx(1 / scale, rel=1e-6)


def test_one_draw_for_all_entries_is_noticed() -> None:
    assert "shared-noise" in kinds(lambda d: d + 5 * torch.randn(()))
    assert "shared-noise" in kinds(lambda d: d + 5 * torch.randn(1))


def test_a_constant_seed_and_an_open_path_are_noticed() -> None:
    def constant(data: Any) -> Any:
        torch.manual_seed(0)
        return data + 5 * torch.randn(3)

    assert "reseeded" in kinds(constant)
    assert "unnoised-path" in kinds(lambda d: torch.cat([d + 5 * torch.randn(3), d.mean().reshape(1)]))


def spherical(data: Any) -> Any:
    z = torch.randn(3)
    return data + z / z.norm() * torch.distributions.Gamma(3.0, 1.0).sample()


def mixture(data: Any) -> Any:
    return data.sum() + (2 * torch.empty(()).exponential_()) ** 0.5 * torch.randn(())


def rounded(data: Any) -> Any:
    return torch.round(data + 5 * torch.randn(3))


def dropout(data: Any) -> Any:
    return torch.nn.functional.dropout(data + 5 * torch.randn(3))


def objective(data: Any) -> Any:
    w = torch.zeros(3, requires_grad=True)
    (((w - data) ** 2).sum() + 9 * (torch.randn(3) * w).sum()).backward()
    return w.grad


def through_an_alias(data: Any) -> Any:
    noise = torch.randn(3)
    noise.view(-1).add_(data)
    return 9 * torch.randn(3) + noise * 0


def noisy_maximum(data: Any) -> int:
    return int(torch.argmax(data + torch.distributions.Gumbel(0.0, 2.0).sample((3,))))


@pytest.mark.parametrize(
    "mechanism", [spherical, mixture, rounded, dropout, objective, through_an_alias, noisy_maximum]
)
def test_correct_code_is_silent(mechanism: Any) -> None:
    for seed in range(5):
        assert kinds(mechanism, delta=0.0 if mechanism in (spherical, mixture) else DELTA, seed=seed) == set()


def _dp_sgd(sigma: float, steps: int = 10) -> Any:
    def fit(data: Any) -> Any:
        w = torch.zeros(3)
        for _ in range(steps):
            rows = torch.stack([(0.5 + torch.sigmoid(w.sum())) * x * torch.ones(3) for x in data])
            clipped = rows / rows.norm(dim=1, keepdim=True).clamp(min=1.0)
            w = w - 0.1 * (clipped.sum(0) + sigma * torch.randn(3))
        return w

    return fit


def test_a_training_loop_with_half_its_noise_is_found() -> None:
    """A record moves a step's sum by at most 1: ten steps with noise σ have μ = √10/σ."""
    sigma = math.sqrt(10) / 1.0
    claim = gaussian(1.0)
    assert kinds(_dp_sgd(sigma / 2), epsilon=claim) & {"transcript", "composition", "sensitivity"}
    assert kinds(_dp_sgd(sigma), epsilon=claim) == set()


def test_everything_is_put_back() -> None:
    before = torch.from_numpy, torch.manual_seed, torch.distributions.Laplace.rsample
    with Recorder() as recorder:
        assert torch.manual_seed is not before[1]
        trace = recorder.record(lambda: torch.ones(2) + torch.randn(2))
    assert (torch.from_numpy, torch.manual_seed, torch.distributions.Laplace.rsample) == before
    assert [c.distribution for c in trace.calls] == ["normal"]
    assert len(trace.additions) == 1
    assert type(trace.output) is torch.Tensor
