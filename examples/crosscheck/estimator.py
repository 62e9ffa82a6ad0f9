"""A scikit-learn-like estimator (Algorithm 2, Phased SGD, in numpy), and its client for `dpso crosscheck`.

    dpso crosscheck phased-sgd --python examples.crosscheck.estimator:run

The estimator knows nothing of test vectors: it draws its noise from a callable `normal(k, size)`, which is a generator
in real use. The client below feeds it the draws of a case.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]


class PrivateQuantileRegressor:
    """Linear quantile regression over a Euclidean ball, (epsilon, delta)-differentially private."""

    def __init__(
        self,
        epsilon: float,
        delta: float,
        tau: float = 0.5,
        radius: float = 1.0,
        feature_bound: float = 1.0,
        lipschitz: float = 1.0,
        beta: float | None = None,
        alpha: float | None = None,
        centre: Any = None,
        diameter: float | None = None,
        start: Any = None,
        normal: Callable[[int, int], Array] | None = None,
    ):
        self.epsilon, self.delta, self.tau, self.radius = epsilon, delta, tau, radius
        self.feature_bound, self.lipschitz, self.beta, self.alpha = feature_bound, lipschitz, beta, alpha
        self.centre, self.diameter, self.start, self.normal = centre, diameter, start, normal

    def fit(self, X: Any, y: Any) -> PrivateQuantileRegressor:
        """Fit `coef_` to the rows of X and the labels y."""
        X, y = np.atleast_2d(np.asarray(X, float)), np.asarray(y, float)
        n, d = X.shape
        self._check(X, n, d)
        G, D = self.lipschitz * self.feature_bound, 2 * self.radius if self.diameter is None else self.diameter
        self._beta = math.sqrt(n) * self.lipschitz / (self.feature_bound * D) if self.beta is None else self.beta
        self._alpha = G / (n * math.log(n)) if self.alpha is None else self.alpha
        rho = self.epsilon / (2 * math.sqrt(math.log(1 / self.delta)))  # L2
        eta = D / (3 * G) * min(rho / math.sqrt(d), 1 / math.sqrt(n))  # L4
        fresh = np.random.default_rng()
        normal = self.normal or (lambda k, size: fresh.standard_normal(size))
        w, s = self._centre(d) if self.start is None else np.asarray(self.start, float), 0  # L1, L6
        self.trace_: list[dict[str, Any]] = [_event("rho", rho), _event("K", n.bit_length() - 1), _event("eta", eta)]
        for k in range(1, n.bit_length()):  # L3, L7
            T, eta_k = n // 2**k, eta / 4**k  # L8, L9
            mean = self._phase(X[s : s + T], y[s : s + T], eta_k, w)  # L10
            sigma = 4 * G * eta_k / rho  # L11
            w, s = mean + sigma * normal(k, d), s + T  # L11, L12
            self.trace_ += [
                _event(name, value, k)
                for name, value in (
                    ("T", T),
                    ("eta", eta_k),
                    ("w", mean.tolist()),
                    ("sigma", sigma),
                    ("w_tilde", w.tolist()),
                    ("s", s + 1),
                )
            ]
        self.coef_ = self._project(w)  # L13
        return self

    def predict(self, X: Any) -> Array:
        """X·coef_."""
        return np.asarray(np.asarray(X, float) @ self.coef_)

    def _check(self, X: Array, n: int, d: int) -> None:
        limit = math.sqrt(math.log(1 / self.delta)) if 0 < self.delta < 1 else -1.0
        longest = float(np.linalg.norm(X, axis=1).max())
        problems = {
            "n must be at least 2": n < 2,
            "0 < delta < 1 and 0 < epsilon ≤ sqrt(ln(1/delta))": not 0 < self.epsilon <= limit,
            "rows of X must not be longer than feature_bound": longest > self.feature_bound,
            "radius must be positive": self.radius <= 0,
            "lipschitz must be at least max(tau, 1 − tau)": self.lipschitz < max(self.tau, 1 - self.tau),
            "X has another number of columns than centre": d != len(self._centre(d)),
            "start must lie in the ball": self.start is not None
            and bool(np.linalg.norm(np.asarray(self.start, float) - self._centre(d)) > self.radius),
        }
        for text, broken in problems.items():
            if broken:
                raise ValueError(text)

    def _centre(self, d: int) -> Array:
        return np.zeros(d) if self.centre is None else np.asarray(self.centre, float)

    def _project(self, w: Array) -> Array:
        away = w - self._centre(len(w))
        length = float(np.linalg.norm(away))
        return w if length <= self.radius else self._centre(len(w)) + away * (self.radius / length)

    def _phase(self, X: Array, y: Array, eta: float, w: Array) -> Array:
        u, total = self._project(w), np.zeros_like(w)
        for x, label in zip(X, y, strict=True):
            u = self._project(u - eta * self._derivative(float(u @ x), float(label)) * x)
            total += u
        return np.asarray(total / len(X))

    def _derivative(self, m: float, label: float) -> float:
        """Algorithm 1: the derivative of the smoothed loss at m, by bisection."""
        low, high = -self.lipschitz / self.beta_, self.lipschitz / self.beta_
        accuracy = self.lipschitz * self.feature_bound
        while accuracy > self._alpha:
            middle, accuracy = (low + high) / 2, accuracy / 2
            u = m + middle
            slope = -self.tau if u < label else 1 - self.tau if u > label else 0.0
            low, high = (low, middle) if slope + self.beta_ * middle >= 0 else (middle, high)
        return -self.beta_ * (low + high) / 2

    @property
    def beta_(self) -> float:
        """The smoothing that was used."""
        return self._beta


def _event(name: str, value: Any, *index: int) -> dict[str, Any]:
    return {"name": name, "index": list(index), "value": value}


# ----------------------------------------------------------------------------- the client of the vectors


def _number(text: str | None) -> float | None:
    return None if text is None else float(text)


def run(case: dict[str, Any]) -> dict[str, Any]:
    """One case: construct, fit, answer. What the estimator does not offer is said, not guessed."""
    data, draws = case["input"], case["draws"]
    offered = (data["loss"]["family"] == "quantile", data["set"]["type"] == "l2-ball", data["average"] == "last")
    if case["variant"] != "corrected" or data["oracle"] != "corrected" or not all(offered):
        raise NotImplementedError("quantile loss, Euclidean ball, average of u_1..u_T, corrected variant only")
    model = PrivateQuantileRegressor(
        epsilon=float(data["epsilon"]),
        delta=float(data["delta"]),
        tau=float(data["loss"]["tau"]),
        radius=float(data["set"]["radius"]),
        centre=[float(c) for c in data["set"]["centre"]],
        feature_bound=float(data["R"]),
        lipschitz=float(data["L0"]),
        beta=_number(data["beta"]),
        alpha=_number(data["alpha"]),
        diameter=_number(data["D"]),
        start=None if data["start"] is None else [float(v) for v in data["start"]],
        normal=lambda k, size: np.array([float(v) for v in draws[f"xi[{k}]"]["values"]]),
    )
    X, y = [[float(v) for v in z["x"]] for z in data["dataset"]], [float(z["y"]) for z in data["dataset"]]
    model.fit(X, y)
    return {"output": {"w": model.coef_.tolist()}, "trace": model.trace_}
