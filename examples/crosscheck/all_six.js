// All six algorithms in JavaScript, every variant, as one client of `dpso crosscheck`:
//
//     dpso crosscheck phased-sgd --exec "node examples/crosscheck/all_six.js"
//
// Written from reference/vectors/SPEC.md, without a package. One request a line on stdin, one reply a line on stdout.
// Numbers in `mark(line, …)` are the paper's lines. Algorithm 1 searches in positions, sums run from first to last.
"use strict";

class Refused extends Error {}
const need = (ok, why) => { if (!ok) throw new Refused(why); };

const range = (n, from = 0) => Array.from({ length: n }, (_, i) => from + i);
const sum = (a) => a.reduce((s, x) => s + x, 0);
const dot = (a, b) => sum(a.map((x, j) => x * b[j]));
const add = (a, b) => a.map((x, j) => x + b[j]);
const sub = (a, b) => a.map((x, j) => x - b[j]);
const scaled = (c, a) => a.map((x) => c * x);
const toward = (w, v, share) => w.map((x, j) => (1 - share) * x + share * v[j]);
const clip = (x, a, b) => Math.min(Math.max(x, a), b);
const argmin = (a) => a.reduce((best, x, i) => (x < a[best] ? i : best), 0);
const real = (text) => (text === null ? null : text === "inf" ? Infinity : Number(text));
const vector = (texts) => (texts === null ? null : texts.map(Number));
const dual = (p) => (p === 1 ? Infinity : p === Infinity ? 1 : p / (p - 1));

function norm(a, p) {
  const top = Math.max(...a.map(Math.abs));
  return p === Infinity || top === 0 ? top : top * sum(a.map((x) => (Math.abs(x) / top) ** p)) ** (1 / p);
}

// ------------------------------------------------------------------ sets: centre, diameter, minimiser, projection

const SLACK = 1 + 1e-12;

function unitVectors(d, r) {
  return range(d).map((j) => range(d).map((i) => (i === j ? r : 0)));
}

function ball(c, r, s) {
  const q = dual(s);
  return {
    d: c.length, centre: c,
    diameter: (p) => 2 * r * Math.max(1, c.length ** (1 / p - 1 / s)),
    has: (w) => norm(sub(w, c), s) <= r * SLACK,
    minimiser(g) {
      const top = Math.max(...g.map(Math.abs)), first = g.findIndex((x) => Math.abs(x) === top);
      if (top === 0) return c;
      if (s === 1) return c.map((x, j) => (j === first ? x - r * Math.sign(g[j]) : x));
      const h = scaled(1 / top, g), length = norm(h, q);
      return c.map((x, j) => x - r * Math.sign(h[j]) * (Math.abs(h[j]) / length) ** (q - 1));
    },
    project(w) {
      const u = sub(w, c), size = norm(u, s);
      if (size <= r) return w;
      if (s === 2) return add(c, scaled(r / size, u));
      if (s === Infinity) return add(c, u.map((x) => clip(x, -r, r)));
      const cut = level(u.map(Math.abs), r);
      return add(c, u.map((x) => Math.sign(x) * Math.max(Math.abs(x) - cut, 0)));
    },
  };
}

function level(values, total) { // the λ with Σ max(v − λ, 0) = total
  const sorted = [...values].sort((a, b) => b - a);
  let head = 0, found = -Infinity;
  sorted.forEach((v, k) => { head += v; found = Math.max(found, (head - total) / (k + 1)); });
  return found;
}

function box(low, high) {
  return {
    d: low.length, centre: low.map((a, j) => (a + high[j]) / 2),
    diameter: (p) => norm(sub(high, low), p),
    has: (w) => w.every((x, j) => low[j] <= x && x <= high[j]),
    minimiser: (g) => g.map((x, j) => (x < 0 ? high[j] : low[j])),
    project: (w) => w.map((x, j) => clip(x, low[j], high[j])),
  };
}

function hull(vertices) {
  return {
    d: vertices[0].length, vertices,
    centre: range(vertices[0].length).map((j) => sum(vertices.map((v) => v[j])) / vertices.length),
    diameter: (p) => Math.max(...vertices.flatMap((a) => vertices.map((b) => norm(sub(a, b), p)))),
    has: () => true, // no vector starts outside of a hull that is given by its vertices
    minimiser: (g) => vertices[argmin(vertices.map((v) => dot(v, g)))],
  };
}

