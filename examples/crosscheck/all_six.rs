//! The six algorithms of the test vectors in Rust, from reference/vectors/SPEC.md; no crate is needed.
//!
//!     rustc --edition 2021 -O -o client examples/crosscheck/all_six.rs
//!     dpso crosscheck phased-sgd --exec ./client
//!
//! Algorithm 1 searches in positions (a, b and m_t are points of the line), and sums are taken term by term, in the
//! order of the data: a plain transcription, as somebody would write it who knows the paper and not the reference.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};

// ------------------------------------------------------------------------------------------------------ JSON

#[derive(Clone, Debug)]
enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn skip(&mut self) -> u8 {
        while self.at < self.text.len() && self.text[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
        *self.text.get(self.at).unwrap_or(&0)
    }

    fn value(&mut self) -> Json {
        match self.skip() {
            b'{' => {
                let mut found = BTreeMap::new();
                self.at += 1;
                while self.skip() != b'}' {
                    let Json::Text(name) = self.value() else { panic!("a name is due") };
                    self.skip();
                    self.at += 1; // the colon
                    found.insert(name, self.value());
                    if self.skip() == b',' {
                        self.at += 1;
                    }
                }
                self.at += 1;
                Json::Object(found)
            }
            b'[' => {
                let mut found = Vec::new();
                self.at += 1;
                while self.skip() != b']' {
                    found.push(self.value());
                    if self.skip() == b',' {
                        self.at += 1;
                    }
                }
                self.at += 1;
                Json::List(found)
            }
            b'"' => {
                let mut found = Vec::new();
                self.at += 1;
                while self.text[self.at] != b'"' {
                    if self.text[self.at] == b'\\' {
                        self.at += 1; // nothing that is computed with has an escape
                    }
                    found.push(self.text[self.at]);
                    self.at += 1;
                }
                self.at += 1;
                Json::Text(String::from_utf8_lossy(&found).into_owned())
            }
            _ => {
                let from = self.at;
                while self.at < self.text.len() && !b",]} \t\r\n".contains(&self.text[self.at]) {
                    self.at += 1;
                }
                match std::str::from_utf8(&self.text[from..self.at]).unwrap() {
                    "null" => Json::Null,
                    "true" => Json::Bool(true),
                    "false" => Json::Bool(false),
                    number => Json::Number(number.parse().expect("a number")),
                }
            }
        }
    }
}

impl Json {
    fn get(&self, name: &str) -> &Json {
        match self {
            Json::Object(fields) => fields.get(name).unwrap_or(&Json::Null),
            _ => &Json::Null,
        }
    }
    fn is_null(&self) -> bool {
        matches!(self, Json::Null)
    }
    fn real(&self) -> f64 {
        match self {
            Json::Number(x) => *x,
            Json::Text(text) if text == "inf" => f64::INFINITY,
            Json::Text(text) => text.parse().expect("a number"),
            _ => panic!("no number"),
        }
    }
    fn real_or(&self, default: f64) -> f64 {
        if self.is_null() {
            default
        } else {
            self.real()
        }
    }
    fn count(&self) -> i64 {
        self.real() as i64
    }
    fn list(&self) -> &[Json] {
        match self {
            Json::List(entries) => entries,
            _ => &[],
        }
    }
    fn reals(&self) -> Vector {
        self.list().iter().map(Json::real).collect()
    }
    fn text(&self) -> &str {
        match self {
            Json::Text(text) => text,
            _ => "",
        }
    }
    fn yes(&self) -> bool {
        matches!(self, Json::Bool(true))
    }
}

/// Why a case gets no output.
enum Stop {
    Refused(String),
    NotOffered(String),
}

type Answer<T> = Result<T, Stop>;
type Vector = Vec<f64>;

fn need(good: bool, what: &str) -> Answer<()> {
    if good {
        Ok(())
    } else {
        Err(Stop::Refused(what.to_string()))
    }
}

/// The events of a run, as JSON text.
#[derive(Default)]
struct Trace(Vec<String>);

impl Trace {
    fn mark(&mut self, name: &str, index: &[i64], value: String) {
        self.0.push(format!("{{\"name\":\"{name}\",\"index\":{index:?},\"value\":{value}}}"));
    }
    fn real(&mut self, name: &str, index: &[i64], x: f64) -> f64 {
        self.mark(name, index, format!("{x:e}"));
        x
    }
    fn vector(&mut self, name: &str, index: &[i64], v: &[f64]) {
        self.mark(name, index, array(v));
    }
}

fn array(v: &[f64]) -> String {
    let entries: Vec<String> = v.iter().map(|x| format!("{x:e}")).collect();
    format!("[{}]", entries.join(","))
}

// --------------------------------------------------------------------------------------------------- vectors

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// s·a + t·b.
fn mix(s: f64, a: &[f64], t: f64, b: &[f64]) -> Vector {
    a.iter().zip(b).map(|(x, y)| s * x + t * y).collect()
}

fn scaled(s: f64, a: &[f64]) -> Vector {
    a.iter().map(|x| s * x).collect()
}

fn norm(a: &[f64], p: f64) -> f64 {
    if p.is_infinite() {
        a.iter().fold(0.0, |most, x| f64::max(most, x.abs()))
    } else if p == 2.0 {
        dot(a, a).sqrt()
    } else {
        a.iter().map(|x| x.abs().powf(p)).sum::<f64>().powf(1.0 / p)
    }
}

/// sgn(a)·|a|^e, and 0 for 0.
fn power(a: f64, e: f64) -> f64 {
    if a == 0.0 {
        0.0
    } else {
        a.signum() * a.abs().powf(e)
    }
}

fn dual(p: f64) -> f64 {
    if p == 1.0 {
        f64::INFINITY
    } else if p.is_infinite() {
        1.0
    } else {
        p / (p - 1.0)
    }
}

fn first_least(scores: &[f64]) -> usize {
    let mut best = 0;
    for (i, s) in scores.iter().enumerate() {
        if *s < scores[best] {
            best = i;
        }
    }
    best
}

// ------------------------------------------------------------------------------------------------------ sets

enum Shape {
    Ball { centre: Vector, radius: f64, s: f64 },
    Box { lower: Vector, upper: Vector },
    Simplex { dim: usize, scale: f64 },
    Space { dim: usize },
    Hull,
}

struct Set {
    shape: Shape,
    /// Empty where the set lists none.
    vertices: Vec<Vector>,
}

