// Algorithm 3 (noisy Frank–Wolfe) in JavaScript, as a client of `dpso crosscheck`:
//
//     dpso crosscheck noisy-frank-wolfe --exec "node examples/crosscheck/frank_wolfe.js"
//
// One request a line on stdin, one reply a line on stdout. Line numbers in comments are the paper's.
"use strict";

class Refused extends Error {}
class Unsupported extends Error {}

const require_ = (ok, why) => { if (!ok) throw new Refused(why); };
const dot = (a, b) => a.reduce((sum, x, j) => sum + x * b[j], 0);
const clip = (x, a, b) => Math.min(Math.max(x, a), b);
const real = (text) => (text === null ? null : Number(text));

// ---- losses: subgradient nearest 0, Lipschitz constant, value (for the printed oracle) ----

function loss({ family, tau, width, kinks, slopes }, y) {
  const nearest = (u, kink, left, right) => (u < kink ? left : u > kink ? right : clip(0, left, right));
  switch (family) {
    case "absolute":
      return { L: 1, slope: (u) => nearest(u, y, -1, 1), value: (u) => Math.abs(u - y) };
    case "quantile": {
      const t = Number(tau);
      return { L: Math.max(t, 1 - t), slope: (u) => nearest(u, y, -t, 1 - t), value: (u) => Math.max(t * (y - u), (1 - t) * (u - y)) };
    }
    case "huber": {
      const w = Number(width), short = (u) => Math.min(Math.abs(u - y), w);
      return { L: w, slope: (u) => clip(u - y, -w, w), value: (u) => short(u) ** 2 / 2 + w * (Math.abs(u - y) - short(u)) };
    }
    case "logistic":
      return { L: Math.abs(y), slope: (u) => -y / (1 + Math.exp(y * u)), value: (u) => Math.log1p(Math.exp(-y * u)) };
    case "piecewise-linear": {
      const s = slopes.map(Number), k = kinks.map(Number);
      require_(s.every((x, i) => i === 0 || s[i - 1] <= x), "the loss is not convex");
      const left = (u) => s[k.filter((x) => x < u).length], right = (u) => s[k.filter((x) => x <= u).length];
      return { L: Math.max(...s.map(Math.abs)), slope: (u) => clip(0, left(u), right(u)), value: () => NaN };
    }
    default:
      throw new Unsupported(`the loss ${family}`);
  }
}

// ---- sets: their vertices, in the order of the specification ----

function vertices(set) {
  const unit = (d, j, x) => Array.from({ length: d }, (_, i) => (i === j ? x : 0));
  const range = (d) => [...Array(d).keys()];
  switch (set.type) {
    case "l1-polytope": {
      const r = Number(set.radius);
      return [r, -r].flatMap((x) => range(set.dim).map((j) => unit(set.dim, j, x)));
    }
    case "simplex":
      return range(set.dim).map((j) => unit(set.dim, j, Number(set.scale)));
    case "polytope":
      return set.vertices.map((v) => v.map(Number));
    case "box-polytope":
      return set.lower.reduce((all, low, j) => all.flatMap((v) => [[...v, Number(low)], [...v, Number(set.upper[j])]]), [[]]);
    default:
      throw new Refused("W must list its vertices");
  }
}

const distance = (a, b) => a.reduce((sum, x, j) => sum + Math.abs(x - b[j]), 0);
const diameter = (V) => Math.max(...V.flatMap((a) => V.map((b) => distance(a, b))));

// ---- Algorithm 1: the derivative β(m − ū), as an offset from m ----

function oracle(ell, m, q, printed) {
  const width = (q.L0 / q.beta) * (printed ? 2 : 1);
  const size = printed ? 16 * (q.L0 * q.R) ** 2 : q.L0 * q.R, unit = printed ? q.alpha ** 2 : q.alpha;
  const h = (c) => ell.value(m + c) + c * c;
  let a = -width, b = width, best = 0, least = Infinity;
  for (let T = 0; size > unit * 2 ** T; T++) {
    const c = (a + b) / 2;
    const left = printed ? h((c + b) / 2) <= h((a + c) / 2) : ell.slope(m + c) + q.beta * c >= 0;
    if (left) b = c; else a = c;
    if (h(c) < least) [least, best] = [h(c), c];
  }
  return printed ? -q.beta * best : clip((-q.beta * (a + b)) / 2, -q.L0, q.L0);
}