function feasible(set) {
  switch (set.type) {
    case "l2-ball": return ball(vector(set.centre), Number(set.radius), 2);
    case "lp-ball": return ball(vector(set.centre), Number(set.radius), real(set.p));
    case "box": return box(vector(set.lower), vector(set.upper));
    case "polytope": return hull(set.vertices.map(vector));
    case "simplex": {
      const r = Number(set.scale), whole = hull(unitVectors(set.dim, r));
      const has = (w) => w.every((x) => x >= 0) && Math.abs(sum(w) - r) <= r * 1e-12;
      const project = (w) => { const cut = level(w, r); return w.map((x) => Math.max(x - cut, 0)); };
      return { ...whole, diameter: (p) => (set.dim > 1 ? 2 ** (1 / p) * r : 0), has, project };
    }
    case "l1-polytope": {
      const r = Number(set.radius), whole = hull([...unitVectors(set.dim, r), ...unitVectors(set.dim, -r)]);
      const round = ball(range(set.dim).map(() => 0), r, 1);
      return { ...whole, centre: round.centre, diameter: round.diameter, has: round.has, project: round.project };
    }
    case "box-polytope": {
      const sides = box(vector(set.lower), vector(set.upper));
      const ends = set.lower.map((low, j) => [Number(low), Number(set.upper[j])]);
      const corners = ends.reduce((all, pair) => all.flatMap((v) => pair.map((x) => [...v, x])), [[]]);
      return { ...hull(corners), centre: sides.centre, diameter: sides.diameter, has: sides.has };
    }
    default: {
      const zero = range(set.dim).map(() => 0);
      return { d: set.dim, centre: zero, whole: true, has: () => true, project: (w) => w };
    }
  }
}

// ------------------------------------------------------------------ Algorithm 1, and the losses of Algorithms 1 to 3

// slopes[i] left of kinks[i], the last one right of all; the value is 0 at the first kink, which h may ignore
function kinked(kinks, slopes) {
  const convex = slopes.every((s, i) => i === 0 || slopes[i - 1] <= s);
  const slope = (u) => clip(0, slopes[kinks.filter((k) => k < u).length], slopes[kinks.filter((k) => k <= u).length]);
  const value = (u) => {
    if (u <= kinks[0]) return slopes[0] * (u - kinks[0]);
    const ends = [...kinks.slice(1), Infinity];
    return sum(kinks.map((k, i) => (u > k ? slopes[i + 1] * (Math.min(u, ends[i]) - k) : 0)));
  };
  return { convex, steepest: Math.max(...slopes.map(Math.abs)), slope, value };
}

function convexLoss(loss, y) {
  const width = Number(loss.width), tau = Number(loss.tau);
  switch (loss.family) {
    case "absolute": return kinked([y], [-1, 1]);
    case "quantile": return kinked([y], [-tau, 1 - tau]);
    case "hinge": return y === 0 ? kinked([0], [0, 0]) : kinked([1 / y], y > 0 ? [-y, 0] : [0, -y]);
    case "epsilon-insensitive": return kinked([y - width, y + width], [-1, 0, 1]);
    case "piecewise-linear": return kinked(vector(loss.kinks), vector(loss.slopes));
    case "huber": {
      const value = (u) => { const t = Math.abs(u - y), s = Math.min(t, width); return (s * s) / 2 + width * (t - s); };
      return { convex: true, steepest: width, slope: (u) => clip(u - y, -width, width), value };
    }
    case "logistic": {
      const slope = (u) => -y / (1 + Math.exp(y * u));
      return { convex: true, steepest: Math.abs(y), slope, value: (u) => Math.log1p(Math.exp(-y * u)) };
    }
    default: throw new Refused(`loss ${loss.family} is none of Section 3`);
  }
}

function admissible(ell, L0) {
  need(ell.convex, "the loss must be convex");
  need(ell.steepest <= L0, "the Lipschitz constant of the loss is larger than L0");
  return ell;
}

const quiet = () => {};

function search(ell, m, q, printed, mark = quiet) { // β(m − ū)
  mark(1, "m", m);
  const reach = ((printed ? 2 : 1) * q.L0) / q.beta, [low, high] = q.M ?? [-Infinity, Infinity];
  let a = Math.max(low, m - reach), b = Math.min(high, m + reach);
  need(a <= b, "M misses the interval of line 2");
  mark(2, "a", a);
  mark(2, "b", b);
  const G = q.L0 * q.R, ratio = printed ? (16 * G * G) / (q.alpha * q.alpha) : G / q.alpha;
  let T = 0;
  while (ratio > 2 ** T) T += 1;
  mark(3, "T", T);
  const h = (u) => ell.value(u) + (u - m) ** 2;
  let best = (a + b) / 2, least = Infinity;
  for (let t = 1; t <= T; t++) {
    const middle = (a + b) / 2;
    mark(5, "m_t", middle, t);
    const left = printed ? h((middle + b) / 2) <= h((a + middle) / 2) : ell.slope(middle) + q.beta * (middle - m) >= 0;
    mark(6, "keep", left ? "left" : "right", t);
    if (left) b = middle; else a = middle;
    if (printed && h(middle) < least) [least, best] = [h(middle), middle];
  }
  const u = printed ? best : (a + b) / 2;
  mark(10, "u", u);
  return { u, slope: printed ? q.beta * (m - u) : clip(q.beta * (m - u), -q.L0, q.L0) };
}