impl Set {
    fn new(data: &Json) -> Set {
        let dim = data.get("dim").real_or(0.0) as usize;
        let mut vertices = Vec::new();
        let shape = match data.get("type").text() {
            "l2-ball" | "lp-ball" => {
                let s = data.get("p").real_or(2.0);
                Shape::Ball { centre: data.get("centre").reals(), radius: data.get("radius").real(), s }
            }
            kind @ ("box" | "box-polytope") => {
                let (lower, upper) = (data.get("lower").reals(), data.get("upper").reals());
                if kind == "box-polytope" {
                    for corner in 0..1usize << lower.len() {
                        let d = lower.len();
                        let up = |j: usize| corner >> (d - 1 - j) & 1 == 1;
                        vertices.push((0..d).map(|j| if up(j) { upper[j] } else { lower[j] }).collect());
                    }
                }
                Shape::Box { lower, upper }
            }
            "simplex" => {
                let scale = data.get("scale").real();
                for j in 0..dim {
                    vertices.push((0..dim).map(|i| if i == j { scale } else { 0.0 }).collect());
                }
                Shape::Simplex { dim, scale }
            }
            "l1-polytope" => {
                let radius = data.get("radius").real();
                for sign in [radius, -radius] {
                    for j in 0..dim {
                        vertices.push((0..dim).map(|i| if i == j { sign } else { 0.0 }).collect());
                    }
                }
                Shape::Ball { centre: vec![0.0; dim], radius, s: 1.0 }
            }
            "polytope" => {
                vertices = data.get("vertices").list().iter().map(Json::reals).collect();
                Shape::Hull
            }
            _ => Shape::Space { dim },
        };
        Set { shape, vertices }
    }

    fn unbounded(&self) -> bool {
        matches!(self.shape, Shape::Space { .. })
    }

    fn centre(&self) -> Vector {
        match &self.shape {
            Shape::Ball { centre, .. } => centre.clone(),
            Shape::Box { lower, upper } => lower.iter().zip(upper).map(|(a, b)| (a + b) / 2.0).collect(),
            Shape::Simplex { dim, scale } => vec![scale / *dim as f64; *dim],
            Shape::Space { dim } => vec![0.0; *dim],
            Shape::Hull => {
                let mut sum = vec![0.0; self.vertices[0].len()];
                for v in &self.vertices {
                    sum = mix(1.0, &sum, 1.0, v);
                }
                scaled(1.0 / self.vertices.len() as f64, &sum)
            }
        }
    }

    fn diameter(&self, p: f64) -> f64 {
        match &self.shape {
            Shape::Ball { centre, radius, s } => {
                let d = centre.len() as f64;
                2.0 * radius * f64::max(1.0, d.powf(1.0 / p - 1.0 / s))
            }
            Shape::Box { lower, upper } => norm(&mix(1.0, upper, -1.0, lower), p),
            Shape::Simplex { dim, scale } if *dim > 1 => 2f64.powf(1.0 / p) * scale,
            Shape::Hull => {
                let mut most = 0.0;
                for v in &self.vertices {
                    for w in &self.vertices {
                        most = f64::max(most, norm(&mix(1.0, v, -1.0, w), p));
                    }
                }
                most
            }
            _ => 0.0,
        }
    }

    /// Whether a point lies in the set, up to rounding; hulls are not asked.
    fn has(&self, w: &[f64]) -> bool {
        let slack = 1e-12;
        match &self.shape {
            Shape::Ball { centre, radius, s } => norm(&mix(1.0, w, -1.0, centre), *s) <= radius * (1.0 + slack),
            Shape::Box { lower, upper } => (0..w.len()).all(|j| lower[j] - slack <= w[j] && w[j] <= upper[j] + slack),
            Shape::Simplex { scale, .. } => {
                w.iter().all(|x| *x >= 0.0) && (w.iter().sum::<f64>() - scale).abs() <= slack * scale
            }
            _ => true,
        }
    }

    fn project(&self, w: &[f64]) -> Answer<Vector> {
        Ok(match &self.shape {
            Shape::Space { .. } => w.to_vec(),
            Shape::Box { lower, upper } => (0..w.len()).map(|j| w[j].max(lower[j]).min(upper[j])).collect(),
            Shape::Simplex { scale, .. } => on_simplex(w, *scale),
            Shape::Ball { centre, radius, s } => {
                let away = mix(1.0, w, -1.0, centre);
                if norm(&away, *s) <= *radius {
                    w.to_vec()
                } else if *s == 2.0 {
                    mix(1.0, centre, radius / norm(&away, 2.0), &away)
                } else if *s == 1.0 {
                    let sizes: Vector = away.iter().map(|x| x.abs()).collect();
                    let kept = on_simplex(&sizes, *radius);
                    (0..w.len()).map(|j| centre[j] + kept[j].copysign(away[j])).collect()
                } else if s.is_infinite() {
                    (0..w.len()).map(|j| centre[j] + away[j].max(-radius).min(*radius)).collect()
                } else {
                    return Err(Stop::NotOffered(format!("projection on an ℓ_{s} ball")));
                }
            }
            Shape::Hull => return Err(Stop::NotOffered("projection on a polytope".into())),
        })
    }

    fn minimiser(&self, g: &[f64]) -> Vector {
        match &self.shape {
            _ if !self.vertices.is_empty() => {
                let scores: Vector = self.vertices.iter().map(|v| dot(v, g)).collect();
                self.vertices[first_least(&scores)].clone()
            }
            Shape::Box { lower, upper } => (0..g.len()).map(|j| if g[j] < 0.0 { upper[j] } else { lower[j] }).collect(),
            Shape::Ball { centre, radius, s } if g.iter().any(|x| *x != 0.0) => {
                if *s == 1.0 {
                    let sizes: Vector = g.iter().map(|x| -x.abs()).collect();
                    let mut found = centre.clone();
                    let j = first_least(&sizes);
                    found[j] -= radius * g[j].signum();
                    return found;
                }
                let q = dual(*s);
                let size = norm(g, q);
                (0..g.len()).map(|j| centre[j] - radius * power(g[j] / size, q - 1.0)).collect()
            }
            _ => self.centre(),
        }
    }
}

/// The point of the simplex {v ≥ 0, Σv = scale} next to w.
fn on_simplex(w: &[f64], scale: f64) -> Vector {
    if w.iter().all(|x| *x >= 0.0) && w.iter().sum::<f64>() == scale {
        return w.to_vec();
    }
    let mut sorted = w.to_vec();
    sorted.sort_by(|a, b| b.partial_cmp(a).unwrap());
    let (mut sum, mut shift) = (0.0, 0.0);
    for (i, x) in sorted.iter().enumerate() {
        sum += x;
        let candidate = (sum - scale) / (i + 1) as f64;
        if x - candidate > 0.0 {
            shift = candidate;
        }
    }
    w.iter().map(|x| f64::max(x - shift, 0.0)).collect()
}

// ---------------------------------------------------------------------------------------------------- losses

/// A convex loss of one variable: Algorithms 1 to 3.
struct Loss {
    family: String,
    a: f64,
    kinks: Vector,
    slopes: Vector,
    y: f64,
}

