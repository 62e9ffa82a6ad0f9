"""Draw the figures of docs/tour.md, and those of the README: python -m docs.make_tour [--check]

Writes docs/figures/*.svg, the same bytes on every machine (no dates, no random ids, rounded coordinates); with --check
it compares instead and leaves with 1 if a figure is stale. Data come from the functions behind the quoted numbers
(`docs.quoted_numbers`), the drawing is `audit.report.svg`. The numbers of the text are checked by `dpso trace --check`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path

from audit.accounting.accountants import account
from audit.checks.framework import Figure, Role
from audit.report import svg
from audit.report.palette import PALETTE, standalone
from bench.power import LEAST_IDEAL
from bench.record import recorded
from docs.quoted_numbers import (
    ALL,
    BETA,
    GRID,
    LARGEST_N,
    SFW_DELTA,
    TILT,
    K,
    derivative,
    mu_allowed,
    shift,
    shifted_loss,
    spare,
    tour_loss,
    tour_oracle,
    truth,
)
from reference.convex.counterexamples import DELTA, EPSILON, UNSOUND
from reference.convex.moreau import prox
from reference.convex.oracle import oracle, oracle_printed
from reference.numerics.numbers import Real
from reference.paper.editions import edition
from reference.paper.events import Trace
from reference.smooth.leaks import random_batches_delta
from reference.smooth.noisy_sfw import corrected_transcript_delta, transcript_delta

# --------------------------------------------------------------------------------------- what is drawn


def _midpoints(errata: frozenset[str], m: Fraction) -> list[tuple[float, float]]:
    trace = Trace()
    call = edition(oracle_printed, oracle, errata)
    call(K, K.vector([m]), K.vector([1]), tour_loss(), tour_oracle(), trace)
    return [(float(event.indices[0]), float(event.value)) for event in trace if event.name == "m_t"]


START = Fraction(3, 20)
"""The prediction at which the two searches are followed."""


def path_figure() -> Figure:
    """Where the two searches look, step by step."""
    printed, corrected = _midpoints(frozenset(), START), _midpoints(ALL, START)
    goal = float(prox(K, tour_loss(), BETA, K(START)))
    return Figure(
        title="Where the search looks",
        x_label="step t",
        y_label="midpoint m_t",
        series={
            "printed: away from the minimiser": printed,
            "corrected": corrected,
            "the point that is claimed, u*": [(1.0, goal), (printed[-1][0], goal)],
        },
        roles={
            "printed: away from the minimiser": ["printed"],
            "corrected": ["corrected"],
            "the point that is claimed, u*": ["claimed"],
        },
    )


def stage_figure(errata: frozenset[str], name: str, role: Role = "printed") -> Figure:
    """The derivative that an edition returns, against the true one."""
    return Figure(
        title=f"What Algorithm 1 returns: {name}",
        x_label="prediction m",
        y_label="derivative of the smoothed loss",
        series={
            "the derivative that is claimed": [(float(m), truth(m)) for m in GRID],
            name: [(float(m), derivative(errata, m)) for m in GRID],
        },
        roles={"the derivative that is claimed": ["claimed"], name: [role]},
    )


def halving_figure() -> Figure:
    """h(u) = ℓ(u) + u²/2 and the points that line 6 compares."""
    ell = shifted_loss()

    def h(u: Fraction) -> tuple[float, float]:
        return float(u), float(ell.value(K, K(u)) + K(u * u / 2))

    return Figure(
        title="Why half of the interval may not go",
        x_label="u",
        y_label="h(u)",
        series={
            "h": [h(Fraction(i, 20)) for i in range(-40, 41)],
            "left quarter point": [h(Fraction(-1))],
            "right quarter point, lower": [h(Fraction(1))],
            "the minimiser u*, cut off": [h(-TILT)],
        },
    )


SIZES = (64, 128, 256, 512, 1024, 2048, LARGEST_N)
"""Sizes of the datasets of one figure, up to that of the text."""


def shift_figure() -> Figure:
    """One record's influence against n."""
    return Figure(
        title="How far one record moves the output of Algorithm 2",
        x_label="records n",
        y_label="distance in standard deviations",
        series={
            "printed halving, measured": [(float(n), shift(n, UNSOUND).mu) for n in SIZES],
            "corrected search, measured": [(float(n), shift(n, ALL).mu) for n in SIZES],
            "bound of (1, 1e-6)-DP": [(float(n), mu_allowed()) for n in SIZES],
        },
        x_log=True,
        roles={
            "printed halving, measured": ["printed", "measured"],
            "corrected search, measured": ["corrected", "measured"],
            "bound of (1, 1e-6)-DP": ["claimed"],
        },
    )