function smoothing(input, beta, alpha, L0, R) {
  const q = { beta, alpha, L0, R, M: vector(input.M ?? null) };
  for (const name of ["beta", "alpha", "L0", "R"]) need(q[name] > 0, `${name} must be positive`);
  need(alpha < 4 * L0 * R, "alpha must be below 4 L0 R");
  return q;
}

function gllOracle({ variant, input }, mark) {
  const q = smoothing(input, real(input.beta), real(input.alpha), real(input.L0), real(input.R));
  const w = vector(input.w), x = vector(input.x);
  need(w.length === x.length, "the dimensions of w and x differ");
  const ell = admissible(convexLoss(input.loss, Number(input.y)), q.L0);
  const found = search(ell, dot(w, x), q, variant === "printed", mark);
  return { gradient: mark(11, "output", scaled(found.slope, x)), derivative: found.slope, u: found.u };
}

// ------------------------------------------------------------------ what Algorithms 2 to 6 share

function privacy(input, pure = false) {
  const epsilon = real(input.epsilon), delta = real(input.delta);
  need(epsilon > 0, "epsilon must be positive");
  need(delta < 1 && (delta > 0 || (pure && delta === 0)), "delta must lie in (0, 1)");
  return { epsilon, delta, L: Math.log(1 / delta) };
}

function records(input, d) {
  const found = input.dataset.map((z) => ({ x: vector(z.x), y: Number(z.y) }));
  for (const z of found) need(z.x.length === d, "dimension: x has another one than W");
  return found;
}

function startOf(input, W, otherwise, name) {
  const w = vector(input.start) ?? otherwise;
  need(w.length === W.d, `dimension of ${name}`);
  need(W.has(w), `${name} must lie in W`);
  return w;
}

const values = (draws, key) => vector(draws[key].values);

function section3(input, W, R, q) { // records with their losses
  return records(input, W.d).map((z, i) => {
    need(norm(z.x, q) <= R * SLACK, `record ${i}: its features are longer than R`);
    return { x: z.x, ell: admissible(convexLoss(input.loss, z.y), real(input.L0)) };
  });
}

// ------------------------------------------------------------------ Algorithm 2

const RAISED = 1 + 2 ** -38;

function phased({ variant, input, draws }, mark) {
  const printed = variant === "printed", tight = variant === "tight", W = feasible(input.set), n = input.dataset.length;
  const { epsilon, delta, L } = privacy(input), L0 = real(input.L0), R = real(input.R), G = L0 * R;
  need(n >= 2, "n must be at least 2");
  need(!printed || Number.isInteger(Math.log2(n)), "n must be a power of two");
  need(epsilon <= Math.sqrt(L), "epsilon must be at most the root of ln(1/delta)");
  const D = W.whole ? 1 : real(input.D) ?? W.diameter(2), rank = real(input.rank) ?? n;
  need(D > 0, "D must be positive");
  need(rank >= 1, "rank must be at least 1");
  const beta = real(input.beta) ?? (printed ? (Math.sqrt(n) * L0) / R : (Math.sqrt(n) * L0) / (R * D));
  const q = smoothing({}, beta, real(input.alpha) ?? G / (n * Math.log(n)), L0, R), data = section3(input, W, R, 2);
  let centre = startOf(input, W, W.centre, "w0");
  mark(0, "beta", q.beta);
  mark(0, "alpha", q.alpha);
  mark(1, "w_tilde", centre, 0);
  const rho = mark(2, "rho", epsilon / (2 * Math.sqrt(L))), K = mark(3, "K", Math.floor(Math.log2(n)));
  const mu = tight || input.step === "tuned" ? gaussianMu(epsilon, delta) : null;
  let eta = (D / (3 * G)) * Math.min(rho / Math.sqrt(W.d), 1 / Math.sqrt(n));
  if (W.whole) eta = (1 / (3 * G)) * Math.min(rho / Math.sqrt(rank), 1 / Math.sqrt(n));
  if (input.step === "tuned") {
    need(!W.whole, "step: tuned needs a bounded W with its D");
    const g = RAISED * (1 + 1 / (4 * Math.log(n))), c = input.average === "last" ? 1 / 2 : 1 / 6;
    eta = ((2 * D) / G) / Math.sqrt((16 * W.d * g * g) / (mu * mu) + c * n);
  }
  mark(W.whole ? 5 : 4, "eta", eta);
  for (let k = 1, s = 1; k <= K; k++) {
    const T = mark(8, "T", Math.floor(n / 2 ** k), k), step = mark(9, "eta", eta / 4 ** k, k);
    let u = printed ? centre : W.project(centre), mean = scaled(0, u);
    mark(10, "u", u, k, 0);
    for (let t = 1; t <= T; t++) {
      const z = data[s + t - 2], g = scaled(search(z.ell, dot(u, z.x), q, input.oracle === "printed").slope, z.x);
      const next = W.project(add(u, scaled(printed ? step : -step, g)));
      mean = add(mean, input.average === "last" ? next : u);
      u = mark(10, "u", next, k, t);
    }
    const w = mark(10, "w", scaled(1 / T, mean), k);
    let sigma = (4 * G * step) / rho;
    if (tight) {
      const last = input.average === "last", drift = last ? T - 1 : Math.max(T - 2, 0);
      sigma = (RAISED * 2 * step * (last ? 1 : (T - 1) / T) * (G + (q.alpha * drift) / 2)) / mu;
    }
    mark(11, "sigma", sigma, k);
    centre = mark(11, "w_tilde", add(w, scaled(sigma, values(draws, `xi[${k}]`))), k);
    s = mark(12, "s", s + T, k);
  }
  return { w: mark(13, "output", printed ? centre : W.project(centre)) };
}