// ---- Algorithm 3 ----

function check(input, V, records, start, T, q) {
  const n = records.length, D = V.length > 1 ? diameter(V) : 0, [eps, delta] = [real(input.epsilon), real(input.delta)];
  require_(n >= 2, "n must be at least 2");
  require_(V.length >= 2 && D > 0, "W must have two different vertices");
  require_(eps > 0 && delta > 0 && delta < 1, "epsilon > 0 and 0 < delta < 1");
  require_(T === null || T >= 1, "T must be at least 1");
  require_(start.length === V[0].length, "dimension of w1");
  require_(input.set.type !== "l1-polytope" || distance(start, start.map(() => 0)) <= Number(input.set.radius), "w1 must lie in W");
  for (const z of records) {
    require_(z.x.length === V[0].length, "dimension of x");
    require_(Math.max(...z.x.map(Math.abs)) <= q.R, "features are longer than R");
    require_(z.ell.L <= q.L0, "the loss is steeper than L0");
  }
  return D;
}

function frankWolfe({ variant, input, draws }) {
  if (variant === "tight") throw new Unsupported("the tight variant");
  const V = vertices(input.set), J = V.length;
  const records = input.dataset.map((z) => ({ x: z.x.map(Number), ell: loss(input.loss, Number(z.y)) }));
  const n = records.length, eps = real(input.epsilon), L = Math.log(1 / real(input.delta));
  const q = { L0: real(input.L0), R: real(input.R), beta: real(input.beta), alpha: real(input.alpha) };
  const start = input.start === null ? V[0] : input.start.map(Number);
  const D = check(input, V, records, start, input.T, q);
  q.beta ??= (q.L0 * Math.sqrt(n * eps)) / (q.R * D * L ** 0.25 * Math.sqrt(Math.log(J) * Math.log(n)));
  q.alpha ??= (variant === "printed" ? 1 : q.L0 * q.R) / (n * Math.log(n));
  const trace = [];
  const mark = (name, value, ...index) => { trace.push({ name, index, value }); return value; };
  let w = mark("w", start, 1), before = w;                                                              // L1
  const T = mark("T", input.T ?? Math.max(1, Math.floor((n * eps) / (Math.log(J) * Math.log(n) * Math.sqrt(L)) + 0.5))); // L2
  const s = mark("s", (3 * q.L0 * q.R * D * Math.sqrt(8 * T * L)) / (n * eps));                         // L3
  for (let t = 1; t <= T; t++) {                                                                        // L4
    const c = records.map((z) => oracle(z.ell, dot(w, z.x), q, input.oracle === "printed"));
    const gradient = mark("gradient", w.map((_, j) => records.reduce((sum, z, i) => sum + c[i] * z.x[j], 0) / n), t); // L5
    const b = mark("b", draws[`b[${t}]`].values.map((x) => s * Number(x)), t);                          // L6
    const scores = V.map((v, i) => dot(v, gradient) + b[i]);
    const v = mark("v", scores.indexOf(Math.min(...scores)), t);                                        // L7
    const mu = 3 / (t + 2);
    [before, w] = [w, mark("w", w.map((x, j) => (1 - mu) * x + mu * V[v][j]), t + 1)];                  // L8
  }
  const output = mark("output", variant === "printed" ? before : w);                                    // L9
  return { trace, output: { w: output } };
}

// ---- JSON lines ----

require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { case: request } = JSON.parse(line);
  let reply;
  try {
    reply = frankWolfe(request);
  } catch (error) {
    if (error instanceof Refused) reply = { reject: error.message };
    else if (error instanceof Unsupported) reply = { unsupported: error.message };
    else throw error;
  }
  console.log(JSON.stringify({ id: request.id, ...reply }));
});
