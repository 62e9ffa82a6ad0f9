"""Slips that a person would make, in the client of SPEC.md: none of them was at hand when the vectors were chosen.

Each is a substitution in the source of `spec_client` that fits once, the algorithm and variant, and the line of the
paper at which it stands (more than one where the quantity has no event of its own, and where lines are one statement).
"""

from __future__ import annotations

from dataclasses import dataclass

from slips import SOURCE

P, C, T = "printed", "corrected", "tight"


@dataclass(frozen=True)
class HandSlip:
    """One substitution: what, where in the paper, and what it is."""

    name: str
    variant: str
    lines: tuple[int, ...]
    old: str
    new: str
    bug: str

    @property
    def source(self) -> str:
        """The client with the slip."""
        if SOURCE.count(self.old) != 1:
            raise ValueError(f"{self.bug}: {self.old!r} occurs {SOURCE.count(self.old)} times")
        return SOURCE.replace(self.old, self.new)


def _of(name: str, *rows: tuple[str, int | tuple[int, ...], str, str, str]) -> tuple[HandSlip, ...]:
    return tuple(
        HandSlip(name, variant, lines if isinstance(lines, tuple) else (lines,), old, new, bug)
        for variant, lines, old, new, bug in rows
    )


WINDOW = 'r = q["L0"] / q["beta"] * (2 if printed else 1)'
TEST = 'slope(m + c) + q["beta"] * c >= 0'
ORACLE = _of(
    "gll-oracle",
    (C, 1, "dot(w, x), q, variant", "math.fsum(w), q, variant", "the sum of w for ⟨w, x⟩"),
    (C, 2, WINDOW, 'r = q["L0"] / q["beta"] / 2', "half of the interval"),
    (C, 2, WINDOW, 'r = q["R"] / q["beta"]', "R for L0 in the interval"),
    (C, 2, WINDOW, 'r = q["L0"] * q["R"] / q["beta"]', "L0R for L0 in the interval"),
    (C, 2, "max(low - m, -r), min(high - m, r)", "-r, r", "M is ignored"),
    (P, 2, WINDOW, 'r = q["L0"] / q["beta"]', "the corrected interval in the printed text"),
    (C, 3, "while size > unit * 2.0**T", "while size >= unit * 2.0**T", "one step more at a power of two"),
    (C, 3, 'else (q["L0"] * q["R"], q["alpha"])', 'else (2 * q["L0"] * q["R"], q["alpha"])', "2L0R for L0R in T"),
    (P, 3, '(16 * (q["L0"] * q["R"]) ** 2', '(4 * (q["L0"] * q["R"]) ** 2', "4 for 16 in T"),
    (C, 5, "c = (a + b) / 2\n", "c = a + (b - a) * 0.4\n", "not the middle"),
    (C, 6, TEST, 'slope(m + c) + q["beta"] * c > 0', "a tie moves a"),
    (C, 6, TEST, 'slope(m + c) + q["beta"] * (m + c) >= 0', "pulls to 0 for to m"),
    (C, 6, TEST, 'slope(c) + q["beta"] * c >= 0', "the subgradient at the offset"),
    (C, 6, "return clip(0.0, left, right)", "return right", "the right slope at a kink"),
    (P, 6, "value(m + c) + c * c", "value(m + c) + abs(c)", "the distance for its square"),
    (C, (5, 10), "(a, c) if left else (c, b)", "(c, b) if left else (a, c)", "keeps the other half"),
    (C, 10, "(a + b) / 2\n    log.mark(10", "a\n    log.mark(10", "the left end for the middle"),
    (C, 11, '"output", [d * v for v in x]', '"output", [d for v in x]', "forgets the features"),
    (C, 11, "return -u\n", "return u\n", "the wrong sign"),
)
PHASED = _of(
    "phased-sgd",
    (C, 0, "(1 if printed else D))\n    beta = beta", "1)\n    beta = beta", "β without D"),
    (P, 0, "(1 if printed else D))\n    beta = beta", "D)\n    beta = beta", "β of the proof for the printed one"),
    (C, 0, "alpha = G / (n * math.log(n)) if", "alpha = G / n if", "α without ln n"),
    (C, 0, "alpha = G / (n * math.log(n)) if", 'alpha = float(data["L0"]) / (n * math.log(n)) if', "α without R"),
    (C, 2, "eps / (2 * math.sqrt(L)))", "eps / (2 * L))", "no root in ρ"),
    (C, 2, "eps / (2 * math.sqrt(L)))", "eps / math.sqrt(2 * L))", "√2 for 2 in ρ"),
    (C, 3, "n.bit_length() - 1)", "(n - 1).bit_length())", "⌈log2 n⌉"),
    (C, (4, 5), "rank if free else W.dim), 1 / math.sqrt(n))", "rank if free else W.dim), 1 / n)", "1/n for 1/√n"),
    (C, (4, 5), "min(rho / math.sqrt(rank", "max(rho / math.sqrt(rank", "max for min in η"),
    (C, 5, "rank if free else W.dim", "W.dim", "d for the rank on ℝ^d"),
    (C, 4, "D / (3 * G) * min", "1 / (3 * G) * min", "η without D"),
    (C, 8, "n // 2**k, k)", "n // 2 ** (k - 1), k)", "T_k = n/2^(k−1)"),
    (C, 9, "eta / 4**k, k)", "eta / 2**k, k)", "2^k for 4^k"),
    (C, 10, "points[s + t - 2]", "points[t - 1]", "every phase from the first record"),
    (C, 10, "points[s + t - 2]", "points[(s + t - 1) % n]", "off by one record"),
    (C, 10, "W.project(mix(u, 1, x, step if printed else -step))", "mix(u, 1, x, -step)", "no projection"),
    (C, 10, "us[1:] if data", "us[-1:] * T if data", "the last iterate for the mean"),
    (C, 11, "4 * G * eta_k / rho", "4 * G * eta / rho", "σ of η for η_k"),
    (C, 11, "4 * G * eta_k / rho", "2 * G * eta_k / rho", "2 for 4 in σ"),
    (T, 11, "(G + alpha * (T - 1) / 2) / mu", "(G + alpha * (T - 1)) / mu", "α for α/2"),
    (C, 12, '"s", s + T, k)', '"s", s + T + 1, k)', "a record is skipped"),
    (C, 13, '"output", w if printed else W.project(w))', '"output", w)', "no projection of the output"),
)
FRANK_WOLFE = _of(
    "noisy-frank-wolfe",
    (C, 0, "W.diameter(1)", "W.diameter(2)", "the ℓ_2 diameter"),
    (C, 0, "* D * L**0.25", "* D * L**0.5", "√L for L^{1/4} in β"),
    (C, 0, '(1 if variant == "printed" else G)', "1", "α as printed"),
    (C, 1, 'W.vertices[0] if data["start"]', 'W.centre() if data["start"]', "starts at the centre"),
    (C, 2, "+ 0.5))\n", "))\n", "T is rounded down"),
    (C, 2, "math.log(J) * math.log(n) * math.sqrt(L)) + 0.5", "math.log(J) * math.log(n) * L) + 0.5", "L for √L in T"),
    (C, 3, "3 * G * D * math.sqrt(8 * T * L)", "2 * G * D * math.sqrt(8 * T * L)", "2 for 3 in s"),
    (C, 3, "math.sqrt(8 * T * L) / (n", "math.sqrt(8 * L) / (n", "s without √T"),
    (C, 3, "3 * G * D * math.sqrt(8", "3 * G * math.sqrt(8", "s without D"),
    (T, 3, "RAISED * 2 * D * G / n\n", "RAISED * D * G / n\n", "add-remove for replace-one"),
    (C, 5, "dot(c, slopes) / n for", "dot(c, slopes) for", "the sum for the mean"),
    (T, 6, 'sign = -1 if data["noise"] == "gumbel" else 1\n        b', "sign = 1\n        b", "adds Gumbel noise"),
    (C, 6, "sign * s * v for v", "sign * s / math.sqrt(2) * v for v", "s as a standard deviation"),
    (C, 7, "first_least(scores), t)", "first_least([-v for v in scores]), t)", "argmax"),
    (C, 8, "mu = 3 / (t + 2)", "mu = 2 / (t + 2)", "2/(t+2)"),
    (C, 8, "mu = 3 / (t + 2)", "mu = 3 / (t + 3)", "3/(t+3)"),
    (C, 9, '"output", before if variant == "printed" else w', '"output", before', "the last step is wasted"),
    (P, 9, '"output", before if variant == "printed" else w', '"output", w', "one step more than printed"),
)
POLY = _of(
    "poly-sfw",
    (C, 3, "s = 2 * D * (L0 + L1 * D)", "s = D * (L0 + L1 * D)", "s_r without 2"),
    (C, 3, "(L0 + L1 * D) * 2**r", "(L0 + L1) * 2**r", "L1 without D"),
    (C, 3, "(L0 + L1 * D) * 2**r", "(L0 + L1 * D) * 2 ** (r / 2)", "2^{r/2} for 2^r"),
    (C, 3, "max(math.sqrt(L), 1)) / (b", "math.sqrt(L)) / (b", "√L below 1"),
    (C, 5, "grad = [x / b for x in now]", "grad = list(now)", "the sum for the mean"),
    (C, 6, "dot(x, grad) + s * u for", "dot(x, grad) + s / math.sqrt(2) * u for", "the scale as a deviation"),
    (C, 4, "chosen = self.order[self.at : self.at + size]", "chosen = self.order[:size]", "the first records again"),
    (
        C,
        10,
        "mix(now, 1, total(loss, before, batch), -1)], r, t)\n                grad = mix(mix",
        "mix(now, 1, now, -1)], r, t)\n                grad = mix(mix",
        "Δ = 0",
    ),
    (C, 11, "1 - eta(t), now, eta(t) * c)", "1 - eta(t), now, c)", "the fresh gradient without η"),
    (
        C,
        (7, 13),
        "W.vertices[v], eta(t)), r, t + 1)\n        trace.mark(14",
        "W.vertices[v], eta(t + 1)), r, t + 1)\n        trace.mark(14",
        "weights that do not add to 1",
    ),
    (P, 9, "size = b // (t + 1) if printed", "size = -(-b // (t + 1)) if printed", "⌈·⌉ for the printed ⌊·⌋"),
    (T, 3, "influence(k, L0, L1, D * eta(k - 1) if k", "influence(k, L0, L1, D * eta(k) if k", "η_k for η_{k−1}"),
    (T, 3, '(8 if data["noise"] == "gumbel" else 2)', "2", "Laplace's constant for Gumbel noise"),
    (T, 3, "s = 2 * D * pure / eps * RAISED", "s = D * pure / eps * RAISED", "the pure scale without 2"),
)
NOISY = _of(
    "noisy-sfw",
    (
        C,
        0,
        '"D", W.diameter(p) if data["D"] is None else float(data["D"]))\n    L0, L1, factor',
        '"D", W.diameter(2) if data["D"] is None else float(data["D"]))\n    L0, L1, factor',
        "the ℓ_2 diameter",
    ),
    (C, 3, "U = 4 * factor", "U = 3 * factor", "3 for 4 in σ"),
    (C, 3, "U = 4 * factor * math.sqrt(L)", "U = 4 * factor * L", "L for √L"),
    (C, 3, "d ** (1 / p - 0.5)\n    w = W.centre", "d ** (0.5 - 1 / p)\n    w = W.centre", "the inverse factor"),
    (C, 3, "U * L0 * (t + 1) * f[t > 0]", "U * L0 * (t + 1)", "the constant 16 at every ε"),
    (C, 9, "eta(t if printed else t - 1)", "eta(t)", "η_t for η_{t−1}"),
    (P, 9, "eta(t if printed else t - 1)", "eta(t - 1)", "η_{t−1} in the printed text"),
    (C, 9, "U * L1 * D * eta", "U * L1 * eta", "σ̂ without D"),
    (C, 11, 'move = trace.mark(11, "Delta", [c * x for', 'move = trace.mark(11, "Delta", [x / b for', "1/b for 1/|B|"),
    (
        C,
        13,
        'g = trace.mark(13, "noisy_g", mix(g, 1, N, sigma), r, t)',
        'g = trace.mark(13, "noisy_g", g, r, t)',
        "g without noise",
    ),
    (C, 14, "1 - eta(t), g, eta(t))", "eta(t), g, 1 - eta(t))", "swapped weights"),
    (C, 6, "W.minimiser(grad), r, t)", "W.minimiser([-x for x in grad]), r, t)", "climbs"),
    (T, 9, "RAISED * 2 * influence(t", "RAISED * influence(t", "add-remove for replace-one"),
    (T, 9, "* factor / (m * mu), 0, t)", "* factor / (m * mu * mu), 0, t)", "μ² for μ"),
)
GUIDED = _of(
    "proximally-guided",
    (C, 1, "beta = 2 * kappa * weak if", "beta = kappa * 2 * rho if", "β without C²"),
    (C, 1, "beta = 2 * kappa * weak if", "beta = 2 * weak if", "β without κ"),
    (C, 3, "n // max(1, R - 1)\n", "n // R\n", "⌊n/R⌋ for ⌊n/(R−1)⌋"),
    (C, 4, "sigma = 2 * L0 * d", "sigma = L0 * d", "add-remove for replace-one"),
    (C, 4, "/ m * math.sqrt(T) / mu", "/ m * T / mu", "T for √T"),
    (C, 4, "/ m * math.sqrt(T) / mu", "/ len(batch) * math.sqrt(T) / mu", "n of the batch for n_i"),
    (C, 4, "[x * L0 / max(L0, norm(c, dual(self.p)))", "[x * L0 / max(L0, norm(c, 2.0))", "clips in ℓ_2"),
    (C, 4, '["loss"], at, z)', '["loss"], w, z)', "the subgradient at the centre"),
    (C, 4, "Lam = S + pull", "Lam = S", "Λ without λ"),
    (C, 4, "Lam * (k - 1) / 2, anchor, pull", "Lam * k / 2, anchor, pull", "k for k − 1"),
    (C, 4, "self.kappa * Lam * (k + 1) / 2)", "Lam * (k + 1) / 2)", "B without κ"),
    (C, 4, "self.beta / self.kappa - self.weak", "self.beta / self.kappa", "S without ρ̃"),
    (
        C,
        4,
        "tau = size / B if self.radius is None else min(self.radius, size / B)",
        "tau = size / B",
        "no ball of radius R0",
    ),
    (C, 5, 'j = draws["r[]"]["values"][0]', 'j = draws["r[]"]["values"][0] - 1', "counts from 1"),
)

BY_HAND: tuple[HandSlip, ...] = (*ORACLE, *PHASED, *FRANK_WOLFE, *POLY, *NOISY, *GUIDED)