// ------------------------------------------------------------------ Algorithm 3

function frankWolfe({ variant, input, draws }, mark) {
  const printed = variant === "printed", W = feasible(input.set), n = input.dataset.length;
  const { epsilon, delta, L } = privacy(input), L0 = real(input.L0), R = real(input.R), G = L0 * R;
  need(W.vertices, "W must list its vertices");
  const V = W.vertices, J = V.length;
  need(n >= 2, "n must be at least 2");
  need(J >= 2, "J must be at least 2");
  need(input.T === null || input.T >= 1, "T must be at least 1");
  const D = mark(0, "D", W.diameter(1));
  need(D > 0, "D must be positive");
  const usual = (L0 * Math.sqrt(n * epsilon)) / (R * D * L ** 0.25 * Math.sqrt(Math.log(J) * Math.log(n)));
  const beta = mark(0, "beta", real(input.beta) ?? usual);
  const alpha = mark(0, "alpha", real(input.alpha) ?? (printed ? 1 : G) / (n * Math.log(n)));
  const q = smoothing({}, beta, alpha, L0, R), data = section3(input, W, R, Infinity);
  let w = mark(1, "w", startOf(input, W, V[0], "w1"), 1), before = w;
  const steps = (n * epsilon) / (Math.log(J) * Math.log(n) * Math.sqrt(L));
  const T = mark(2, "T", input.T ?? Math.max(1, Math.floor(steps + 0.5)));
  let s = (3 * G * D * Math.sqrt(8 * T * L)) / (n * epsilon);
  if (variant === "tight") {
    const r = (RAISED * 2 * D * G) / n;
    s = r / composedEpsilon(epsilon, delta, T);
    if (input.noise === "gumbel") s = Math.min(s, r * Math.sqrt(T / (8 * concentrated(epsilon, delta))));
  }
  mark(3, "s", s);
  for (let t = 1; t <= T; t++) {
    const each = data.map((z) => scaled(search(z.ell, dot(w, z.x), q, input.oracle === "printed").slope, z.x));
    const gradient = mark(5, "gradient", scaled(1 / n, each.reduce(add)), t);
    const b = mark(6, "b", scaled(input.noise === "gumbel" ? -s : s, values(draws, `b[${t}]`)), t);
    const scores = V.map((v, i) => dot(v, gradient) + b[i]), v = mark(7, "v", argmin(scores), t);
    mark(7, "margin", Math.min(...scores.filter((_, i) => i !== v)) - scores[v], t);
    [before, w] = [w, mark(8, "w", toward(w, V[v], 3 / (t + 2)), t + 1)];
  }
  return { w: mark(9, "output", printed ? before : w) };
}

// ------------------------------------------------------------------ Algorithms 4 and 5

function smoothSlope(loss, y, t) {
  switch (loss.family) {
    case "sigmoid": { const e = Math.exp(-Math.abs(y * t)); return (-y * e) / (1 + e) ** 2; }
    case "geman-mcclure": { const c = Number(loss.width), s = (t - y) / c; return (2 * s) / ((1 + s * s) ** 2 * c); }
    case "squared-tanh": { const h = Math.tanh(t); return 2 * (h - y) * (1 - h * h); }
    case "signed-quadratic": return y * Number(loss.curvature) * t;
    default: throw new Refused(`loss ${loss.family} is none of Section 4`);
  }
}