def profile_figure() -> Figure:
    """δ(ε) at n = 4096."""
    grid = [Fraction(i, 20) for i in range(31)]
    repaired = account("Alg:phased", "corrected", EPSILON, DELTA, n=LARGEST_N, d=2)
    assert repaired.profile is not None
    return Figure(
        title="Privacy of Algorithm 2 at n = 4096",
        x_label="ε",
        y_label="δ(ε)",
        series={
            "printed halving, at least": [(float(e), shift(LARGEST_N, UNSOUND).delta(e)) for e in grid],
            "corrected, at most": [(float(e), d) for e in grid if (d := repaired.profile.delta(e)) > 1e-16],
            "claim (1, 1e-6)": [(float(EPSILON), float(DELTA))],
        },
        y_log=True,
        roles={
            "printed halving, at least": ["printed"],
            "corrected, at most": ["corrected"],
            "claim (1, 1e-6)": ["claimed"],
        },
    )


def noisy_figure() -> Figure:
    """δ at the target ε, as a multiple of the target δ = 1e-6."""
    grid = [Fraction(i, 5) for i in range(1, 56)]

    def curve(f: Callable[[Fraction], Real]) -> list[tuple[float, float]]:
        return [(float(e), y) for e in grid if (y := float(f(e)) / float(SFW_DELTA)) > 1e-4]

    return Figure(
        title="Algorithm 5: what is lost at the target ε",
        x_label="target ε",
        y_label="δ / target δ",
        series={
            "printed, batches fixed": curve(lambda e: transcript_delta(K, e, SFW_DELTA)),
            "printed, random batches": curve(lambda e: random_batches_delta(K, e, e, SFW_DELTA, 4, 4096)),
            "right step, constant 16": curve(lambda e: corrected_transcript_delta(K, e, SFW_DELTA)),
            "corrected": curve(lambda e: _profile_delta(e, "corrected")),
            "claimed δ": [(0.2, 1.0), (11.0, 1.0)],
        },
        y_log=True,
        roles={
            "printed, batches fixed": ["printed"],
            "printed, random batches": ["printed"],
            "corrected": ["corrected"],
            "claimed δ": ["claimed"],
        },
    )


def _profile_delta(epsilon: Fraction, variant: str) -> float:
    found = account("alg:nSFW", variant, epsilon, SFW_DELTA)  # type: ignore[arg-type]
    assert found.profile is not None
    return found.profile.delta(epsilon)


def spare_figure() -> Figure:
    """The four quotients."""
    names = {"Algorithm 2": "Alg:phased", "Algorithm 3": "Alg:nfw", "Algorithm 4": "alg:polySFW"}
    names |= {"Algorithm 5": "alg:nSFW"}
    return Figure(
        title="Noise that can be saved",
        x_label="",
        y_label="noise of the corrected over that of the tight variant",
        series={name: [(0.0, spare(label))] for name, label in names.items()},
        kind="bar",
    )


FIGURES: dict[str, Callable[[], Figure]] = {
    "search-path": path_figure,
    "stage-printed": lambda: stage_figure(frozenset(), "printed"),
    "stage-comparison": lambda: stage_figure(frozenset({"E3.1"}), "printed, E3.1 repaired"),
    "stage-halving": lambda: stage_figure(UNSOUND, "printed, E3.1 and E3.2 repaired"),
    "stage-corrected": lambda: stage_figure(ALL, "corrected", "corrected"),
    "halving": halving_figure,
    "shift": shift_figure,
    "profile": profile_figure,
    "noisy-sfw": noisy_figure,
    "tight": spare_figure,
}
"""By the name of the file in `docs/figures`."""