impl Loss {
    fn new(data: &Json, y: f64) -> Loss {
        let family = data.get("family").text().to_string();
        let a = data.get("tau").real_or(data.get("width").real_or(0.0));
        let (kinks, slopes) = match family.as_str() {
            "absolute" => (vec![y], vec![-1.0, 1.0]),
            "hinge" if y > 0.0 => (vec![1.0 / y], vec![-y, 0.0]),
            "hinge" if y < 0.0 => (vec![1.0 / y], vec![0.0, -y]),
            "hinge" => (vec![], vec![0.0]),
            "quantile" => (vec![y], vec![-a, 1.0 - a]),
            "epsilon-insensitive" => (vec![y - a, y + a], vec![-1.0, 0.0, 1.0]),
            "piecewise-linear" => (data.get("kinks").reals(), data.get("slopes").reals()),
            _ => (vec![], vec![]),
        };
        Loss { family, a, kinks, slopes, y }
    }

    fn value(&self, u: f64) -> f64 {
        let (a, y) = (self.a, self.y);
        match self.family.as_str() {
            "absolute" => (u - y).abs(),
            "hinge" => f64::max(0.0, 1.0 - y * u),
            "quantile" => f64::max(a * (y - u), (1.0 - a) * (u - y)),
            "epsilon-insensitive" => f64::max(0.0, (u - y).abs() - a),
            "huber" => {
                let t = (u - y).abs();
                let s = t.min(a);
                s * s / 2.0 + a * (t - s)
            }
            "logistic" => {
                let z = -y * u;
                z.max(0.0) + (-z.abs()).exp().ln_1p()
            }
            _ => {
                // continuous, 0 at the first kink
                let mut sum = self.slopes[0] * (u - self.kinks[0]).min(0.0);
                for (i, k) in self.kinks.iter().enumerate() {
                    let end = self.kinks.get(i + 1).copied().unwrap_or(f64::INFINITY);
                    sum += self.slopes[i + 1] * (u.min(end) - k).max(0.0);
                }
                sum
            }
        }
    }

    /// The subgradient nearest 0.
    fn slope(&self, u: f64) -> f64 {
        match self.family.as_str() {
            "huber" => (u - self.y).max(-self.a).min(self.a),
            "logistic" => -self.y / (1.0 + (self.y * u).exp()),
            _ => {
                let left = self.slopes[self.kinks.iter().filter(|k| **k < u).count()];
                let right = self.slopes[self.kinks.iter().filter(|k| **k <= u).count()];
                if left <= 0.0 && right >= 0.0 {
                    0.0
                } else if left.abs() < right.abs() {
                    left
                } else {
                    right
                }
            }
        }
    }

    fn lipschitz(&self) -> f64 {
        match self.family.as_str() {
            "huber" => self.a,
            "logistic" => self.y.abs(),
            _ => norm(&self.slopes, f64::INFINITY),
        }
    }

    fn checked(self, l0: f64) -> Answer<Loss> {
        need(self.slopes.windows(2).all(|pair| pair[0] <= pair[1]), "the loss is not convex")?;
        need(self.lipschitz() <= l0, "Lipschitz: the loss is steeper than L0")?;
        Ok(self)
    }
}

/// φ'_y(t) of Algorithms 4 and 5, the subgradient h'_y(t) of Algorithm 6.
fn derivative(loss: &Json, t: f64, y: f64) -> f64 {
    let sign = |x: f64| if x == 0.0 { 0.0 } else { x.signum() };
    match loss.get("family").text() {
        "sigmoid" => {
            let e = (-(y * t).abs()).exp();
            -y * e / ((1.0 + e) * (1.0 + e))
        }
        "geman-mcclure" => {
            let width = loss.get("width").real();
            let s = (t - y) / width;
            2.0 * s / ((1.0 + s * s) * (1.0 + s * s) * width)
        }
        "squared-tanh" => 2.0 * (t.tanh() - y) * (1.0 - t.tanh() * t.tanh()),
        "signed-quadratic" => y * loss.get("curvature").real() * t,
        "robust-phase-retrieval" => 2.0 * t * sign(t * t - y),
        "tanh-regression" => sign(t.tanh() - y) * (1.0 - t.tanh() * t.tanh()),
        _ => -loss.get("curvature").real() * t,
    }
}

struct Record {
    x: Vector,
    y: f64,
}

fn records(data: &Json) -> Vec<Record> {
    let rows = data.get("dataset").list().iter();
    rows.map(|z| Record { x: z.get("x").reals(), y: z.get("y").real() }).collect()
}

/// Σ ∇f(w, z) over a batch.
fn total(loss: &Json, w: &[f64], data: &[Record], batch: &[usize]) -> Vector {
    let mut sum = vec![0.0; w.len()];
    for i in batch {
        let z = &data[*i];
        sum = mix(1.0, &sum, derivative(loss, dot(&z.x, w), z.y), &z.x);
    }
    sum
}

// ------------------------------------------------------------------------------------- constants, section 11

extern "C" {
    fn erfc(x: f64) -> f64;
}

const RAISED: f64 = 1.0 + 1.0 / (1u64 << 38) as f64;

fn phi(x: f64) -> f64 {
    unsafe { erfc(-x / std::f64::consts::SQRT_2) / 2.0 }
}