const pace = (t) => 1 / Math.sqrt(t + 1);

function smoothSetting(input, W) {
  const data = records(input, W.d), bounded = input.loss.family !== "geman-mcclure";
  for (const z of data) need(!bounded || Math.abs(z.y) <= 1, "y: labels of this loss lie in [-1, 1]");
  const total = (w, batch) => batch.map((i) => scaled(smoothSlope(input.loss, data[i].y, dot(w, data[i].x)), data[i].x)).reduce(add);
  return { n: data.length, total };
}

function checkRounds(input, n) {
  const R = input.rounds, b = input.b;
  need(R >= 1, "R must be at least 1");
  need(b >= 2 ** (R - 1), "b must be at least 2^(R-1)");
  const due = input.exact_budget ? sum(range(R).flatMap((r) => range(2 ** r).map((t) => Math.ceil(b / (t + 1))))) : b * R * R;
  need(due <= n, "n is too small for these batches");
}

function batches(draws, mark) {
  let used = 0; // a case that is to be refused has no draws: they are read when they are due
  return (line, size, r, t) => mark(line, "batch", draws["pi[]"].values.map(Number).slice(used, (used += size)), r, t);
}

// w_0^0, w_1^0, w_1^1, w_2^0, …: the rounds of both algorithms; `estimate` gives ∇̃, `vertex` the point of the move
function rounds(input, draws, w, mark, lines, estimate, vertex) {
  const iterates = [];
  mark(1, "w", w, 0, 0);
  for (let r = 0; r < input.rounds; r++) {
    for (let t = 0, before = w; t < 2 ** r; t++) {
      const v = vertex(estimate(r, t, w, before), r, t);
      iterates.push([w, r, t]);
      [before, w] = [w, mark(t ? lines.move : 7, "w", toward(w, v, pace(t)), r, t + 1)];
    }
    mark(lines.next, "w", w, r + 1, 0);
  }
  return output(iterates, draws, lines.output, mark);
}

function output(iterates, draws, line, mark) {
  const [w, r, t] = iterates[Number(draws["hat[]"].values[0])];
  return { w: mark(line, "output", w, r, t) };
}

function batchPlan(b, t, printed) {
  const size = printed ? Math.floor(b / (t + 1)) : Math.ceil(b / (t + 1));
  return [size, printed ? (t + 1) / b : 1 / size];
}

function oneRound(input, n) {
  need(input.T >= 2, "T must be at least 2");
  const sizes = range(input.T - 1).map((t) => Math.ceil(input.b / (t + 1)));
  need(sum(sizes) <= n, "n is too small for these batches");
  return sizes;
}

const influence = (k, L0, L1, move) => (k ? (1 - pace(k)) * Math.min(L1 * move, 2 * L0) + pace(k) * L0 : L0);

function recursion(total, batch, w, before, old, t) {
  const now = scaled(1 / batch.length, total(w, batch));
  return t ? add(scaled(1 - pace(t), sub(old, scaled(1 / batch.length, total(before, batch)))), now) : now;
}

function poly({ variant, input, draws }, mark) {
  const printed = variant === "printed", tight = variant === "tight", W = feasible(input.set);
  const { epsilon, delta, L } = privacy(input, tight), L0 = real(input.L0), L1 = real(input.L1), b = input.b;
  need(W.vertices, "W must list its vertices");
  need(W.vertices.length >= 2, "J must be at least 2");
  const V = W.vertices, { n, total } = smoothSetting(input, W), w0 = startOf(input, W, W.centre, "w0");
  const D = mark(0, "D", real(input.D) ?? W.diameter(real(input.p))), take = batches(draws, mark);
  const choose = (line, gradient, noise, s, ...index) =>
    V[mark(line, "v", argmin(V.map((v, i) => dot(v, gradient) + s * noise[i])), ...index)];
  if (tight) return polyTight({ input, draws, W, D, epsilon, delta, L0, L1, n, total, w0, take, choose }, mark);
  checkRounds(input, n);
  let gradient, s;
  const estimate = (r, t, w, before) => {
    if (t === 0) s = mark(3, "s", (2 * D * (L0 + L1 * D) * 2 ** r * (printed ? Math.sqrt(L) : Math.max(Math.sqrt(L), 1))) / (b * epsilon), r);
    const [size, weight] = batchPlan(b, t, printed), batch = take(t ? 9 : 4, size, r, t), now = total(w, batch);
    if (t === 0) return (gradient = mark(5, "grad", scaled(1 / b, now), r, 0));
    const change = mark(10, "Delta", scaled(weight, sub(now, total(before, batch))), r, t), e = pace(t);
    return (gradient = mark(11, "grad", add(scaled(1 - e, add(gradient, change)), scaled(e * weight, now)), r, t));
  };
  const vertex = (g, r, t) => choose(t ? 12 : 6, g, values(draws, `u[${r},${t}]`), s, r, t);
  return rounds(input, draws, w0, mark, { move: 13, next: 14, output: 15 }, estimate, vertex);
}