# ------------------------------------------------------------------------------- what the README shows

MOST_SHARE = 1.25
"""Where the power figure ends: beyond it a bound was lucky."""
SHOWN_SIZE = "1e4"
"""The draws a side of the power figure: at this size most mechanisms were tried with every auditor."""


def power_figure() -> Figure:
    """Which share of random mechanisms an auditor serves how well: bound over ideal, sorted; those that all auditors
    were tried on.
    """
    rows = [
        row
        for row in recorded("power")[SHOWN_SIZE]["rows"].values()
        if not row["error"] and row["ideal"] >= LEAST_IDEAL and len(row["bounds"]) > 1
    ]

    def curve(auditor: str) -> list[tuple[float, float]]:
        shares = sorted(min(row["bounds"][auditor] / row["ideal"], MOST_SHARE) for row in rows)
        return [(100 * i / (len(shares) - 1), share) for i, share in enumerate(shares)]

    return Figure(
        title=f"Power on {len(rows)} random mechanisms, 10⁴ draws a side",
        x_label="mechanisms, from the worst served to the best, in %",
        y_label="bound / ideal",
        series={name: curve(name) for name in rows[0]["bounds"]},
        roles={"dpso": ["tight"]},
    )


def speed_figure() -> Figure:
    """Processor time of an audit over that of drawing its samples in the same blocks."""
    rows = recorded("power")["speed"]["rows"]
    bars = {
        svg.readable(f"{name}, {svg.number(row['samples'])} draws"): [(0.0, row["audit"] / row["sampling"])]
        for name, row in rows.items()
    }
    return Figure(
        title="What an audit costs: processor time in multiples of drawing the samples",
        x_label="",
        y_label="audit / sampling",
        series=bars,
        kind="bar",
    )


# --------------------------------------------------------------------------------------- how it is drawn

MEASURED: dict[str, Callable[[], Figure]] = {"power": power_figure, "speed": speed_figure}
"""The figures of the README, of recorded measurements."""

FOLDER = Path(__file__).parent / "figures"
COLOURS = PALETTE | {"ground": ("#ffffff", "#0d1117")}
"""The report's, on the ground of the sites that show Markdown."""
HUES = ("red", "green", "blue", "orange", "purple", "teal", "ink")


def _rules(colour: Mapping[str, str]) -> str:
    """The style sheet of a figure."""
    rules = [
        f"text{{fill:{colour['soft']};font:11.5px system-ui,'DejaVu Sans',sans-serif}}",
        f".label,.legend,.value{{fill:{colour['ink']};font-size:12px}}",
        f".ground{{fill:{colour['ground']}}}.grid{{stroke:{colour['rule']}}}.axis{{stroke:{colour['soft']}}}",
    ]
    for hue in HUES:
        rules.append(f".curve.{hue}{{fill:none;stroke:{colour[hue]};stroke-width:2;stroke-linejoin:round}}")
        rules.append(f".dot.{hue}{{fill:{colour['ground']};stroke:{colour[hue]};stroke-width:1.8}}")
        rules.append(f".bar.{hue}{{fill:{colour[hue]};fill-opacity:.82}}")
    return "".join(rules)


def draw(name: str) -> str:
    """The figure as the text of an SVG file."""
    return standalone(svg.draw((FIGURES | MEASURED)[name](), name), _rules, COLOURS)


def main() -> int:
    """Write, or compare."""
    stale = []
    for name in FIGURES | MEASURED:
        file, text = FOLDER / f"{name}.svg", draw(name)
        if "--check" not in sys.argv[1:]:
            FOLDER.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="\n")
        elif not file.is_file() or file.read_text(encoding="utf-8") != text:
            stale.append(file.name)
    print(f"stale: {', '.join(stale)}" if stale else f"{len(FIGURES | MEASURED)} figures in {FOLDER.name}/")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
