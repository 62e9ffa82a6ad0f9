"""All six algorithms in plain Python floats, written from SPEC.md alone: if it passes, the specification is complete.

It imports nothing of the project. Formulas are written down again, so that a slip in the shared ones shows.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

Vec = list[float]
RAISED = 1 + 2.0**-38


def need(ok: bool, why: str) -> None:
    if not ok:
        raise ValueError(why)


def dot(a: Sequence[float], b: Sequence[float]) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def mix(a: Sequence[float], s: float, b: Sequence[float], t: float) -> Vec:
    return [s * x + t * y for x, y in zip(a, b, strict=True)]


def sgn(x: float) -> int:
    return (x > 0) - (x < 0)


def clip(x: float, low: float, high: float) -> float:
    return min(max(x, low), high)


def dual(p: float) -> float:
    return 1.0 if p == math.inf else math.inf if p == 1 else p / (p - 1)


def norm(x: Sequence[float], p: float) -> float:
    top = max(map(abs, x))
    if p == math.inf or top == 0:
        return top
    return top * math.fsum((abs(v) / top) ** p for v in x) ** (1 / p)


def floats(texts: Sequence[str]) -> Vec:
    return [float(t) for t in texts]


class Trace(list[dict[str, Any]]):
    def mark(self, line: int, name: str, value: Any, *index: int) -> Any:
        self.append({"line": line, "name": name, "index": list(index), "value": value})
        return value


# ------------------------------------------------------------------------------------------------- sets


class Set:
    def __init__(self, data: dict[str, Any]):
        self.kind = data["type"]
        self.vertices: list[Vec] | None = None
        if self.kind in ("l2-ball", "lp-ball"):
            self.c, self.r = floats(data["centre"]), float(data["radius"])
            self.s = 2.0 if self.kind == "l2-ball" else math.inf if data["p"] == "inf" else float(data["p"])
            self.dim = len(self.c)
        elif self.kind in ("box", "box-polytope"):
            self.low, self.high = floats(data["lower"]), floats(data["upper"])
            self.dim = len(self.low)
            if self.kind == "box-polytope":
                self.vertices = [list(v) for v in itertools.product(*zip(self.low, self.high, strict=True))]
        elif self.kind == "simplex":
            self.dim, self.scale = data["dim"], float(data["scale"])
            self.vertices = [[self.scale * (i == j) for i in range(self.dim)] for j in range(self.dim)]
        elif self.kind == "l1-polytope":
            self.dim, self.r = data["dim"], float(data["radius"])
            self.c, self.s = [0.0] * self.dim, 1.0
            self.vertices = [[g * self.r * (i == j) for i in range(self.dim)] for g in (1, -1) for j in range(self.dim)]
        elif self.kind == "polytope":
            self.vertices = [floats(v) for v in data["vertices"]]
            self.dim = len(self.vertices[0])
        else:
            self.dim = data["dim"]

    def centre(self) -> Vec:
        if hasattr(self, "c"):
            return self.c
        if hasattr(self, "low"):
            return [(a + b) / 2 for a, b in zip(self.low, self.high, strict=True)]
        if self.vertices:
            return [math.fsum(v) / len(self.vertices) for v in zip(*self.vertices, strict=True)]
        return [0.0] * self.dim

    def diameter(self, p: float) -> float:
        if hasattr(self, "s"):
            return 2 * self.r * max(1.0, self.dim ** (1 / p - (0 if self.s == math.inf else 1 / self.s)))
        if hasattr(self, "low"):
            return norm(mix(self.high, 1, self.low, -1), p)
        if self.vertices:
            return max((norm(mix(a, 1, b, -1), p) for a in self.vertices for b in self.vertices), default=0.0)
        return math.inf

    def contains(self, w: Vec) -> bool:
        if hasattr(self, "s"):
            return norm(mix(w, 1, self.c, -1), self.s) <= self.r * (1 + 1e-12)
        if hasattr(self, "low"):
            return all(a <= x <= b for a, x, b in zip(self.low, w, self.high, strict=True))
        return True

    def project(self, w: Vec) -> Vec:
        if hasattr(self, "low"):
            return [clip(x, a, b) for a, x, b in zip(self.low, w, self.high, strict=True)]
        if self.kind == "simplex":
            tau = threshold(w, self.scale)
            return [max(x - tau, 0.0) for x in w]
        if not hasattr(self, "s") or norm(mix(w, 1, self.c, -1), self.s) <= self.r:
            return w
        u = mix(w, 1, self.c, -1)
        if self.s == 2:
            return mix(self.c, 1, u, self.r / norm(u, 2))
        tau = threshold([abs(x) for x in u], self.r)
        return [c + x - clip(x, -tau, tau) for c, x in zip(self.c, u, strict=True)]

    def minimiser(self, g: Vec) -> Vec:
        if self.vertices:
            return self.vertices[first_least([dot(v, g) for v in self.vertices])]
        if hasattr(self, "low"):
            return [b if x < 0 else a for a, b, x in zip(self.low, self.high, g, strict=True)]
        need(hasattr(self, "s"), "unbounded")
        if not any(g):
            return self.c
        q, top = dual(self.s), max(map(abs, g))
        h = [x / top for x in g]
        return [c - self.r * sgn(x) * (abs(x) / norm(h, q)) ** (q - 1) for c, x in zip(self.c, h, strict=True)]


def threshold(values: Sequence[float], total: float) -> float:
    head, best = 0.0, -math.inf
    for k, v in enumerate(sorted(values, reverse=True), start=1):
        head += v
        best = max(best, (head - total) / k)
    return best


def first_least(values: Sequence[float]) -> int:
    return min(range(len(values)), key=lambda i: values[i])


# -------------------------------------------------------------------------- Section 3: losses and oracle


def scalar(data: dict[str, Any], y: float) -> tuple[Callable[[float], float], Callable[[float], float], float]:
    """(value, subgradient nearest 0, Lipschitz constant)."""
    kind = data["family"]
    if kind == "huber":
        w = float(data["width"])
        short = lambda u: min(abs(u - y), w)  # noqa: E731
        return (lambda u: short(u) ** 2 / 2 + w * (abs(u - y) - short(u))), (lambda u: clip(u - y, -w, w)), w
    if kind == "logistic":
        return (lambda u: math.log1p(math.exp(-y * u))), (lambda u: -y / (1 + math.exp(y * u))), abs(y)
    if kind == "absolute":
        kinks, slopes = [y], [-1.0, 1.0]
    elif kind == "hinge":
        kinks, slopes = [1 / y], [-y, 0.0] if y > 0 else [0.0, -y]
    elif kind == "quantile":
        tau = float(data["tau"])
        kinks, slopes = [y], [-tau, 1 - tau]
    elif kind == "epsilon-insensitive":
        width = float(data["width"])
        kinks, slopes = [y - width, y + width], [-1.0, 0.0, 1.0]
    else:
        kinks, slopes = floats(data["kinks"]), floats(data["slopes"])
    need(slopes == sorted(slopes), "the loss is not convex")

    def slope(u: float) -> float:
        left = [s for k, s in zip([-math.inf, *kinks], slopes, strict=True) if k < u][-1]
        right = [s for k, s in zip([-math.inf, *kinks], slopes, strict=True) if k <= u][-1]
        return clip(0.0, left, right)

    start = {"hinge": lambda u: max(0.0, 1 - y * u), "absolute": lambda u: abs(u - y)}.get(kind)
    if kind == "quantile":
        tau = float(data["tau"])
        start = lambda u: max(tau * (y - u), (1 - tau) * (u - y))  # noqa: E731
    if kind == "epsilon-insensitive":
        width = float(data["width"])
        start = lambda u: max(0.0, abs(u - y) - width)  # noqa: E731
    return start or (lambda u: math.nan), slope, max(map(abs, slopes))


def search(ell: Any, m: float, q: dict[str, Any], printed: bool, trace: Trace | None = None) -> float:
    """The offset m − ū."""
    value, slope, _ = ell
    r = q["L0"] / q["beta"] * (2 if printed else 1)
    low, high = q.get("M") or (-math.inf, math.inf)
    a, b = max(low - m, -r), min(high - m, r)
    need(a <= b, "M misses the interval")
    size, unit = (16 * (q["L0"] * q["R"]) ** 2, q["alpha"] ** 2) if printed else (q["L0"] * q["R"], q["alpha"])
    T = 0
    while size > unit * 2.0**T:
        T += 1
    log = trace if trace is not None else Trace()
    log.mark(1, "m", m), log.mark(2, "a", m + a), log.mark(2, "b", m + b), log.mark(3, "T", T)
    best, least = 0.0, math.inf
    h = lambda c: value(m + c) + c * c  # noqa: E731
    for t in range(1, T + 1):
        c = (a + b) / 2
        left = h((c + b) / 2) <= h((a + c) / 2) if printed else slope(m + c) + q["beta"] * c >= 0
        a, b = (a, c) if left else (c, b)
        log.mark(5, "m_t", m + c, t), log.mark(6, "keep", "left" if left else "right", t)
        if printed and h(c) < least:
            least, best = h(c), c
    u = best if printed else (a + b) / 2
    log.mark(10, "u", m + u)
    return -u


def derivative(ell: Any, m: float, q: dict[str, Any], printed: bool, trace: Trace | None = None) -> float:
    found = q["beta"] * search(ell, m, q, printed, trace)
    return found if printed else clip(found, -q["L0"], q["L0"])


def oracle_constants(data: dict[str, Any], beta: float, alpha: float) -> dict[str, Any]:
    q = {"L0": float(data["L0"]), "R": float(data["R"]), "beta": beta, "alpha": alpha}
    need(min(q.values()) > 0, "parameters must be positive")
    need(alpha < 4 * q["L0"] * q["R"], "alpha is too coarse")
    return q


def gll_oracle(variant: str, data: dict[str, Any], draws: Any, trace: Trace) -> dict[str, Any]:
    q = oracle_constants(data, float(data["beta"]), float(data["alpha"]))
    q["M"] = None if data["M"] is None else floats(data["M"])
    w, x = floats(data["w"]), floats(data["x"])
    need(len(w) == len(x), "dimensions")
    ell = scalar(data["loss"], float(data["y"]))
    need(ell[2] <= q["L0"], "too steep")
    d = derivative(ell, dot(w, x), q, variant == "printed", trace)
    return {"gradient": trace.mark(11, "output", [d * v for v in x]), "derivative": d}


def section3(data: dict[str, Any], W: Set, q: float) -> list[tuple[Vec, Any]]:
    points = []
    for z in data["dataset"]:
        x, ell = floats(z["x"]), scalar(data["loss"], float(z["y"]))
        need(len(x) == W.dim, "dimensions")
        need(norm(x, q) <= float(data["R"]) * (1 + 1e-12), "features too long")
        need(ell[2] <= float(data["L0"]), "too steep")
        points.append((x, ell))
    return points


def privacy(data: dict[str, Any], pure: bool = False) -> tuple[float, float, float]:
    eps, delta = float(data["epsilon"]), float(data["delta"])
    need(eps > 0, "epsilon")
    need(0 < delta < 1 or (pure and delta == 0), "delta")
    return eps, delta, math.log(1 / delta) if delta else math.inf


def phased(variant: str, data: dict[str, Any], draws: Any, trace: Trace) -> dict[str, Any]:
    W, n, printed = Set(data["set"]), len(data["dataset"]), variant == "printed"
    eps, delta, L = privacy(data)
    need(n >= 2 and (not printed or n & (n - 1) == 0), "n")
    need(eps <= math.sqrt(L), "epsilon")
    free = W.kind == "whole-space"
    D = 1.0 if free else W.diameter(2) if data["D"] is None else float(data["D"])
    rank = float(n if data["rank"] is None else data["rank"])
    need(D > 0 and (not free or rank >= 1), "D or rank")
    G = float(data["L0"]) * float(data["R"])
    beta = math.sqrt(n) * float(data["L0"]) / (float(data["R"]) * (1 if printed else D))
    beta = beta if data["beta"] is None else float(data["beta"])
    alpha = G / (n * math.log(n)) if data["alpha"] is None else float(data["alpha"])
    q = oracle_constants(data, beta, alpha)
    points = section3(data, W, 2)
    w = W.centre() if data["start"] is None else floats(data["start"])
    need(W.contains(w), "start")
    trace.mark(0, "beta", beta), trace.mark(0, "alpha", alpha), trace.mark(1, "w_tilde", w, 0)
    rho = trace.mark(2, "rho", eps / (2 * math.sqrt(L)))
    K = trace.mark(3, "K", n.bit_length() - 1)
    eta = D / (3 * G) * min(rho / math.sqrt(rank if free else W.dim), 1 / math.sqrt(n))
    s, mu = 1, gaussian_mu(eps, delta) if variant == "tight" else 0.0
    if data.get("step") == "tuned":
        need(not free, "D")
        g, c = RAISED * (1 + 1 / (4 * math.log(n))), 1 / 2 if data["average"] == "last" else 1 / 6
        eta = 2 * D / G / math.sqrt(16 * W.dim * (g / mu) ** 2 + c * n)
    trace.mark(5 if free else 4, "eta", eta)
    for k in range(1, K + 1):
        T, eta_k = trace.mark(8, "T", n // 2**k, k), trace.mark(9, "eta", eta / 4**k, k)
        u = trace.mark(10, "u", w if printed else W.project(w), k, 0)
        us = [u]
        for t in range(1, T + 1):
            x, ell = points[s + t - 2]
            step = eta_k * derivative(ell, dot(u, x), q, data["oracle"] == "printed")
            u = trace.mark(10, "u", W.project(mix(u, 1, x, step if printed else -step)), k, t)
            us.append(u)
        kept = us[1:] if data["average"] == "last" else us[:-1]
        mean = trace.mark(10, "w", [math.fsum(c) / T for c in zip(*kept, strict=True)], k)
        sigma = 4 * G * eta_k / rho
        if variant == "tight" and data["average"] == "last":
            sigma = RAISED * 2 * eta_k * (G + alpha * (T - 1) / 2) / mu
        elif variant == "tight":
            sigma = RAISED * 2 * eta_k * ((T - 1) / T) * (G + alpha * max(T - 2, 0) / 2) / mu
        trace.mark(11, "sigma", sigma, k)
        w = trace.mark(11, "w_tilde", mix(mean, 1, floats(draws[f"xi[{k}]"]["values"]), sigma), k)
        s = trace.mark(12, "s", s + T, k)
    return {"w": trace.mark(13, "output", w if printed else W.project(w))}


def frank_wolfe(variant: str, data: dict[str, Any], draws: Any, trace: Trace) -> dict[str, Any]:
    W, n = Set(data["set"]), len(data["dataset"])
    eps, delta, L = privacy(data)
    need(n >= 2 and W.vertices is not None and len(W.vertices) >= 2, "n or J")
    assert W.vertices is not None
    J, D, G = len(W.vertices), W.diameter(1), float(data["L0"]) * float(data["R"])
    need(D > 0 and (data["T"] is None or data["T"] >= 1), "D or T")
    beta = (
        float(data["L0"]) * math.sqrt(n * eps) / (float(data["R"]) * D * L**0.25 * math.sqrt(math.log(J) * math.log(n)))
    )
    beta = beta if data["beta"] is None else float(data["beta"])
    alpha = (1 if variant == "printed" else G) / (n * math.log(n)) if data["alpha"] is None else float(data["alpha"])
    q, points = oracle_constants(data, beta, alpha), section3(data, W, math.inf)
    w = W.vertices[0] if data["start"] is None else floats(data["start"])
    need(len(w) == W.dim and W.contains(w), "start")
    for name, value in (("D", D), ("beta", beta), ("alpha", alpha)):
        trace.mark(0, name, value)
    trace.mark(1, "w", w, 1)
    T = data["T"] or max(1, math.floor(n * eps / (math.log(J) * math.log(n) * math.sqrt(L)) + 0.5))
    trace.mark(2, "T", T)
    s = 3 * G * D * math.sqrt(8 * T * L) / (n * eps)
    if variant == "tight":
        r = RAISED * 2 * D * G / n
        s = r / kov_epsilon0(eps, delta, T)
        if data["noise"] == "gumbel":
            s = min(s, r * math.sqrt(T / (8 * zcdp_rho(eps, delta))))
    trace.mark(3, "s", s)
    before = w
    for t in range(1, T + 1):
        slopes = [derivative(ell, dot(w, x), q, data["oracle"] == "printed") for x, ell in points]
        columns = zip(*(x for x, _ in points), strict=True)
        grad = trace.mark(5, "gradient", [dot(c, slopes) / n for c in columns], t)
        sign = -1 if data["noise"] == "gumbel" else 1
        b = trace.mark(6, "b", [sign * s * v for v in floats(draws[f"b[{t}]"]["values"])], t)
        scores = [dot(v, grad) + x for v, x in zip(W.vertices, b, strict=True)]
        chosen = trace.mark(7, "v", first_least(scores), t)
        trace.mark(7, "margin", min(x for i, x in enumerate(scores) if i != chosen) - scores[chosen], t)
        mu = 3 / (t + 2)
        before, w = w, trace.mark(8, "w", mix(w, 1 - mu, W.vertices[chosen], mu), t + 1)
    return {"w": trace.mark(9, "output", before if variant == "printed" else w)}


# ---------------------------------------------------------------------------------------- Section 4


def gradient(loss: dict[str, Any], w: Vec, z: dict[str, Any]) -> Vec:
    x, y = floats(z["x"]), float(z["y"])
    t, kind = dot(w, x), loss["family"]
    need(kind == "geman-mcclure" or abs(y) <= 1, "label")
    if kind == "sigmoid":
        e = math.exp(-abs(y * t))
        slope = -y * e / (1 + e) ** 2
    elif kind == "geman-mcclure":
        width = float(loss["width"])
        s = (t - y) / width
        slope = 2 * s / ((1 + s * s) ** 2 * width)
    elif kind == "squared-tanh":
        slope = 2 * (math.tanh(t) - y) * (1 - math.tanh(t) ** 2)
    else:
        slope = y * float(loss["curvature"]) * t
    return [slope * v for v in x]


def total(loss: dict[str, Any], w: Vec, batch: list[dict[str, Any]]) -> Vec:
    return [math.fsum(c) for c in zip(*(gradient(loss, w, z) for z in batch), strict=True)]


class Batches:
    def __init__(self, data: dict[str, Any], draws: Any, trace: Trace):
        self.data, self.order, self.at, self.trace = data["dataset"], draws["pi[]"]["values"], 0, trace

    def take(self, line: int, size: int, *index: int) -> list[dict[str, Any]]:
        chosen = self.order[self.at : self.at + size]
        self.at += size
        self.trace.mark(line, "batch", chosen, *index)
        return [self.data[i] for i in chosen]


def eta(t: int) -> float:
    return 1 / math.sqrt(t + 1)


def check_rounds(data: dict[str, Any]) -> None:
    R, b, n = data["rounds"], data["b"], len(data["dataset"])
    need(R >= 1 and b >= 2 ** (R - 1), "R or b")
    exact = sum(-(-b // (t + 1)) for r in range(R) for t in range(2**r))
    need((exact if data["exact_budget"] else b * R * R) <= n, "n")


def output(trace: Trace, line: int, iterates: list[tuple[Vec, int, int]], draws: Any) -> dict[str, Any]:
    w, r, t = iterates[draws["hat[]"]["values"][0]]
    return {"w": trace.mark(line, "output", w, r, t)}


def batch_plan(b: int, t: int, printed: bool) -> tuple[int, float]:
    size = b // (t + 1) if printed else -(-b // (t + 1))
    return size, (t + 1) / b if printed else 1 / size


def poly(variant: str, data: dict[str, Any], draws: Any, trace: Trace) -> dict[str, Any]:
    W, p, loss, b = Set(data["set"]), float(data["p"]), data["loss"], data["b"]
    eps, delta, L = privacy(data, pure=variant == "tight")
    need(W.vertices is not None and len(W.vertices) >= 2, "J")
    assert W.vertices is not None
    D = trace.mark(0, "D", W.diameter(p) if data["D"] is None else float(data["D"]))
    L0, L1 = float(data["L0"]), float(data["L1"])
    w = W.centre() if data["start"] is None else floats(data["start"])
    if variant == "tight":
        return poly_tight(data, draws, trace, W, D, eps, delta, w)
    check_rounds(data)
    printed, batches, iterates = variant == "printed", Batches(data, draws, trace), []
    trace.mark(1, "w", w, 0, 0)
    for r in range(data["rounds"]):
        s = 2 * D * (L0 + L1 * D) * 2**r * (math.sqrt(L) if printed else max(math.sqrt(L), 1)) / (b * eps)
        trace.mark(3, "s", s, r)
        grad, before = [], w
        for t in range(2**r):
            size, c = batch_plan(b, t, printed)
            batch = batches.take(9 if t else 4, size, r, t)
            now = total(loss, w, batch)
            if t == 0:
                grad = [x / b for x in now]
            else:
                move = trace.mark(10, "Delta", [c * x for x in mix(now, 1, total(loss, before, batch), -1)], r, t)
                grad = mix(mix(grad, 1, move, 1), 1 - eta(t), now, eta(t) * c)
            trace.mark(11 if t else 5, "grad", grad, r, t)
            noise = floats(draws[f"u[{r},{t}]"]["values"])
            v = first_least([dot(x, grad) + s * u for x, u in zip(W.vertices, noise, strict=True)])
            trace.mark(12 if t else 6, "v", v, r, t)
            iterates.append((w, r, t))
            before, w = w, trace.mark(13 if t else 7, "w", mix(w, 1 - eta(t), W.vertices[v], eta(t)), r, t + 1)
        trace.mark(14, "w", w, r + 1, 0)
    return output(trace, 15, iterates, draws)


def one_round(data: dict[str, Any]) -> list[int]:
    T, b = data["T"], data["b"]
    need(T >= 2, "T")
    sizes = [-(-b // (t + 1)) for t in range(T - 1)]
    need(sum(sizes) <= len(data["dataset"]), "n")
    return sizes


def influence(k: int, L0: float, L1: float, reach: float) -> float:
    """c_k, with `reach` the length of the move into w_k."""
    return L0 if k == 0 else (1 - eta(k)) * min(L1 * reach, 2 * L0) + eta(k) * L0


def recursion(loss: Any, batch: Any, w: Vec, before: Vec, grad: Vec, t: int) -> Vec:
    now = [x / len(batch) for x in total(loss, w, batch)]
    if t == 0:
        return now
    old = [x / len(batch) for x in total(loss, before, batch)]
    return mix(mix(grad, 1, old, -1), 1 - eta(t), now, 1)


def poly_tight(
    data: dict[str, Any], draws: Any, trace: Trace, W: Set, D: float, eps: float, delta: float, w: Vec
) -> dict[str, Any]:
    assert W.vertices is not None
    sizes, L0, L1 = one_round(data), float(data["L0"]), float(data["L1"])
    pure = zcdp = 0.0
    for k, m in enumerate(sizes):
        c, P, B, Q = influence(k, L0, L1, D * eta(k - 1) if k else 0.0) / m, 1.0, 1.0, 1.0
        for t in range(k + 1, len(sizes)):
            P *= 1 - eta(t)
            B, Q = B + P, Q + P * P
        pure, zcdp = max(pure, c * B), max(zcdp, c * c * Q)
    s = 2 * D * pure / eps * RAISED
    if delta > 0:
        s = min(s, 2 * D * math.sqrt(zcdp / ((8 if data["noise"] == "gumbel" else 2) * zcdp_rho(eps, delta))) * RAISED)
    trace.mark(3, "s", s, 0), trace.mark(1, "w", w, 0, 0)
    sign, batches, iterates, before, grad = (
        (-1 if data["noise"] == "gumbel" else 1),
        Batches(data, draws, trace),
        [(w, 0, 0)],
        w,
        w,
    )
    for t, m in enumerate(sizes):
        grad = trace.mark(11, "grad", recursion(data["loss"], batches.take(9, m, 0, t), w, before, grad, t), 0, t)
        noise = floats(draws[f"u[{t}]"]["values"])
        v = first_least([dot(x, grad) + sign * s * u for x, u in zip(W.vertices, noise, strict=True)])
        trace.mark(12, "v", v, 0, t)
        before, w = w, trace.mark(13, "w", mix(w, 1 - eta(t), W.vertices[v], eta(t)), 0, t + 1)
        iterates.append((w, 0, t + 1))
    return output(trace, 15, iterates, draws)


def noisy(variant: str, data: dict[str, Any], draws: Any, trace: Trace) -> dict[str, Any]:
    W, p, loss, b, d = Set(data["set"]), float(data["p"]), data["loss"], data["b"], Set(data["set"]).dim
    eps, delta, L = privacy(data)
    need(1 < p <= 2, "p")
    need(W.kind != "whole-space", "unbounded")
    D = trace.mark(0, "D", W.diameter(p) if data["D"] is None else float(data["D"]))
    L0, L1, factor = float(data["L0"]), float(data["L1"]), d ** (1 / p - 0.5)
    w = W.centre() if data["start"] is None else floats(data["start"])
    if variant == "tight":
        return noisy_tight(data, draws, trace, W, D, gaussian_mu(eps, delta), factor, w)
    check_rounds(data)
    printed, batches, iterates = variant == "printed", Batches(data, draws, trace), []
    U = 4 * factor * math.sqrt(L) / (b * eps)
    f = [1.0, 1.0]
    if not printed:
        mu = gaussian_mu(eps, delta)
        f = [max(1.0, eps * math.sqrt(j) / (2 * math.sqrt(L) * mu)) for j in (1, 2)]
    trace.mark(1, "w", w, 0, 0)
    for r in range(data["rounds"]):
        grad, before = [], w
        for t in range(2**r):
            sigma = trace.mark(9 if t else 3, "sigma", U * L0 * (t + 1) * f[t > 0], r, t)
            N = floats(draws[f"N[{r},{t}]"]["values"])
            size, c = batch_plan(b, t, printed)
            if t == 0:
                grad = mix([x / b for x in total(loss, w, batches.take(4, size, r, t))], 1, N, sigma)
            else:
                hat = trace.mark(9, "sigma_hat", U * L1 * D * eta(t if printed else t - 1) * (t + 1) * f[1], r, t)
                batch = batches.take(10, size, r, t)
                now = total(loss, w, batch)
                move = trace.mark(11, "Delta", [c * x for x in mix(now, 1, total(loss, before, batch), -1)], r, t)
                g = trace.mark(11, "g", [c * x for x in now], r, t)
                move = trace.mark(12, "noisy_Delta", mix(move, 1, floats(draws[f"hatN[{r},{t}]"]["values"]), hat), r, t)
                g = trace.mark(13, "noisy_g", mix(g, 1, N, sigma), r, t)
                grad = mix(mix(grad, 1, move, 1), 1 - eta(t), g, eta(t))
            trace.mark(14 if t else 5, "noisy_grad", grad, r, t)
            v = trace.mark(15 if t else 6, "v", W.minimiser(grad), r, t)
            iterates.append((w, r, t))
            before, w = w, trace.mark(16 if t else 7, "w", mix(w, 1 - eta(t), v, eta(t)), r, t + 1)
        trace.mark(17, "w", w, r + 1, 0)
    return output(trace, 18, iterates, draws)


def noisy_tight(
    data: dict[str, Any], draws: Any, trace: Trace, W: Set, D: float, mu: float, factor: float, w: Vec
) -> dict[str, Any]:
    sizes, L0, L1, p = one_round(data), float(data["L0"]), float(data["L1"]), float(data["p"])
    batches, iterates, before, grad = Batches(data, draws, trace), [(w, 0, 0)], w, w
    trace.mark(1, "w", w, 0, 0)
    for t, m in enumerate(sizes):
        reach = norm(mix(w, 1, before, -1), p) if data["adaptive"] else D * eta(t - 1) if t else 0.0
        sigma = trace.mark(9, "sigma", RAISED * 2 * influence(t, L0, L1, reach) * factor / (m * mu), 0, t)
        grad = recursion(data["loss"], batches.take(10, m, 0, t), w, before, grad, t)
        grad = trace.mark(14, "noisy_grad", mix(grad, 1, floats(draws[f"N[{t}]"]["values"]), sigma), 0, t)
        before, w = w, trace.mark(16, "w", mix(w, 1 - eta(t), W.minimiser(grad), eta(t)), 0, t + 1)
        iterates.append((w, 0, t + 1))
    return output(trace, 18, iterates, draws)


# ---------------------------------------------------------------------------------------- Section 5


def subgradient(loss: dict[str, Any], w: Vec, z: dict[str, Any]) -> Vec:
    x, y = floats(z["x"]), float(z["y"])
    t, kind = dot(w, x), loss["family"]
    if kind == "robust-phase-retrieval":
        slope = 2 * t * sgn(t * t - y)
    elif kind == "tanh-regression":
        slope = sgn(math.tanh(t) - y) * (1 - math.tanh(t) ** 2)
    else:
        slope = -float(loss["curvature"]) * t
    return [slope * v for v in x]


def guided(variant: str, data: dict[str, Any], draws: Any, trace: Trace) -> dict[str, Any]:
    W, R, n, printed = Set(data["set"]), data["rounds"], len(data["dataset"]), variant == "printed"
    p, L0, rho, d = float(data["p"]), float(data["L0"]), float(data["rho"]), Set(data["set"]).dim
    need(1 <= R <= n, "R")
    need(1 <= p <= 2 and rho > 0 and L0 > 0, "p, rho or L0")
    need(not printed or (d >= 2 and n % R == 0), "d or n/R")
    if printed and d == 2:
        p_bar = max(p, 1 + 1 / math.log(2))
    else:
        p_bar = 2.0 if p == 2 or d <= 2 else max(p, 1 + 1 / math.log(d))
    kappa, C = 1 / (p_bar - 1), d ** (1 / p - 1 / p_bar)
    weak = rho if printed else C * C * rho
    beta = 2 * kappa * weak if data["beta"] is None else float(data["beta"])
    need(beta > kappa * weak, "beta")
    calls = R if printed else R - 1
    size = n // R if printed else n // max(1, R - 1)
    plan = [(ph["n"], ph["T"], float(ph["lambda"])) for ph in data["plan"]]
    need(all(m >= 1 and T >= 1 and lam >= 0 for m, T, lam in plan), "plan")
    need(calls == 0 or (sum(m for m, _, _ in plan) <= size and (not plan or plan[0][2] == 0)), "plan")
    w = W.centre() if data["start"] is None else floats(data["start"])
    trace.mark(1, "beta", beta), trace.mark(1, "w", w, 1)
    iterates = [w]
    solver = Solver(W, data, p, p_bar, kappa, weak, beta, None if printed else C * L0 / beta)
    for r in range(1, calls + 1):
        trace.mark(3, "batch", list(range((r - 1) * size, r * size)), r)
        w = trace.mark(4, "w", solver.call(w, r, data["dataset"][(r - 1) * size : r * size], plan, draws, trace), r + 1)
        iterates.append(w)
    j = draws["r[]"]["values"][0]
    trace.mark(5, "index", j + 1)
    return {"w": trace.mark(5, "output", iterates[j])}


class Solver:
    def __init__(
        self,
        W: Set,
        data: dict[str, Any],
        p: float,
        p_bar: float,
        kappa: float,
        weak: float,
        beta: float,
        radius: float | None,
    ):
        self.W, self.data, self.p, self.p_bar, self.kappa = W, data, p, p_bar, kappa
        self.weak, self.beta, self.radius = weak, beta, radius

    def slope(self, u: Vec) -> Vec:
        size = norm(u, self.p_bar)
        if size == 0:
            return u
        return [self.kappa * size ** (2 - self.p_bar) * sgn(x) * abs(x) ** (self.p_bar - 1) for x in u]

    def call(self, w: Vec, r: int, batch: list[Any], plan: Any, draws: Any, trace: Trace) -> Vec:
        d, L0, mu, used = len(w), float(self.data["L0"]), float(self.data["mu"]), 0
        u, S = [0.0] * d, self.beta / self.kappa - self.weak
        for i, (m, T, lam) in enumerate(plan, start=1):
            records, used = batch[used : used + m], used + m
            sigma = 2 * L0 * d ** (1 / self.p - 0.5) / m * math.sqrt(T) / mu
            trace.mark(4, "sigma", sigma, r, i)
            pull, anchor = lam * self.weak, self.slope(u)
            for k in range(1, T + 1):
                at = mix(w, 1, u, 1)
                found = [subgradient(self.data["loss"], at, z) for z in records]
                clipped = [[x * L0 / max(L0, norm(c, dual(self.p))) for x in c] for c in found]
                g = trace.mark(4, "gradient", [math.fsum(c) / m for c in zip(*clipped, strict=True)], r, i, k)
                slope = self.slope(u)
                ghat = mix(mix(g, 1, floats(draws[f"A[{r},{i},{k}]"]["values"]), sigma), 1, slope, self.weak)
                Lam = S + pull
                theta = mix(mix(slope, Lam * (k - 1) / 2, anchor, pull), 1, ghat, -1)
                u = trace.mark(4, "u", self.step(w, theta, self.kappa * Lam * (k + 1) / 2), r, i, k)
        return mix(w, 1, u, 1)

    def step(self, w: Vec, theta: Vec, B: float) -> Vec:
        q = dual(self.p_bar)
        size = norm(theta, q)
        if size == 0:
            return [0.0] * len(w)
        tau = size / B if self.radius is None else min(self.radius, size / B)
        u = [tau * sgn(x) * (abs(x) / size) ** (q - 1) for x in theta]
        if not self.W.contains(mix(w, 1, u, 1)):
            raise NotImplementedError("steps on which W binds")
        return u


# ---------------------------------------------------------------------------- constants of the tight variants


def bisect(f: Callable[[float], float], low: float, high: float) -> float:
    """The root of an increasing function."""
    for _ in range(300):
        middle = (low + high) / 2
        low, high = (middle, high) if f(middle) < 0 else (low, middle)
    return (low + high) / 2


def Phi(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


def gaussian_mu(eps: float, delta: float) -> float:
    return bisect(lambda m: Phi(-eps / m + m / 2) - math.exp(eps) * Phi(-eps / m - m / 2) - delta, 1e-6, 1e3)


def zcdp_rho(eps: float, delta: float) -> float:
    rho = lambda u: (eps - math.log(u / (1 + u))) / (2 * u + 1)  # noqa: E731
    u = bisect(lambda u: math.log(delta) + rho(u) * u * u + math.log1p(u), 1e-9, 1e9)
    return rho(u)


def kov_epsilon0(eps: float, delta: float, T: int) -> float:
    def excess(e0: float) -> float:
        terms = (math.comb(T, i) * max(0.0, math.exp(i * e0 - T * e0) - math.exp(eps - i * e0)) for i in range(T + 1))
        return math.fsum(terms) / (1 + math.exp(-e0)) ** T - delta

    return bisect(excess, eps / T, eps + 50)


RUNNERS = {
    "Alg:gll_oracle": gll_oracle,
    "Alg:phased": phased,
    "Alg:nfw": frank_wolfe,
    "alg:polySFW": poly,
    "alg:nSFW": noisy,
    "Alg:PGPSMD": guided,
}


def run(case: dict[str, Any]) -> dict[str, Any]:
    """The reply to one case."""
    trace = Trace()
    return {"output": RUNNERS[case["algorithm"]](case["variant"], case["input"], case["draws"], trace), "trace": trace}