function polyTight({ input, draws, D, epsilon, delta, L0, L1, n, total, w0, take, choose }, mark) {
  const sizes = oneRound(input, n), gumbel = input.noise === "gumbel";
  let pure = 0, spread = 0;
  sizes.forEach((m, k) => {
    const share = influence(k, L0, L1, k ? D * pace(k - 1) : 0) / m;
    let left = 1, B = 1, Q = 1;
    for (let t = k + 1; t < sizes.length; t++) { left *= 1 - pace(t); B += left; Q += left * left; }
    pure = Math.max(pure, share * B);
    spread = Math.max(spread, share * share * Q);
  });
  let s = (2 * D * pure) / epsilon;
  if (delta > 0) s = Math.min(s, 2 * D * Math.sqrt(spread / ((gumbel ? 8 : 2) * concentrated(epsilon, delta))));
  s = mark(3, "s", RAISED * s, 0);
  let w = w0, before = w0, gradient;
  const iterates = [[mark(1, "w", w, 0, 0), 0, 0]];
  sizes.forEach((m, t) => {
    gradient = mark(11, "grad", recursion(total, take(9, m, 0, t), w, before, gradient, t), 0, t);
    const v = choose(12, gradient, values(draws, `u[${t}]`), gumbel ? -s : s, 0, t);
    [before, w] = [w, mark(13, "w", toward(w, v, pace(t)), 0, t + 1)];
    iterates.push([w, 0, t + 1]);
  });
  return output(iterates, draws, 15, mark);
}

function noisy({ variant, input, draws }, mark) {
  const printed = variant === "printed", W = feasible(input.set), p = real(input.p);
  const { epsilon, delta, L } = privacy(input), L0 = real(input.L0), L1 = real(input.L1), b = input.b;
  need(p > 1 && p <= 2, "p must lie in (1, 2]");
  need(!W.whole, "W must be bounded");
  const { n, total } = smoothSetting(input, W), w0 = startOf(input, W, W.centre, "w0"), factor = W.d ** (1 / p - 1 / 2);
  const D = mark(0, "D", real(input.D) ?? W.diameter(p)), take = batches(draws, mark);
  const mu = printed ? null : gaussianMu(epsilon, delta);
  if (variant === "tight") return noisyTight({ input, draws, W, D, p, mu, factor, L0, L1, n, total, w0, take }, mark);
  checkRounds(input, n);
  const U = (4 * factor * Math.sqrt(L)) / (b * epsilon);
  const stretch = (j) => (printed ? 1 : Math.max(1, (epsilon * Math.sqrt(j)) / (2 * Math.sqrt(L) * mu)));
  let gradient;
  const estimate = (r, t, w, before) => {
    const N = values(draws, `N[${r},${t}]`), [size, weight] = batchPlan(b, t, printed);
    if (t === 0) {
      const sigma = mark(3, "sigma", U * L0 * stretch(1), r, 0), mean = scaled(1 / b, total(w, take(4, b, r, 0)));
      return (gradient = mark(5, "noisy_grad", add(mean, scaled(sigma, N)), r, 0));
    }
    const sigma = mark(9, "sigma", U * L0 * (t + 1) * stretch(2), r, t);
    const wide = mark(9, "sigma_hat", U * L1 * D * pace(printed ? t : t - 1) * (t + 1) * stretch(2), r, t);
    const batch = take(10, size, r, t), now = total(w, batch);
    const change = mark(11, "Delta", scaled(weight, sub(now, total(before, batch))), r, t);
    const fresh = mark(11, "g", scaled(weight, now), r, t);
    const noisyChange = mark(12, "noisy_Delta", add(change, scaled(wide, values(draws, `hatN[${r},${t}]`))), r, t);
    const noisyFresh = mark(13, "noisy_g", add(fresh, scaled(sigma, N)), r, t);
    gradient = add(scaled(1 - pace(t), add(gradient, noisyChange)), scaled(pace(t), noisyFresh));
    return mark(14, "noisy_grad", gradient, r, t);
  };
  const vertex = (g, r, t) => mark(t ? 15 : 6, "v", W.minimiser(g), r, t);
  return rounds(input, draws, w0, mark, { move: 16, next: 17, output: 18 }, estimate, vertex);
}