/// The point of (low, high) at which `above` turns from false to true.
fn turn(mut low: f64, mut high: f64, above: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..2000 {
        let middle = (low + high) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        if above(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

fn mu_star(eps: f64, delta: f64) -> f64 {
    let profile = |mu: f64| phi(-eps / mu + mu / 2.0) - (eps.exp() * phi(-eps / mu - mu / 2.0));
    turn(0.0, 1e3, |mu| profile(mu) >= delta)
}

fn rho_star(eps: f64, delta: f64) -> f64 {
    let rho = |u: f64| (eps + (1.0 / u).ln_1p()) / (2.0 * u + 1.0);
    let u = turn(0.0, 1e9, |u| -rho(u) * u * u - u.ln_1p() <= delta.ln());
    rho(u)
}

fn eps0_star(eps: f64, delta: f64, t: i64) -> f64 {
    let reached = |e: f64| {
        let (mut sum, mut choose) = (0.0, 1.0);
        for i in 0..=t {
            let power = i as f64 * e - t as f64 * e.exp().ln_1p();
            let other = eps + (t - 2 * i) as f64 * e;
            if other < 0.0 {
                sum += choose * power.exp() * -other.exp_m1();
            }
            choose *= (t - i) as f64 / (i + 1) as f64;
        }
        sum
    };
    turn(eps / t as f64, eps + 100.0, |e| reached(e) > delta)
}

// ----------------------------------------------------------------------------------------------- Algorithm 1

struct Oracle {
    beta: f64,
    alpha: f64,
    l0: f64,
    r: f64,
    limits: Option<(f64, f64)>,
    printed: bool,
}

impl Oracle {
    fn checked(self) -> Answer<Oracle> {
        need(self.beta > 0.0, "beta must be positive")?;
        need(self.l0 > 0.0, "L0 must be positive")?;
        need(self.r > 0.0, "R must be positive")?;
        need(self.alpha > 0.0 && self.alpha < 4.0 * self.l0 * self.r, "alpha must lie in (0, 4·L0·R)")?;
        Ok(self)
    }

    /// (m, ū)
    fn search(&self, loss: &Loss, w: &[f64], x: &[f64], trace: &mut Trace) -> Answer<(f64, f64)> {
        let m = trace.real("m", &[], dot(w, x));
        let radius = self.l0 / self.beta * if self.printed { 2.0 } else { 1.0 };
        let (low, high) = self.limits.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        let (mut a, mut b) = (f64::max(low, m - radius), f64::min(high, m + radius));
        need(a <= b, "M does not meet the interval of line 2")?;
        trace.real("a", &[], a);
        trace.real("b", &[], b);
        let mut steps = 0i64;
        let lr = self.l0 * self.r;
        while if self.printed {
            16.0 * lr * lr > 2f64.powi(steps as i32) * self.alpha * self.alpha
        } else {
            lr > 2f64.powi(steps as i32) * self.alpha
        } {
            steps += 1;
        }
        trace.mark("T", &[], steps.to_string());
        let h = |u: f64| loss.value(u) + (u - m) * (u - m);
        let mut tested: Vec<f64> = Vec::new();
        for t in 1..=steps {
            let middle = trace.real("m_t", &[t], (a + b) / 2.0);
            let left = if self.printed {
                h((middle + b) / 2.0) <= h((a + middle) / 2.0)
            } else {
                loss.slope(middle) + self.beta * (middle - m) >= 0.0
            };
            trace.mark("keep", &[t], if left { "\"left\"" } else { "\"right\"" }.into());
            if left {
                b = middle;
            } else {
                a = middle;
            }
            tested.push(middle);
        }
        let u = if self.printed {
            let values: Vector = tested.iter().map(|u| h(*u)).collect();
            tested[first_least(&values)]
        } else {
            (a + b) / 2.0
        };
        trace.real("u", &[], u);
        Ok((m, u))
    }

    fn clipped(&self, derivative: f64) -> f64 {
        if self.printed {
            derivative
        } else {
            derivative.max(-self.l0).min(self.l0)
        }
    }

    fn gradient(&self, loss: &Loss, w: &[f64], x: &[f64]) -> Answer<Vector> {
        let (m, u) = self.search(loss, w, x, &mut Trace::default())?;
        Ok(scaled(self.clipped(self.beta * (m - u)), x))
    }
}

fn gll_oracle(q: &Json, variant: &str, trace: &mut Trace) -> Answer<String> {
    let l0 = q.get("L0").real();
    let limits = q.get("M").reals();
    let oracle = Oracle {
        beta: q.get("beta").real(),
        alpha: q.get("alpha").real(),
        l0,
        r: q.get("R").real(),
        limits: if limits.is_empty() { None } else { Some((limits[0], limits[1])) },
        printed: variant == "printed",
    }
    .checked()?;
    let (w, x) = (q.get("w").reals(), q.get("x").reals());
    need(w.len() == x.len(), "the dimension of w and x differs")?;
    let loss = Loss::new(q.get("loss"), q.get("y").real()).checked(l0)?;
    let (m, u) = oracle.search(&loss, &w, &x, trace)?;
    let found = oracle.clipped(oracle.beta * (m - u));
    let gradient = array(&scaled(found, &x));
    trace.mark("output", &[], gradient.clone());
    Ok(format!("{{\"gradient\":{gradient},\"derivative\":{:e},\"u\":{u:e}}}", oracle.beta * (m - u)))
}

// ----------------------------------------------------------------------------------------- Algorithms 2 and 3

fn privacy(q: &Json) -> Answer<(f64, f64)> {
    let (eps, delta) = (q.get("epsilon").real(), q.get("delta").real());
    need(eps > 0.0, "epsilon must be positive")?;
    need(delta > 0.0 && delta < 1.0, "delta must lie in (0, 1)")?;
    Ok((eps, delta))
}

/// The losses of the records, after the refusals of Algorithms 2 and 3.
fn admitted(q: &Json, data: &[Record], d: usize, p: f64) -> Answer<Vec<Loss>> {
    let (l0, r) = (q.get("L0").real(), q.get("R").real());
    let mut found = Vec::new();
    for (i, z) in data.iter().enumerate() {
        need(z.x.len() == d, "the dimension of a record differs from that of W")?;
        need(norm(&z.x, p) <= r, &format!("record {i} is longer than R"))?;
        found.push(Loss::new(q.get("loss"), z.y).checked(l0)?);
    }
    Ok(found)
}

fn start(q: &Json, set: &Set, default: Vector, name: &str) -> Answer<Vector> {
    let given = q.get("start").reals();
    let w = if given.is_empty() { default } else { given };
    if !given_nothing(q) {
        need(w.len() == set.centre().len(), "the dimension of start differs from that of W")?;
        need(set.has(&w), &format!("{name}: the start is outside of W"))?;
    }
    Ok(w)
}

fn given_nothing(q: &Json) -> bool {
    q.get("start").is_null()
}

fn phased_sgd(q: &Json, draws: &Json, variant: &str, trace: &mut Trace) -> Answer<String> {
    let (printed, tight) = (variant == "printed", variant == "tight");
    let (set, data) = (Set::new(q.get("set")), records(q));
    let n = data.len();
    need(n >= 2, "n must be 2 or more")?;
    need(!printed || n.is_power_of_two(), "n must be a power of two")?;
    let (eps, delta) = privacy(q)?;
    let l = (1.0 / delta).ln();
    need(eps <= l.sqrt(), "epsilon is larger than √ln(1/δ)")?;
    let w0 = start(q, &set, set.centre(), "w0")?;
    let d = w0.len();
    let losses = admitted(q, &data, d, 2.0)?;
    let (l0, r) = (q.get("L0").real(), q.get("R").real());
    let g = l0 * r;
    let diameter = q.get("D").real_or(if set.unbounded() { 1.0 } else { set.diameter(2.0) });
    need(diameter > 0.0, "D must be positive")?;
    let rank = q.get("rank").real_or(n as f64);
    need(rank >= 1.0, "rank must be 1 or more")?;
    let nf = n as f64;
    let within = if printed { 1.0 } else { diameter };
    let beta = trace.real("beta", &[], q.get("beta").real_or(nf.sqrt() * l0 / (r * within)));
    let alpha = trace.real("alpha", &[], q.get("alpha").real_or(g / (nf * nf.ln())));
    let printed_oracle = q.get("oracle").text() == "printed";
    let oracle = Oracle { beta, alpha, l0, r, limits: None, printed: printed_oracle }.checked()?;
    let mut w = w0;
    trace.vector("w_tilde", &[0], &w);
    let rho = trace.real("rho", &[], eps / (2.0 * l.sqrt()));
    let phases = n.ilog2() as i64;
    trace.mark("K", &[], phases.to_string());
    let first = q.get("average").text() == "first";
    let eta = if q.get("step").text() == "tuned" {
        need(!set.unbounded(), "D: a tuned step needs a bounded set")?;
        let (mu, c) = (mu_star(eps, delta), if first { 1.0 / 6.0 } else { 0.5 });
        let grown = RAISED * (1.0 + 1.0 / (4.0 * nf.ln()));
        2.0 * diameter / g / (16.0 * d as f64 * grown * grown / (mu * mu) + c * nf).sqrt()
    } else if set.unbounded() {
        f64::min(rho / rank.sqrt(), 1.0 / nf.sqrt()) / (3.0 * g)
    } else {
        diameter / (3.0 * g) * f64::min(rho / (d as f64).sqrt(), 1.0 / nf.sqrt())
    };
    trace.real("eta", &[], eta);
    let mut s = 1usize;
    for k in 1..=phases {
        let steps = n >> k;
        trace.mark("T", &[k], steps.to_string());
        let eta_k = trace.real("eta", &[k], eta / 4f64.powi(k as i32));
        let mut u = if printed { w.clone() } else { set.project(&w)? };
        trace.vector("u", &[k, 0], &u);
        let mut sum = vec![0.0; d];
        for t in 1..=steps {
            let z = s + t - 2; // records are counted from 1
            if first {
                sum = mix(1.0, &sum, 1.0, &u);
            }
            let gradient = oracle.gradient(&losses[z], &u, &data[z].x)?;
            u = set.project(&mix(1.0, &u, if printed { eta_k } else { -eta_k }, &gradient))?;
            trace.vector("u", &[k, t as i64], &u);
            if !first {
                sum = mix(1.0, &sum, 1.0, &u);
            }
        }
        let mean = scaled(1.0 / steps as f64, &sum);
        trace.vector("w", &[k], &mean);
        let tf = steps as f64;
        let sigma = if tight {
            let reach = if first {
                (tf - 1.0) / tf * (g + alpha * (tf - 2.0).max(0.0) / 2.0)
            } else {
                g + alpha * (tf - 1.0) / 2.0
            };
            RAISED * 2.0 * eta_k * reach / mu_star(eps, delta)
        } else {
            4.0 * g * eta_k / rho
        };
        trace.real("sigma", &[k], sigma);
        w = mix(1.0, &mean, sigma, &draws.get(&format!("xi[{k}]")).get("values").reals());
        trace.vector("w_tilde", &[k], &w);
        s += steps;
        trace.mark("s", &[k], s.to_string());
    }
    let w = if printed { w } else { set.project(&w)? };
    trace.vector("output", &[], &w);
    Ok(format!("{{\"w\":{}}}", array(&w)))
}

fn noisy_frank_wolfe(q: &Json, draws: &Json, variant: &str, trace: &mut Trace) -> Answer<String> {
    let printed = variant == "printed";
    let (set, data) = (Set::new(q.get("set")), records(q));
    let n = data.len();
    need(n >= 2, "n must be 2 or more")?;
    need(!set.vertices.is_empty(), "W lists no vertices")?;
    let vertices = set.vertices.len();
    need(vertices >= 2, "J must be 2 or more")?;
    let (eps, delta) = privacy(q)?;
    let (nf, jf, l) = (n as f64, vertices as f64, (1.0 / delta).ln());
    let w0 = start(q, &set, set.vertices[0].clone(), "w1")?;
    let losses = admitted(q, &data, w0.len(), f64::INFINITY)?;
    let (l0, r) = (q.get("L0").real(), q.get("R").real());
    let g = l0 * r;
    let diameter = trace.real("D", &[], set.diameter(1.0));
    need(diameter > 0.0, "D must be positive")?;
    let theorem = l0 * (nf * eps).sqrt() / (r * diameter * l.powf(0.25) * (jf.ln() * nf.ln()).sqrt());
    let beta = trace.real("beta", &[], q.get("beta").real_or(theorem));
    let above = if printed { 1.0 } else { g };
    let alpha = trace.real("alpha", &[], q.get("alpha").real_or(above / (nf * nf.ln())));
    let printed_oracle = q.get("oracle").text() == "printed";
    let oracle = Oracle { beta, alpha, l0, r, limits: None, printed: printed_oracle }.checked()?;
    let steps = if q.get("T").is_null() {
        i64::max(1, (nf * eps / (jf.ln() * nf.ln() * l.sqrt()) + 0.5).floor() as i64)
    } else {
        q.get("T").count()
    };
    need(steps >= 1, "T must be 1 or more")?;
    let mut w = w0;
    trace.vector("w", &[1], &w);
    trace.mark("T", &[], steps.to_string());
    let gumbel = q.get("noise").text() == "gumbel";
    let s = if variant == "tight" {
        let move_ = RAISED * 2.0 * diameter * g / nf;
        let pure = move_ / eps0_star(eps, delta, steps);
        if gumbel {
            f64::min(pure, move_ * (steps as f64 / (8.0 * rho_star(eps, delta))).sqrt())
        } else {
            pure
        }
    } else {
        3.0 * g * diameter * (8.0 * steps as f64 * l).sqrt() / (nf * eps)
    };
    trace.real("s", &[], s);
    let mut before = w.clone();
    for t in 1..=steps {
        let mut sum = vec![0.0; w.len()];
        for (loss, z) in losses.iter().zip(&data) {
            sum = mix(1.0, &sum, 1.0, &oracle.gradient(loss, &w, &z.x)?);
        }
        let gradient = scaled(1.0 / nf, &sum);
        trace.vector("gradient", &[t], &gradient);
        let noise = draws.get(&format!("b[{t}]")).get("values").reals();
        let noise = scaled(if gumbel { -s } else { s }, &noise);
        trace.vector("b", &[t], &noise);
        let mut scores: Vector = (0..vertices).map(|v| dot(&set.vertices[v], &gradient) + noise[v]).collect();
        let v = first_least(&scores);
        trace.mark("v", &[t], v.to_string());
        let least = scores.remove(v);
        trace.real("margin", &[t], scores.iter().fold(f64::INFINITY, |m, x| m.min(x - least)));
        let mu = 3.0 / (t + 2) as f64;
        before = w.clone();
        w = mix(1.0 - mu, &w, mu, &set.vertices[v]);
        trace.vector("w", &[t + 1], &w);
    }
    let found = if printed { before } else { w };
    trace.vector("output", &[], &found);
    Ok(format!("{{\"w\":{}}}", array(&found)))
}

// ----------------------------------------------------------------------------------------- Algorithms 4 and 5

fn eta(t: i64) -> f64 {
    1.0 / ((t + 1) as f64).sqrt()
}

/// Consecutive slices of the permutation.
struct Batches {
    order: Vec<usize>,
    at: usize,
}

impl Batches {
    fn take(&mut self, size: i64, index: [i64; 2], trace: &mut Trace) -> Vec<usize> {
        let found = self.order[self.at..self.at + size as usize].to_vec();
        self.at += size as usize;
        trace.mark("batch", &index, format!("{found:?}"));
        found
    }
}

fn ceiling(b: i64, t: i64) -> i64 {
    (b + t) / (t + 1)
}

struct Stochastic {
    set: Set,
    data: Vec<Record>,
    l0: f64,
    l1: f64,
    p: f64,
    eps: f64,
    delta: f64,
    diameter: f64,
    b: i64,
    w: Vector,
}

/// What Algorithms 4 and 5 share: their inputs, and what they refuse.
fn stochastic(q: &Json, variant: &str, needs_vertices: bool, trace: &mut Trace) -> Answer<Stochastic> {
    let (set, data) = (Set::new(q.get("set")), records(q));
    let (b, n, p) = (q.get("b").count(), data.len() as i64, q.get("p").real());
    let tight = variant == "tight";
    if tight {
        let iterates = q.get("T").count();
        need(iterates >= 2, "T must be 2 or more")?;
        need((0..iterates - 1).map(|t| ceiling(b, t)).sum::<i64>() <= n, "n is too small for the batches")?;
    } else {
        let rounds = q.get("rounds").count();
        need(rounds >= 1, "R must be 1 or more")?;
        need(b >= 1 << (rounds - 1), "b must be 2^(R−1) or more")?;
        let due: i64 = if q.get("exact_budget").yes() {
            (0..rounds).map(|r| (0..1 << r).map(|t| ceiling(b, t)).sum::<i64>()).sum()
        } else {
            b * rounds * rounds
        };
        need(due <= n, "n is too small: b·R² records are needed")?;
    }
    let (eps, delta) = (q.get("epsilon").real(), q.get("delta").real());
    need(eps > 0.0, "epsilon must be positive")?;
    let pure = tight && needs_vertices;
    need(delta < 1.0 && (delta > 0.0 || pure && delta == 0.0), "delta must lie in (0, 1)")?;
    if needs_vertices {
        need(!set.vertices.is_empty(), "W lists no vertices")?;
        need(set.vertices.len() >= 2, "J must be 2 or more")?;
    } else {
        need(p > 1.0 && p <= 2.0, "p must lie in (1, 2]")?;
        need(!set.unbounded(), "W must be bounded")?;
    }
    if q.get("loss").get("family").text() != "geman-mcclure" {
        need(data.iter().all(|z| z.y.abs() <= 1.0), "a label y is outside of [−1, 1]")?;
    }
    let w = start(q, &set, set.centre(), "start")?;
    let diameter = trace.real("D", &[], q.get("D").real_or(set.diameter(p)));
    let (l0, l1) = (q.get("L0").real(), q.get("L1").real());
    Ok(Stochastic { set, data, l0, l1, p, eps, delta, diameter, b, w })
}

fn permutation(draws: &Json) -> Batches {
    let order = draws.get("pi[]").get("values").reals().iter().map(|i| *i as usize).collect();
    Batches { order, at: 0 }
}

fn released(draws: &Json, iterates: &[([i64; 2], Vector)], trace: &mut Trace) -> String {
    let hat = draws.get("hat[]").get("values").reals()[0] as usize;
    let (index, w) = &iterates[hat];
    trace.vector("output", index, w);
    format!("{{\"w\":{}}}", array(w))
}

fn noise(draws: &Json, name: &str, index: &[i64]) -> Vector {
    let index: Vec<String> = index.iter().map(i64::to_string).collect();
    draws.get(&format!("{name}[{}]", index.join(","))).get("values").reals()
}

/// c_t of section 8.
fn influence(t: i64, l0: f64, l1: f64, moved: f64) -> f64 {
    if t == 0 {
        l0
    } else {
        (1.0 - eta(t)) * f64::min(l1 * moved, 2.0 * l0) + eta(t) * l0
    }
}

fn poly_sfw(q: &Json, draws: &Json, variant: &str, trace: &mut Trace) -> Answer<String> {
    let Stochastic { set, data, l0, l1, eps, delta, diameter, b, mut w, .. } = stochastic(q, variant, true, trace)?;
    let (loss, printed) = (q.get("loss"), variant == "printed");
    let mut batches = permutation(draws);
    let mut iterates = Vec::new();
    let choose = |gradient: &[f64], noise: &[f64], s: f64| {
        let scores: Vector = (0..noise.len()).map(|v| dot(&set.vertices[v], gradient) + s * noise[v]).collect();
        first_least(&scores)
    };
    trace.vector("w", &[0, 0], &w);
    if variant == "tight" {
        let last = q.get("T").count();
        let gumbel = q.get("noise").text() == "gumbel";
        let (mut most_pure, mut most_square) = (0.0, 0.0);
        for k in 0..=last - 2 {
            let c = influence(k, l0, l1, if k > 0 { diameter * eta(k - 1) } else { 0.0 }) / ceiling(b, k) as f64;
            let (mut product, mut sum, mut squares) = (1.0, 0.0, 0.0);
            for t in k..=last - 2 {
                if t > k {
                    product *= 1.0 - eta(t);
                }
                sum += product;
                squares += product * product;
            }
            most_pure = f64::max(most_pure, c * sum);
            most_square = f64::max(most_square, c * c * squares);
        }
        let pure = 2.0 * diameter * most_pure / eps;
        let s = if delta == 0.0 {
            pure
        } else {
            let h = if gumbel { 8.0 } else { 2.0 };
            f64::min(pure, 2.0 * diameter * (most_square / (h * rho_star(eps, delta))).sqrt())
        } * RAISED;
        trace.real("s", &[0], s);
        iterates.push(([0, 0], w.clone()));
        let mut gradient = vec![0.0; w.len()];
        let mut before = w.clone();
        for t in 0..=last - 2 {
            let batch = batches.take(ceiling(b, t), [0, t], trace);
            let c = 1.0 / batch.len() as f64;
            let now = scaled(c, &total(loss, &w, &data, &batch));
            gradient = if t == 0 {
                now
            } else {
                let then = scaled(c, &total(loss, &before, &data, &batch));
                mix(1.0, &mix(1.0 - eta(t), &gradient, -(1.0 - eta(t)), &then), 1.0, &now)
            };
            trace.vector("grad", &[0, t], &gradient);
            let v = choose(&gradient, &noise(draws, "u", &[t]), if gumbel { -s } else { s });
            trace.mark("v", &[0, t], v.to_string());
            before = w.clone();
            w = mix(1.0 - eta(t), &w, eta(t), &set.vertices[v]);
            trace.vector("w", &[0, t + 1], &w);
            iterates.push(([0, t + 1], w.clone()));
        }
        return Ok(released(draws, &iterates, trace));
    }
    let root = (1.0 / delta).ln().sqrt();
    let root = if printed { root } else { root.max(1.0) };
    for r in 0..q.get("rounds").count() {
        let s = 2.0 * diameter * (l0 + l1 * diameter) * 2f64.powi(r as i32) * root / (b as f64 * eps);
        trace.real("s", &[r], s);
        let (mut gradient, mut before) = (Vec::new(), w.clone());
        for t in 0..1i64 << r {
            let size = if printed { b / (t + 1) } else { ceiling(b, t) };
            let c = if printed { (t + 1) as f64 / b as f64 } else { 1.0 / size as f64 };
            let batch = batches.take(size, [r, t], trace);
            let now = scaled(c, &total(loss, &w, &data, &batch));
            gradient = if t == 0 {
                now
            } else {
                let delta = mix(1.0, &now, -c, &total(loss, &before, &data, &batch));
                trace.vector("Delta", &[r, t], &delta);
                mix(1.0 - eta(t), &mix(1.0, &gradient, 1.0, &delta), eta(t), &now)
            };
            trace.vector("grad", &[r, t], &gradient);
            let v = choose(&gradient, &noise(draws, "u", &[r, t]), s);
            trace.mark("v", &[r, t], v.to_string());
            iterates.push(([r, t], w.clone()));
            before = w.clone();
            w = mix(1.0 - eta(t), &w, eta(t), &set.vertices[v]);
            trace.vector("w", &[r, t + 1], &w);
        }
        trace.vector("w", &[r + 1, 0], &w);
    }
    Ok(released(draws, &iterates, trace))
}

fn noisy_sfw(q: &Json, draws: &Json, variant: &str, trace: &mut Trace) -> Answer<String> {
    let Stochastic { set, data, l0, l1, p, eps, delta, diameter, b, mut w } = stochastic(q, variant, false, trace)?;
    let (loss, printed, d) = (q.get("loss"), variant == "printed", w.len() as f64);
    let factor = d.powf(1.0 / p - 0.5);
    let mu = mu_star(eps, delta);
    let mut batches = permutation(draws);
    let mut iterates = Vec::new();
    trace.vector("w", &[0, 0], &w);
    if variant == "tight" {
        let mut gradient = vec![0.0; w.len()];
        let mut before = w.clone();
        iterates.push(([0, 0], w.clone()));
        for t in 0..=q.get("T").count() - 2 {
            let moved = if t == 0 {
                0.0
            } else if q.get("adaptive").yes() {
                norm(&mix(1.0, &w, -1.0, &before), p)
            } else {
                diameter * eta(t - 1)
            };
            let size = ceiling(b, t);
            let sigma = RAISED * 2.0 * influence(t, l0, l1, moved) * factor / (size as f64 * mu);
            trace.real("sigma", &[0, t], sigma);
            let batch = batches.take(size, [0, t], trace);
            let c = 1.0 / size as f64;
            let now = scaled(c, &total(loss, &w, &data, &batch));
            if t > 0 {
                let then = scaled(c, &total(loss, &before, &data, &batch));
                gradient = mix(1.0 - eta(t), &mix(1.0, &gradient, -1.0, &then), 1.0, &now);
            } else {
                gradient = now;
            }
            gradient = mix(1.0, &gradient, sigma, &noise(draws, "N", &[t]));
            trace.vector("noisy_grad", &[0, t], &gradient);
            let v = set.minimiser(&gradient);
            before = w.clone();
            w = mix(1.0 - eta(t), &w, eta(t), &v);
            trace.vector("w", &[0, t + 1], &w);
            iterates.push(([0, t + 1], w.clone()));
        }
        return Ok(released(draws, &iterates, trace));
    }
    let l = (1.0 / delta).ln();
    let unit = 4.0 * factor * l.sqrt() / (b as f64 * eps);
    let extra = |j: f64| if printed { 1.0 } else { f64::max(1.0, eps * j.sqrt() / (2.0 * l.sqrt() * mu)) };
    for r in 0..q.get("rounds").count() {
        let (mut gradient, mut before) = (Vec::new(), w.clone());
        for t in 0..1i64 << r {
            let grown = (t + 1) as f64;
            let sigma = unit * l0 * if t == 0 { extra(1.0) } else { grown * extra(2.0) };
            trace.real("sigma", &[r, t], sigma);
            let fresh = noise(draws, "N", &[r, t]);
            let size = if printed { b / (t + 1) } else { ceiling(b, t) };
            let c = if printed { grown / b as f64 } else { 1.0 / size as f64 };
            if t == 0 {
                let batch = batches.take(b, [r, 0], trace);
                gradient = mix(1.0 / b as f64, &total(loss, &w, &data, &batch), sigma, &fresh);
            } else {
                let step = if printed { eta(t) } else { eta(t - 1) };
                let sigma_hat = trace.real("sigma_hat", &[r, t], unit * l1 * diameter * step * grown * extra(2.0));
                let batch = batches.take(size, [r, t], trace);
                let g = scaled(c, &total(loss, &w, &data, &batch));
                let change = mix(1.0, &g, -c, &total(loss, &before, &data, &batch));
                trace.vector("Delta", &[r, t], &change);
                trace.vector("g", &[r, t], &g);
                let change = mix(1.0, &change, sigma_hat, &noise(draws, "hatN", &[r, t]));
                trace.vector("noisy_Delta", &[r, t], &change);
                let g = mix(1.0, &g, sigma, &fresh);
                trace.vector("noisy_g", &[r, t], &g);
                gradient = mix(1.0 - eta(t), &mix(1.0, &gradient, 1.0, &change), eta(t), &g);
            }
            trace.vector("noisy_grad", &[r, t], &gradient);
            let v = set.minimiser(&gradient);
            trace.vector("v", &[r, t], &v);
            iterates.push(([r, t], w.clone()));
            before = w.clone();
            w = mix(1.0 - eta(t), &w, eta(t), &v);
            trace.vector("w", &[r, t + 1], &w);
        }
        trace.vector("w", &[r + 1, 0], &w);
    }
    Ok(released(draws, &iterates, trace))
}

// ----------------------------------------------------------------------------------------------- Algorithm 6

fn proximally_guided(q: &Json, draws: &Json, variant: &str, trace: &mut Trace) -> Answer<String> {
    let printed = variant == "printed";
    let (set, data) = (Set::new(q.get("set")), records(q));
    let (n, rounds) = (data.len() as i64, q.get("rounds").count());
    need((1..=n).contains(&rounds), "rounds: R must lie in 1..n")?;
    need(!printed || n % rounds == 0, "n/R must be a whole number")?;
    let (p, rho, l0) = (q.get("p").real(), q.get("rho").real(), q.get("L0").real());
    need((1.0..=2.0).contains(&p), "p must lie in [1, 2]")?;
    let mut w = start(q, &set, set.centre(), "start")?;
    let d = w.len() as f64;
    need(!printed || w.len() > 1, "d must be 2 or more")?;
    need(rho > 0.0, "rho must be positive")?;
    need(l0 > 0.0, "L0 must be positive")?;
    let near = p.max(1.0 + 1.0 / d.ln());
    let bar = if printed && d == 2.0 {
        near
    } else if p == 2.0 || d <= 2.0 {
        2.0
    } else {
        near
    };
    let (dual_bar, kappa) = (dual(bar), 1.0 / (bar - 1.0));
    let c = d.powf(1.0 / p - 1.0 / bar);
    let weak = if printed { rho } else { c * c * rho };
    let beta = q.get("beta").real_or(2.0 * kappa * weak);
    need(beta > kappa * weak, "beta must exceed κ·ρ")?;
    let radius = c * l0 / beta;
    let strong = beta / kappa - weak;
    let rest = if printed { rounds } else { i64::max(1, rounds - 1) };
    let size = n / rest;
    let plan = q.get("plan").list();
    let mut due = 0;
    for (i, phase) in plan.iter().enumerate() {
        let pull = phase.get("lambda").real();
        need(phase.get("n").count() >= 1 && phase.get("T").count() >= 1, "plan: n and T must be 1 or more")?;
        need(pull >= 0.0 && (i > 0 || pull == 0.0), "lambda (lam) must be 0 first, and never negative")?;
        due += phase.get("n").count();
    }
    need(due <= size, "n: the plan needs more records than a batch has")?;
    trace.real("beta", &[], beta);
    trace.vector("w", &[1], &w);
    let mirror = |u: &[f64]| -> Vector {
        let long = norm(u, bar);
        u.iter().map(|x| if long == 0.0 { 0.0 } else { kappa * long * power(x / long, bar - 1.0) }).collect()
    };
    let mut points = vec![w.clone()];
    for r in 1..=if printed { rounds } else { rounds - 1 } {
        let mut at = ((r - 1) * size) as usize;
        trace.mark("batch", &[r], format!("{:?}", (at..at + size as usize).collect::<Vec<_>>()));
        let mut u = vec![0.0; w.len()];
        for (i, phase) in plan.iter().enumerate() {
            let (used, steps) = (phase.get("n").count(), phase.get("T").count());
            let share = &data[at..at + used as usize];
            at += used as usize;
            let i = i as i64 + 1;
            let sigma = 2.0 * l0 * d.powf(1.0 / p - 0.5) / used as f64 * (steps as f64).sqrt() / q.get("mu").real();
            trace.real("sigma", &[r, i], sigma);
            let pull = phase.get("lambda").real() * weak;
            let anchor = mirror(&u);
            for k in 1..=steps {
                let here = mix(1.0, &w, 1.0, &u);
                let mut g = vec![0.0; w.len()];
                for z in share {
                    let one = scaled(derivative(q.get("loss"), dot(&z.x, &here), z.y), &z.x);
                    let long = norm(&one, dual(p));
                    g = mix(1.0, &g, if long > l0 { l0 / long } else { 1.0 }, &one);
                }
                g = scaled(1.0 / used as f64, &g);
                trace.vector("gradient", &[r, i, k], &g);
                let image = mirror(&u);
                let noisy = mix(1.0, &mix(1.0, &g, sigma, &noise(draws, "A", &[r, i, k])), weak, &image);
                let force = strong + pull;
                let theta = mix(force * (k - 1) as f64 / 2.0, &image, pull, &anchor);
                let theta = mix(1.0, &theta, -1.0, &noisy);
                let bend = kappa * force * (k + 1) as f64 / 2.0;
                let long = norm(&theta, dual_bar);
                let tau = if printed { long / bend } else { f64::min(radius, long / bend) };
                u = theta
                    .iter()
                    .map(|x| if long == 0.0 { 0.0 } else { tau * power(x / long, dual_bar - 1.0) })
                    .collect();
                if !set.has(&mix(1.0, &w, 1.0, &u)) {
                    return Err(Stop::NotOffered("a step on which W binds".into()));
                }
                trace.vector("u", &[r, i, k], &u);
            }
        }
        w = mix(1.0, &w, 1.0, &u);
        trace.vector("w", &[r + 1], &w);
        points.push(w.clone());
    }
    let j = draws.get("r[]").get("values").reals()[0] as usize;
    trace.mark("index", &[], (j + 1).to_string());
    trace.vector("output", &[], &points[j]);
    Ok(format!("{{\"w\":{}}}", array(&points[j])))
}

// -------------------------------------------------------------------------------------------------- protocol

fn reply(case: &Json) -> String {
    let (q, draws, variant) = (case.get("input"), case.get("draws"), case.get("variant").text());
    let mut trace = Trace::default();
    let found = match case.get("algorithm").text() {
        "Alg:gll_oracle" => gll_oracle(q, variant, &mut trace),
        "Alg:phased" => phased_sgd(q, draws, variant, &mut trace),
        "Alg:nfw" => noisy_frank_wolfe(q, draws, variant, &mut trace),
        "alg:polySFW" => poly_sfw(q, draws, variant, &mut trace),
        "alg:nSFW" => noisy_sfw(q, draws, variant, &mut trace),
        "Alg:PGPSMD" => proximally_guided(q, draws, variant, &mut trace),
        other => Err(Stop::NotOffered(other.to_string())),
    };
    match found {
        Ok(output) => format!("{{\"output\":{output},\"trace\":[{}]}}", trace.0.join(",")),
        Err(Stop::Refused(why)) => format!("{{\"reject\":\"{why}\"}}"),
        Err(Stop::NotOffered(what)) => format!("{{\"unsupported\":\"{what}\"}}"),
    }
}

fn main() {
    for line in io::stdin().lock().lines() {
        let line = line.expect("a line of text");
        let request = Parser { text: line.as_bytes(), at: 0 }.value();
        println!("{}", reply(request.get("case")));
        io::stdout().flush().expect("an open pipe");
    }
}