function noisyTight({ input, draws, W, D, p, mu, factor, L0, L1, n, total, w0, take }, mark) {
  let w = w0, before = w0, gradient;
  const iterates = [[mark(1, "w", w, 0, 0), 0, 0]];
  oneRound(input, n).forEach((m, t) => {
    const move = input.adaptive ? norm(sub(w, before), p) : t ? D * pace(t - 1) : 0;
    const sigma = mark(9, "sigma", (RAISED * 2 * influence(t, L0, L1, move) * factor) / (m * mu), 0, t);
    const mean = recursion(total, take(10, m, 0, t), w, before, gradient, t);
    gradient = mark(14, "noisy_grad", add(mean, scaled(sigma, values(draws, `N[${t}]`))), 0, t);
    [before, w] = [w, mark(16, "w", toward(w, W.minimiser(gradient), pace(t)), 0, t + 1)];
    iterates.push([w, 0, t + 1]);
  });
  return output(iterates, draws, 18, mark);
}

// ------------------------------------------------------------------ Algorithm 6

function weakSlope(loss, y, t) {
  switch (loss.family) {
    case "robust-phase-retrieval": return 2 * t * Math.sign(t * t - y);
    case "tanh-regression": { const h = Math.tanh(t); return Math.sign(h - y) * (1 - h * h); }
    case "negative-quadratic": return -Number(loss.curvature) * t;
    default: throw new Refused(`loss ${loss.family} is none of Section 5`);
  }
}

function geometry(p, d, printed) {
  let bar = p === 2 || d <= 2 ? 2 : Math.max(p, 1 + 1 / Math.log(d));
  if (printed && d === 2) bar = Math.max(p, 1 + 1 / Math.log(2));
  const kappa = 1 / (bar - 1), C = d ** (1 / p - 1 / bar);
  const slope = (u) => { // of κ‖u‖²/2
    const size = norm(u, bar);
    return size === 0 ? u : u.map((x) => kappa * size ** (2 - bar) * Math.sign(x) * Math.abs(x) ** (bar - 1));
  };
  return { bar, kappa, C, slope };
}

// argmin (B/2)‖u‖² − ⟨θ, u⟩ over w + u ∈ W and ‖u‖ ≤ radius
function step(W, w, theta, B, geo, radius) {
  const q = dual(geo.bar), size = norm(theta, q);
  if (size === 0) return theta;
  const length = Math.min(radius, size / B), u = theta.map((x) => length * Math.sign(x) * (Math.abs(x) / size) ** (q - 1));
  if (W.has(add(w, u))) return u;
  if (geo.bar !== 2) throw Object.assign(new Error(), { unsupported: "a step on which W binds, in this norm" });
  const at = (shrink) => sub(W.project(add(w, scaled(1 / (B * shrink), theta))), w); // a multiplier of the ball
  let low = 1, high = 1;
  if (norm(at(1), 2) <= radius) return at(1);
  while (norm(at(high), 2) > radius) high *= 2;
  for (let i = 0; i < 200; i++) { const middle = (low + high) / 2; if (norm(at(middle), 2) > radius) low = middle; else high = middle; }
  return at(high);
}

function guided({ variant, input, draws }, mark) {
  const printed = variant === "printed", W = feasible(input.set), R = input.rounds, n = input.dataset.length, d = W.d;
  const p = real(input.p), L0 = real(input.L0), rho = real(input.rho), mu = real(input.mu);
  need(R >= 1 && R <= n, "rounds must lie between 1 and n");
  need(!printed || n % R === 0, "n/R must be an integer");
  need(p >= 1 && p <= 2, "p must lie in [1, 2]");
  need(!printed || d >= 2, "d must be at least 2");
  need(rho > 0, "rho must be positive");
  need(L0 > 0, "L0 must be positive");
  const geo = geometry(p, d, printed), weak = printed ? rho : geo.C ** 2 * rho, beta = real(input.beta) ?? 2 * geo.kappa * weak;
  need(beta > geo.kappa * weak, "beta must exceed kappa rho");
  const calls = printed ? R : R - 1, m = printed ? n / R : Math.floor(n / Math.max(1, R - 1));
  for (const phase of input.plan) {
    need(phase.n >= 1 && phase.T >= 1, "n and T of a phase must be at least 1");
    need(Number(phase.lambda) >= 0, "lam of a phase must not be negative");
  }
  need(calls === 0 || sum(input.plan.map((phase) => phase.n)) <= m, "plan needs more records than a batch has");
  need(input.plan.length === 0 || Number(input.plan[0].lambda) === 0, "plan: its first pull must be 0");
  const data = records(input, d), radius = printed ? Infinity : (geo.C * L0) / beta, q = dual(p);
  const S = beta / geo.kappa - weak;
  mark(1, "beta", beta);
  let w = mark(1, "w", startOf(input, W, W.centre, "w1"), 1);
  const iterates = [w];
  for (let r = 1; r <= calls; r++) {
    const batch = mark(3, "batch", range(m, (r - 1) * m), r);
    let u = scaled(0, w), used = 0;
    input.plan.forEach((phase, i) => {
      const own = batch.slice(used, (used += phase.n)).map((j) => data[j]), lambda = Number(phase.lambda) * weak;
      const sigma = ((2 * L0 * d ** (1 / p - 1 / 2)) / phase.n) * (Math.sqrt(phase.T) / mu), anchor = geo.slope(u);
      mark(4, "sigma", sigma, r, i + 1);
      for (let k = 1; k <= phase.T; k++) {
        const at = add(w, u);
        const each = own.map((z) => {
          const c = scaled(weakSlope(input.loss, z.y, dot(at, z.x)), z.x);
          return scaled(Math.min(1, L0 / norm(c, q)), c);
        });
        const g = mark(4, "gradient", scaled(1 / phase.n, each.reduce(add)), r, i + 1, k), own_slope = geo.slope(u);
        const noisyG = add(add(g, scaled(sigma, values(draws, `A[${r},${i + 1},${k}]`))), scaled(weak, own_slope));
        const Lambda = S + lambda;
        const theta = sub(add(scaled((Lambda * (k - 1)) / 2, own_slope), scaled(lambda, anchor)), noisyG);
        u = mark(4, "u", step(W, w, theta, (geo.kappa * Lambda * (k + 1)) / 2, geo, radius), r, i + 1, k);
      }
    });
    w = mark(4, "w", add(w, u), r + 1);
    iterates.push(w);
  }
  const j = Number(draws["r[]"].values[0]);
  mark(5, "index", j + 1);
  return { w: mark(5, "output", iterates[j]) };
}

// ------------------------------------------------------------------ constants of the tight variants

function root(f, low, high) { // of an increasing function
  for (let i = 0; i < 200; i++) { const middle = (low + high) / 2; if (f(middle) < 0) low = middle; else high = middle; }
  return (low + high) / 2;
}

function upper(x) { // P(N(0, 1) > x): the power series near 0, Laplace's continued fraction in the tail
  if (x < 0) return 1 - upper(-x);
  const density = Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
  if (x > 3) {
    let fraction = x;
    for (let k = 200; k >= 1; k--) fraction = x + k / fraction;
    return density / fraction;
  }
  let term = x, series = x;
  for (let k = 1; Math.abs(term) > 1e-18 * Math.abs(series); k++) { term *= (x * x) / (2 * k + 1); series += term; }
  return 0.5 - density * series;
}

function gaussianMu(epsilon, delta) {
  return root((mu) => upper(epsilon / mu - mu / 2) - Math.exp(epsilon) * upper(epsilon / mu + mu / 2) - delta, 1e-6, 1e3);
}

function concentrated(epsilon, delta) { // ρ*
  const rho = (u) => (epsilon + Math.log1p(1 / u)) / (2 * u + 1);
  return rho(root((u) => Math.log(delta) + rho(u) * u * u + Math.log1p(u), 1e-9, 1e9));
}

function composedEpsilon(epsilon, delta, T) { // ε0*; terms in logarithms, as C(T, i) may be large
  const choose = range(T).reduce((logs, i) => [...logs, logs[i] + Math.log((T - i) / (i + 1))], [0]);
  const excess = (e) => {
    const base = -T * (e + Math.log1p(Math.exp(-e)));
    const terms = choose.map((c, i) => Math.exp(c + base + i * e) * Math.max(0, -Math.expm1(epsilon + (T - 2 * i) * e)));
    return sum(terms) - delta;
  };
  return root(excess, epsilon / T, epsilon + 50);
}

// ------------------------------------------------------------------ JSON lines

const ALGORITHMS = {
  "Alg:gll_oracle": gllOracle, "Alg:phased": phased, "Alg:nfw": frankWolfe,
  "alg:polySFW": poly, "alg:nSFW": noisy, "Alg:PGPSMD": guided,
};

function answer(request) {
  const trace = [];
  const mark = (line, name, value, ...index) => { trace.push({ line, name, index, value }); return value; };
  try {
    return { output: ALGORITHMS[request.algorithm](request, mark), trace };
  } catch (error) {
    if (error instanceof Refused) return { reject: error.message };
    if (error.unsupported) return { unsupported: error.unsupported };
    throw error;
  }
}

require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { case: request } = JSON.parse(line);
  console.log(JSON.stringify({ id: request.id, ...answer(request) }));
});
