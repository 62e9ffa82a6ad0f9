"""The page: complete, escaped, self-contained; and, where there is a browser, driven in it.

The first half needs Python alone. The second speaks WebDriver to Chromium (Debian: chromium, chromium-driver), and what
judges accessibility is axe-core (npm install --global axe-core, or DPSO_AXE=FILE). Where one is missing these tests are
skipped with that reason; DPSO_BROWSER=required makes them fail instead. DPSO_SHOTS=FOLDER keeps screenshots.
"""

import base64
import contextlib
import html.parser
import json
import math
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from sample_checks import EVIDENCE

from audit.checks import framework
from audit.checks.framework import Check, CheckResult, Figure, Outcome, Role
from audit.checks.results import Report
from audit.report import details, prose, render, svg, verdicts
from audit.report.common import Frugal, named, readable
from audit.report.model import Page
from audit.report.model import page as model_of
from audit.report.page import LIMIT
from audit.report.summary import five_sentences
from audit.runtime import markup
from audit.runtime.files import write_atomically
from audit.runtime.markup import breakable, escape, tag
from reference.paper import inventory
from reference.paper.inventory import Inventory

HOSTILE = "</script><script>window.pwned=1</script><img src=x onerror=window.pwned=1>\"'`&amp;\x1b[31m\x00\u202eabc"
VISIBLE = HOSTILE.replace("\x1b", "\ufffd").replace("\x00", "\ufffd").replace("\u202e", "\ufffd")

ERRATA = """
[[erratum]]
id = "E3.1"
title = "The search keeps the wrong half"
where = ["Alg:gll_oracle:6", "lem:oracle"]
lines = [6]
tex = [315, 316]
severity = "accuracy"
regime = "every loss"
falsifies = ["Alg:gll_oracle:6", "lem:oracle"]
printed = "keeps the half with the larger value at η_{r,t}"
corrected = "keeps the other"
cost = "none"
cost_kind = "free"
affects = "everyone"

[[erratum]]
id = "E4.1"
title = "Too little noise"
where = ["alg:nSFW"]
lines = []
tex = [911, 911]
severity = "privacy"
regime = "always"
falsifies = ["alg:nSFW"]
printed = "a"
corrected = "b"
cost = "c"
cost_kind = "paid"
affects = "d"

[[erratum]]
id = "E5.1"
title = "A name is misspelt"
where = ["eqn:stat_gap_wk_cvx"]
lines = []
tex = [1720, 1720]
severity = "misprint"
printed = "a"
corrected = "b"
cost = "c"
cost_kind = "paid"
affects = "d"
"""

PROFILE = Figure(
    "Printed against its claim",
    "ε",
    "δ",
    {
        "claim": [(e / 2, 10.0**-e) for e in range(1, 9)],
        "certified upper bound": [(e / 2, 9.0**-e) for e in range(1, 9)],
        "measured": [(1.0, 0.05), (2.0, 1e-3)],
    },
    y_log=True,
    topic="privacy",
    note="A violation.",
    roles={"claim": ["claimed"], "certified upper bound": ["certified"], "measured": ["measured"]},
)


def result(
    name: str, statement: str, kind="exact", edition="corrected", erratum=None, condition=None, **outcome
) -> CheckResult:
    about = Check(name, statement, EVIDENCE[kind], edition, "quick", erratum, condition, lambda seed: Outcome(True))
    outcome.setdefault("holds", about.expected)
    return framework.result_of(about, Outcome(**outcome), 17)


def report_of(results: list[CheckResult], planned: tuple[str, ...] = ()) -> Report:
    names = {r.name: r.statement for r in results} | dict.fromkeys(planned, "lem:moreau")
    return Report("quick", 0, names, {}, [], list(results))


@pytest.fixture(scope="session")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Inventory:
    path = tmp_path_factory.mktemp("errata") / "errata.toml"
    path.write_text(ERRATA)
    return inventory.read(inventory.PAPER, path)


def typical() -> list[CheckResult]:
    return [
        result("s.oracle", "lem:oracle", ratio=1.0, tight="α, attained", numbers={"largest": 0.25, "n": 7, "F_r": 2}),
        result("s.moreau", "lem:moreau", ratio=0.5),
        result("s.search", "thm:l2_glm", "searched", ratio=0.75),
        result("s.stat", "thm:l1_glm", "measured", would_detect=1.5),
        result(
            "s.printed", "Alg:gll_oracle:6", "counterexample", "printed", "E3.1", ratio=math.inf, figures=(PROFILE,)
        ),
        result("s.corrected", "Alg:gll_oracle", "enclosed", ratio=0.9, figures=(replace(PROFILE, topic="other"),)),
        result("s.condition", "thm:privacy-polySFW", condition="δ ≤ 1/e"),
        result("s.cited", "lem:adv_comp", "cited"),
    ]


def hostile() -> list[CheckResult]:
    figure = Figure(HOSTILE, HOSTILE, HOSTILE, {HOSTILE: [(1.0, 2.0), (2.0, 3.0)], "b": [(1.0, 1.0)]}, note=HOSTILE)
    outcome = {"witness": HOSTILE, "numbers": {HOSTILE: HOSTILE}, "note": HOSTILE, "tight": HOSTILE}
    kinds = ("line", "bar", "band")
    figures = tuple(replace(figure, kind=kind, topic=topic) for kind in kinds for topic in ("other", "privacy"))
    bad = result(HOSTILE, HOSTILE, condition=HOSTILE, figures=figures, **outcome)
    return [
        bad,
        replace(bad, name=f"2{HOSTILE}", statement="lem:oracle"),
        result(f"3{HOSTILE}", "lem:moreau", "counterexample", "printed", HOSTILE, figures=figures, **outcome),
        replace(bad, name=f"4{HOSTILE}", statement="thm:l2_glm", error=HOSTILE),
    ]


# --------------------------------------------------------------------------------------- reading a page


class Reader(html.parser.HTMLParser):
    """What a page is made of."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.raw: dict[str, list[str]] = {"script": [], "style": []}
        self.open: list[str] = []
        self.unbalanced: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in markup.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.unbalanced.append(tag)

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in self.raw:
            self.raw[self.open[-1]].append(data)
        else:
            self.text.append(data)

    def all(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.elements if tag == name]


KNOWN = frozenset(
    re.findall(
        r"\w+",
        """html head meta link title style body script header nav main section footer article div p span a b i code
        sub sup h1 h2 h3 h4 ul li dl dt dd table thead tbody tr th td button input select option details summary figure
        figcaption svg desc path line text rect circle pre del ins wbr
        math mrow mi mo mn msup msub msubsup mover msqrt mfrac mspace mtext mstyle""",
    )
)
"""The elements that the page uses."""


def problems(text: str) -> list[str]:
    """What makes a page unsafe, dependent on the network, or broken."""
    page = Reader(text)
    found = [f"unbalanced {tag}" for tag in page.unbalanced]
    if len(page.all("script")) != 1 or "".join(page.raw["script"]).count("use strict") != 1:
        found.append("a script that is not ours")
    for tag_, attributes in page.elements:
        if tag_ not in KNOWN:
            found.append(f"element {tag_}")
        for name, value in attributes.items():
            if name.startswith("on") or name in ("src", "action", "formaction", "srcset", "xlink:href", "background"):
                found.append(f"attribute {name}")
            if name == "href" and not (value or "").startswith("#") and (tag_, value) != ("link", "data:,"):
                found.append(f"link to {value}")
            if name == "style" and not re.fullmatch(r"width:[\d.]+%", value or ""):
                found.append(f"style {value}")
    style = "".join(page.raw["style"])
    found += [f"style has {word}" for word in ("url(", "@import", "expression") if word in style]
    found += [f"control character {c!r}" for c in set(text) if not c.isprintable() and c != "\n"]
    ids = [a["id"] for _, a in page.elements if a.get("id")]
    found += [f"id {id} twice" for id in sorted({id for id in ids if ids.count(id) > 1})]
    targets = {a["href"][1:] for a in page.all("a") if a.get("href")}
    found += [f"link to nowhere: {t}" for t in sorted(targets - set(ids))]
    return found


# ---------------------------------------------------------------------------------------------- markup


def test_escape() -> None:
    assert escape('<a href="x">\'&') == "&lt;a href=&quot;x&quot;&gt;&#x27;&amp;"
    assert escape("a\x1b[0m\u202e\x7f\ud800b\n") == "a\ufffd[0m\ufffd\ufffd\ufffdb\n"
    assert escape(tag("b", "<")) == "<b>&lt;</b>"


def test_tag() -> None:
    made = tag("input", type="search", data_x='"', hidden=True, id=None, disabled=False, class_="c")
    assert made == '<input type="search" data-x="&quot;" hidden class="c">'
    assert tag("p", "a<", None, tag("b", 3)) == "<p>a&lt;<b>3</b></p>"


# --------------------------------------------------------------------------------------------- figures


def coordinates(drawing: str, pattern: str) -> list[tuple[float, ...]]:
    return [tuple(map(float, found)) for found in re.findall(pattern, drawing)]


def test_a_witness_is_written_as_people_write_numbers() -> None:
    assert readable("Absolute(y=Fraction(-52, 25)), Fraction(3, 1)") == "Absolute(y=-52/25), 3"
    assert readable("[-0.0, -0.30000000000000004, 1.0] at -0.05") == "[0, -0.3, 1.0] at -0.05"
    assert readable("10-0.01234567, v1.2.3456789012") == "10-0.01234567, v1.2.3456789012"
    assert named("optimal_composition") == "optimal composition"
    assert named("delta_at_1_1e-6") == "delta at 1 <math><msup><mn>10</mn><mn>−6</mn></msup></math>"
    assert named("move_of_g") == "move of g"
    assert named("C_squared") == "C squared"
    assert named("F_r") == "<math><msub><mi>F</mi><mi>r</mi></msub></math>"
    assert breakable("defn:regular_<b>") == "defn:<wbr>regular_&lt;b&gt;"


def test_a_curve_under_another_is_seen() -> None:
    line = [(0.0, 0.0), (1.0, 1.0)]
    drawing = svg.draw(Figure("t", "n", "y", {"a": line, "b": line, "c": [(0.0, 1.0), (1.0, 0.0)]}), "f")
    classes = re.findall(r'<path [^>]*class="(curve [^"]*)"', drawing)
    assert [c.endswith(" under") for c in classes] == [True, False, False]
    assert ">n, records</text>" in drawing


def test_points_stand_where_they_belong() -> None:
    figure = Figure("f", "x", "y", {"a": [(0.0, 0.0), (1.0, 1.0), (2.0, 4.0)]})
    (path,) = re.findall(r'd="M([^"]+)"', svg.draw(figure, "f"))
    (x0, y0), (x1, y1), (x2, y2) = (tuple(map(float, p.split())) for p in path.split("L"))
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.11)
    assert (y0 - y2) == pytest.approx(4 * (y0 - y1), abs=0.5)


def test_a_logarithmic_axis_has_equal_decades() -> None:
    axis = svg.axis([1e-6, 1.0], True, 300.0, 0.0)
    steps = [axis(10.0**-k) - axis(10.0 ** (1 - k)) for k in range(1, 7)]
    assert max(steps) - min(steps) < 1e-9
    assert axis.ticks() == pytest.approx([10.0**k for k in range(-6, 1, 2)]) or len(axis.ticks()) <= 7
    assert not axis.shows(0.0)
    assert not axis.shows(-1.0)


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("values", [[3.0], [1e-300, 1e300], [5.0, 5.0], [math.inf, math.nan], [-1.0, -2.0], []])
def test_axes_for_odd_values(values: list[float], log: bool) -> None:
    axis = svg.axis(values, log, 0.0, 100.0)
    assert axis.low < axis.high
    assert 1 <= len(axis.ticks()) <= 12
    assert all(math.isfinite(axis(t)) for t in axis.ticks())


def test_what_cannot_be_drawn_is_counted() -> None:
    figure = Figure("f", "x", "y", {"a": [(1.0, 1.0), (2.0, 0.0), (3.0, math.inf), (4.0, 2.0)]}, y_log=True)
    drawing = svg.draw(figure, "f")
    assert "2 points lie outside the scale" in drawing
    assert "nan" not in drawing
    assert "inf" not in drawing.replace("info", "")


def test_thinning_keeps_the_spike() -> None:
    points = [(float(x), 0.0) for x in range(10_000)]
    points[6_543] = (6_543.0, 9.0)
    points[1_234] = (1_234.0, -9.0)
    thinned = svg.thin(points)
    assert len(thinned) <= svg.MOST_POINTS
    assert (6_543.0, 9.0) in thinned
    assert (1_234.0, -9.0) in thinned
    assert thinned == sorted(thinned)


def test_series_are_told_apart() -> None:
    roles = {role: [role] for role in get_args(Role)} | {"printed claim": ["printed", "claimed"]}
    names = [*roles, "a", "b", "c"]
    looks = dict(zip(names, svg.looks(figure_of(names, roles)), strict=True))
    assert len({(look.colour, look.dash) for look in looks.values()}) == len(names)
    assert [name for name, look in looks.items() if look.marker] == ["measured"]
    assert looks["claimed"].dash
    assert not looks["certified"].dash
    assert (looks["printed claim"].colour, bool(looks["printed claim"].dash)) == ("red", True)


def test_a_legend_does_not_choose_the_look() -> None:
    """The mutant of old: a series was drawn by the words in its name."""
    (plain,) = svg.looks(figure_of(["claim, measured as printed"], {}))
    assert plain == svg.looks(figure_of(["x"], {}))[0]


def figure_of(names: list[str], roles: Mapping[str, Sequence[Role]]) -> Figure:
    return Figure("t", "x", "y", {name: [(0.0, 0.0), (1.0, 1.0)] for name in names}, roles=roles)


def test_the_legend_shows_what_is_drawn() -> None:
    """A single point is a dot in the plot and in the legend; a line is a line in both."""
    drawing = svg.draw(Figure("t", "x", "y", {"curve": [(0.0, 0.0), (1.0, 1.0)], "point": [(0.5, 0.5)]}), "f")
    assert len(re.findall(r'<circle [^>]*class="dot', drawing)) == 2
    assert len(re.findall(r'<line [^>]*class="curve', drawing)) == 1


def test_figures_are_readable_without_eyes() -> None:
    drawing = svg.draw(PROFILE, "f")
    assert 'role="img" aria-labelledby="f-title f-desc"' in drawing
    assert '<title id="f-title">Printed against its claim</title>' in drawing
    assert "measured: 2 points, from 0.001 to 0.05" in drawing
    assert re.search(r"<text [^>]*>measured</text>", drawing)


@pytest.mark.parametrize("value", [0.0, 1.0, 0.25, -3.5, 12345.0, 1e-6, 2.5e-9, 1e5, -1.5e10])
def test_numbers_for_people_say_the_number(value: float) -> None:
    text = svg.number(value)
    back = text.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    mantissa, _, power = back.rpartition("·")
    if power.startswith("10") and ("⁰" <= text[-1] <= "⁹" or text[-1] in "¹²³"):
        found = float(mantissa or 1) * 10.0 ** int(power[2:])
    else:
        found = float(back)
    assert found == pytest.approx(value, rel=1e-3)


def test_bars() -> None:
    single = svg.draw(Figure("f", "", "σ", {"printed": [(0, 4.0)], "tight": [(0, 1.0)]}, kind="bar"), "f")
    widths = [float(w) for w in re.findall(r'<rect [^>]*width="([\d.]+)"', single)]
    assert widths[0] == pytest.approx(4 * widths[1], rel=0.01)
    grouped = svg.draw(Figure("f", "r", "s", {"a": [(1, 1.0), (2, 2.0)], "b": [(1, 3.0), (2, 6.0)]}, kind="bar"), "f")
    heights = [float(h) for h in re.findall(r'<rect [^>]*height="([\d.]+)" class="bar', grouped)][:4]
    assert heights == pytest.approx([h * heights[0] for h in (1, 2, 3, 6)], rel=0.02)


def test_a_band_lies_between_its_edges() -> None:
    figure = Figure(
        "f", "n", "r", {"low": [(1, 1.0), (2, 1.0)], "high": [(1, 2.0), (2, 2.0)], "m": [(1, 1.5)]}, kind="band"
    )
    (area,) = re.findall(r'<path d="M([^"]+)Z" class="area', svg.draw(figure, "f"))
    points = [tuple(map(float, p.split())) for p in area.split("L")]
    assert len(points) == 4
    assert points[0][1] == points[1][1] > points[2][1] == points[3][1]


# ------------------------------------------------------------------------------------------- the page


def test_the_page_is_whole_and_self_contained(paper: Inventory) -> None:
    text = render(report_of(typical()), paper)
    assert problems(text) == []
    page = Reader(text)
    rows = [a for a in page.all("tr") if a.get("data-grade")]
    entries = [e for e in paper.entries.values() if not isinstance(e, inventory.Section)]
    assert len(rows) == len(entries)
    shown = " ".join(page.text)
    for entry in entries:
        assert entry.id in shown
    for expected in (
        "accuracy: every loss",
        "The search keeps the wrong half",
        "would have seen ε ≥ 1.5 with probability 0.95",
        "only if δ ≤ 1/e",
        "Shown in this run",
        "Algorithm 1 line 6 , Lemma 5 , line 6 · TeX lines 315–316",
        "Too little noise",
        "dpso errata E4.1 --run",
        "Printed against its claim",
        "dpso audit --level quick --seed 0",
    ):
        assert "".join(expected.split()) in "".join(shown.split()), expected
    assert "Partial report" not in text
    assert "http://" not in text.replace("http-equiv", "")
    assert "https://" not in text


def test_the_policy_allows_our_script_alone(paper: Inventory) -> None:
    import hashlib

    page = Reader(render(report_of(typical()), paper))
    (policy,) = (a["content"] for a in page.all("meta") if a.get("http-equiv") == "Content-Security-Policy")
    digest = base64.b64encode(hashlib.sha256("".join(page.raw["script"]).encode()).digest()).decode()
    assert policy is not None
    assert policy.startswith("default-src 'none';")
    assert f"script-src 'sha256-{digest}'" in policy


def test_the_counts_are_those_of_the_rows(paper: Inventory) -> None:
    report = report_of(typical())
    model = model_of(report, paper)
    page = Reader(render(report, paper))
    rows = [a["data-grade"] for a in page.all("tr") if a.get("data-grade")]
    tiles = {a["data-grade"] for a in page.all("a") if a.get("data-grade")}
    assert tiles == set(model.tally()) <= set(rows)
    assert model.tally().total() == len(paper.statements)
    assert rows == [e.standing.verdict.grade for e in model.entries]
    assert rows.count("false") == 2
    assert rows.count("conditional") == 1


def sentences(model: Page) -> list[str]:
    return [" ".join("".join(Reader(p).text).split()) for p in five_sentences(model).split("</p>")[:-1]]


def test_the_sentences_at_the_top_say_what_was_found(paper: Inventory) -> None:
    tally, false, repairs, evidence = sentences(model_of(report_of(typical()), paper))
    assert tally == (
        "Of the 29 numbered statements 1 holds; 1 holds under a condition that it leaves out; 1 is false as printed;"
        " 2 show no violation; 1 is cited and 23 have no check; algorithms, equations and the table are judged apart."
    )
    assert false == (
        "False as printed are Algorithm 5, Algorithm 1 and Lemma 5 (2 errata, 1 of them on privacy; each says in which"
        " regime)."
    )
    assert repairs == (
        "Each of the 2 errata that make something false has a correction here: 1 costs nothing and 1 costs something."
    )
    assert evidence.startswith("How it is known: 8 checks ran, 4 of them rigorous (no rounding decides); of ")


def test_the_sentences_count_the_errata_that_change_nothing() -> None:
    known = inventory.load()
    said = " ".join(sentences(model_of(report_of(typical()), known)))
    errata = known.errata
    conditions = [e for e in errata if e.severity == "condition"]
    stated, proofs = len([e for e in conditions if e.stated]), len([e for e in errata if e.severity == "proof"])
    assert 1 < stated < len(conditions)
    assert f"{proofs} printed steps of proofs fail although what they prove is true" in said
    assert f"{len(conditions)} conditions are left out, {stated} of which the paper states elsewhere" in said
    assert f"{len([e for e in errata if e.severity == 'misprint'])} misprints change nothing" in said
    false = [e for e in errata if e.severity in inventory.FALSIFYING]
    costs = [len([e for e in false if e.cost_kind == kind]) for kind in inventory.COST_KINDS]
    words = ("nothing", "nothing in a range that is stated", "something")
    parts = [f"{n} {'costs' if n == 1 else 'cost'} {what}" for n, what in zip(costs, words, strict=True) if n]
    assert len(parts) == 2
    corrected = f"Each of the {len(false)} errata that make something false has a correction here"
    assert f"{corrected}: {parts[0]} and {parts[1]}." in said


def test_errata_of_an_entry_are_listed_in_order() -> None:
    known = inventory.load()
    found = model_of(report_of(typical()), known).entry("thm:l2_glm")
    assert found is not None
    assert list(found.errata) == sorted(found.errata, key=lambda id: float(id.removeprefix("E3.")))
    assert len(found.errata) > 9, "so that E3.6 and E3.10 can be in the wrong order"


def test_an_entry_says_that_no_check_is_about_it_if_that_is_so(paper: Inventory) -> None:
    model = model_of(report_of(typical()), paper)
    missing = "No check of this run is about it."
    said = {e.id: missing in str(details._detail(model, e, Frugal(LIMIT, True))) for e in model.entries}
    assert said == {e.id: not e.results for e in model.entries}
    assert {True, False} == set(said.values())


def test_up_to_three_errata_of_an_entry_are_named_in_its_row() -> None:
    known = inventory.load()
    model = model_of(report_of(typical()), known)
    counts = {e.id: len(e.errata) for e in model.entries}
    for entry in model.entries:
        titles = [one.title for id in entry.errata if (one := known.erratum(id))]
        named_in_full = bool(titles) and all("named" in str(link) for link in verdicts._errata_of(model, entry))
        assert named_in_full == (1 <= len(entry.errata) <= 3), entry.id
    assert {3, 4} <= set(counts.values())


def test_every_figure_is_drawn_and_every_check_listed(paper: Inventory) -> None:
    text = render(report_of(typical()), paper)
    ids = [a.get("id") for _, a in Reader(text).elements]
    for name in ("s-printed", "s-corrected", "s-oracle"):
        assert f"c-{name}" in ids
    assert "fig-s-printed-0" in ids
    assert "fig-s-printed-0-copy" in ids, "in its gallery and on the erratum's card"
    assert "fig-s-corrected-0" in ids


def test_the_same_bytes_again_and_from_json(paper: Inventory, monkeypatch: pytest.MonkeyPatch) -> None:
    report = report_of(typical())
    text = render(report, paper)
    assert render(report_of(typical()), paper) == text
    data = json.loads(json.dumps(report.to_json(), allow_nan=False))
    again = replace(report, results=[CheckResult.from_json(result) for result in data["results"]])
    assert render(again, paper) == text


def test_drawing_a_page_loads_nothing_that_runs_checks() -> None:
    program = "import sys, audit.report; print(*(m for m in sys.modules if m.startswith('audit.')))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "audit.checks.results" in loaded
    sections = {f"audit.checks.section{n}" for n in range(2, 6)}
    running = {"audit.checks.job", "audit.runtime.pool", "audit.auditor"} | sections
    assert not loaded & running


def test_a_partial_report_says_so(paper: Inventory) -> None:
    text = render(report_of(typical(), planned=("s.later",)), paper)
    assert "Partial report." in text
    assert "8 of 9 checks ran" in text
    empty = render(report_of([], planned=("s.later",)), paper)
    assert problems(empty) == []
    assert "0 of 1 checks ran" in empty


def test_what_is_not_as_recorded_is_on_top(paper: Inventory) -> None:
    failed = replace(result("s.boom", "lem:moreau"), error="ArithmeticError: boom")
    text = render(report_of([*typical(), failed, result("s.no", "lem:oracle", holds=False)]), paper)
    assert "2 checks did not come out as recorded" in text
    assert "ArithmeticError: boom" in text[: text.index('id="verdicts"')]
    assert "did not come out as recorded" not in render(report_of(typical()), paper)


def test_hostile_strings_stay_strings(paper: Inventory) -> None:
    poisoned = [
        replace(e, title=HOSTILE, printed=HOSTILE, corrected=HOSTILE, cost=HOSTILE, affects=HOSTILE)
        for e in paper.errata
    ]
    paper = replace(paper, errata=tuple(poisoned))
    report = report_of(hostile())
    report.only = [HOSTILE]
    text = render(report, paper)
    assert problems(text) == []
    assert VISIBLE in "".join(Reader(text).text), "shown as it is, not dropped"


@pytest.mark.parametrize("broken", ["escape", "control"])
def test_the_tests_would_see_a_hole(broken: str, paper: Inventory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prose, "_typeset_text", prose._typeset_text.__wrapped__)  # nothing broken is kept
    if broken == "escape":
        monkeypatch.setattr(markup.html, "escape", lambda text, quote: text)
    else:
        monkeypatch.setattr(markup, "_HARMFUL", re.compile("(?!)"))
    assert problems(render(report_of(hostile()), paper)) != []


def test_a_large_report_stays_small(paper: Inventory, monkeypatch: pytest.MonkeyPatch) -> None:
    assert LIMIT == 5_000_000
    monkeypatch.setattr("audit.report.page.LIMIT", 1_100_000)
    figure = Figure("f", "x", "y", {"s": [(float(x), float(x % 7)) for x in range(390)]})
    big = [result(f"s.n{i}", "lem:oracle", witness="w" * 5_000, note="n" * 5_000, figures=(figure,)) for i in range(20)]
    text = render(report_of(big), paper)
    assert len(text.encode()) <= 1_100_000
    assert "more characters in report.json" in text
    assert problems(text) == []
    small = render(report_of(big[:3]), paper)
    assert "Numbers</summary>" in small
    assert "Numbers</summary>" not in text


# ------------------------------------------------------------------------------------------ a browser


class Browser:
    """A WebDriver session with Chromium, over plain HTTP."""

    def __init__(self, driver: str, chromium: str, phone: bool = False, dark: bool = False) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.process = subprocess.Popen(
            [driver, f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.base = f"http://127.0.0.1:{port}"
        arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--window-size=1200,900",
        ]
        options: dict[str, Any] = {"binary": chromium, "args": arguments + (["--force-dark-mode"] if dark else [])}
        if phone:
            options["mobileEmulation"] = {"deviceMetrics": {"width": 390, "height": 844, "pixelRatio": 2.0}}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        try:
            for _ in range(200):
                with contextlib.suppress(OSError):
                    if self.call("GET", "/status")["ready"]:
                        break
                time.sleep(0.05)
            made = self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        except BaseException:
            self.process.kill()
            self.process.wait()
            raise
        self.base += f"/session/{made['sessionId']}"

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        data = None if method == "GET" else json.dumps(body or {}).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=900) as reply:
            return json.load(reply)["value"]

    def open(self, path: Path) -> None:
        self.call("POST", "/url", {"url": path.as_uri()})
        for _ in range(200):  # the call may return before the page is there
            if self.do("return [document.readyState, location.href]") == ["complete", path.as_uri()]:
                return
            time.sleep(0.05)
        raise AssertionError(f"{path} did not load")

    def do(self, script: str) -> Any:
        return self.call("POST", "/execute/sync", {"script": script, "args": []})

    def resize(self, width: int) -> None:
        """Make the window this wide, and wait until the page knows: the call itself returns before."""
        self.call("POST", "/window/rect", {"width": width, "height": 900})
        for _ in range(100):
            if self.do("return innerWidth") == width:
                return
            time.sleep(0.05)
        raise AssertionError(f"the window did not become {width} wide")

    def console(self) -> list[str]:
        return [e["message"] for e in self.call("POST", "/se/log", {"type": "browser"}) if e["level"] != "INFO"]

    def shot(self, name: str) -> None:
        if folder := os.environ.get("DPSO_SHOTS"):
            picture = base64.b64decode(self.call("GET", "/screenshot"))
            (Path(folder) / f"{name}.png").write_bytes(picture)

    def quit(self) -> None:
        with contextlib.suppress(OSError):
            self.call("DELETE", "")
        self.process.terminate()
        self.process.wait(20)


def missing(what: str) -> None:
    """Skip, loudly; or fail, where somebody promised that nothing is missing."""
    if os.environ.get("DPSO_BROWSER") == "required":
        pytest.fail(what)
    pytest.skip(what)


def axe() -> str:
    """The script of axe-core, wherever npm has put it."""
    places = [Path(os.environ.get("DPSO_AXE", "/nowhere"))]
    if npm := shutil.which("npm"):
        root = subprocess.run([npm, "root", "--global"], capture_output=True, text=True, check=False).stdout.strip()
        places.append(Path(root) / "axe-core" / "axe.min.js")
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        missing("needs axe-core (npm install --global axe-core, or DPSO_AXE=FILE)")
    assert found is not None
    return found.read_text(encoding="utf-8")


@contextlib.contextmanager
def browser(**options: bool) -> Iterator[Browser]:
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    driver = shutil.which("chromedriver")
    if not chromium or not driver:
        missing("needs Chromium and its driver (Debian: apt-get install chromium chromium-driver)")
        return
    session = Browser(driver, chromium, **options)
    try:
        yield session
    finally:
        session.quit()


@pytest.fixture(scope="module")
def desk() -> Iterator[Browser]:
    with browser() as session:
        yield session


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, paper: Inventory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    found = {}
    for name, results in (("typical", typical()), ("hostile", hostile())):
        found[name] = folder / f"{name}.html"
        write_atomically(found[name], render(report_of(results), paper))
    return found


VISIBLE_ROWS = "return [...document.querySelectorAll('.verdicts tbody tr')].filter(r => r.offsetParent !== null)"


def test_filter_and_search(desk: Browser, pages: dict[str, Path]) -> None:
    desk.open(pages["typical"])
    rows = desk.do(f"{VISIBLE_ROWS}.length")
    assert desk.do("return document.querySelector('#count').textContent") == f"{rows} of {rows} entries"
    desk.do("document.querySelector('.chip[data-grade=false]').click()")
    assert desk.do(f"{VISIBLE_ROWS}.map(r => r.dataset.grade)") == ["false", "false"]
    desk.do("document.querySelector('.chip[data-grade=false]').click()")
    search = "const s = document.querySelector('#search'); s.value = {!r}; s.dispatchEvent(new Event('input'));"
    desk.do(search.format("LEM:ORACLE exact"))
    assert desk.do(f"{VISIBLE_ROWS}.map(r => r.querySelector('code').textContent)") == ["lem:oracle"]
    desk.do(search.format("nothing like it"))
    assert desk.do(f"{VISIBLE_ROWS}.length") == 0
    assert desk.do("return document.querySelector('#nothing').hidden") is False
    desk.do(search.format(""))
    desk.do("const s = document.querySelector('#section'); s.value = '4'; s.dispatchEvent(new Event('change'));")
    assert set(desk.do(f"{VISIBLE_ROWS}.map(r => r.dataset.section)")) == {"4"}
    assert desk.console() == []


def test_follow_a_link(desk: Browser, pages: dict[str, Path]) -> None:
    desk.open(pages["typical"])
    opened = "return document.getElementById('d-lem-oracle').open"
    assert desk.do(opened) is False
    desk.do("document.querySelector('.verdicts a[href=\"#d-lem-oracle\"]').click()")
    assert desk.do("return location.hash") == "#d-lem-oracle"
    for _ in range(40):
        if desk.do(opened):
            break
        time.sleep(0.05)
    assert desk.do(opened) is True
    place = "document.getElementById('d-lem-oracle').getBoundingClientRect().top"
    in_view = f"return {place} >= 0 && {place} < innerHeight"
    for _ in range(40):
        if desk.do(in_view):
            break
        time.sleep(0.1)
    assert desk.do(in_view)
    assert desk.do("return document.querySelectorAll('.graph a.node').length") == 35
    assert desk.console() == []


def test_errata_by_severity(desk: Browser, pages: dict[str, Path]) -> None:
    desk.open(pages["typical"])
    cards = "return [...document.querySelectorAll('.card')].filter(c => c.checkVisibility()).map(c => c.id)"
    assert desk.do(cards) == ["e-E4-1", "e-E3-1"], "what breaks privacy comes first"
    desk.do("document.querySelector('.chip[data-severity=accuracy]').click()")
    assert desk.do(cards) == ["e-E3-1"]
    desk.do("document.querySelector('.chip[data-severity=accuracy]').click()")
    desk.do("document.querySelector('.chip[data-severity=misprint]').click()")
    assert desk.do(cards) == ["e-E5-1"], "misprints are closed until somebody asks"
    desk.open(pages["hostile"])
    desk.open(pages["typical"])
    desk.do("location.hash = '#e-E5-1'")
    for _ in range(40):
        if "e-E5-1" in desk.do(cards):
            break
        time.sleep(0.05)
    assert "e-E5-1" in desk.do(cards), "a link opens them"


def test_the_theme_switches(desk: Browser, pages: dict[str, Path]) -> None:
    desk.open(pages["typical"])
    ground = "return getComputedStyle(document.body).backgroundColor"
    desk.shot("light")
    before = desk.do(ground)
    desk.do("document.querySelector('#theme').click()")
    after = desk.do(ground)
    desk.shot("dark")
    assert before != after
    desk.do("document.querySelector('#theme').click()")
    assert desk.do(ground) == before
    assert desk.console() == []


def test_the_table_keeps_its_columns_on_a_narrow_screen(desk: Browser, pages: dict[str, Path]) -> None:
    desk.open(pages["typical"])
    for width in (760, 1200):
        desk.resize(width)
        columns = desk.do("return [...document.querySelectorAll('.verdicts th')].map(c => c.offsetWidth)")
        assert min(columns) > sum(columns) / 12, (width, columns)
        assert desk.do("return document.scrollingElement.scrollWidth <= innerWidth")


CUT = """
return [...document.querySelectorAll('.statement .side, .statement .given, pre, .scroll')]
  .filter(s => s.scrollWidth > s.clientWidth + 1 && !(getComputedStyle(s).overflowX == 'auto' && s.tabIndex == 0))
  .filter(s => s.checkVisibility() && getComputedStyle(s).whiteSpace != 'pre-wrap').map(s => s.outerHTML.slice(0, 90))
"""


def test_a_formula_and_what_hangs_on_it_stay_in_their_line(desk: Browser, tmp_path: Path) -> None:
    """A rule of the style sheet for any span would set `(ε, δ)-DP` on a line of its own."""
    file = tmp_path / "tied.html"
    noted = replace(PROFILE, note="At δ = 0.01: (ε, δ)-DP.")
    file.write_text(render(report_of([result("s.p", "lem:oracle", figures=(noted,))]), inventory.load()))
    desk.open(file)
    shown = "return [...new Set([...document.querySelectorAll('.tied')].map(e => getComputedStyle(e).display))]"
    assert desk.do(shown) == ["inline"]
    assert desk.do("return document.querySelectorAll('figcaption .tied').length") > 0


def test_what_is_too_wide_can_be_scrolled_by_keyboard_and_the_navigation_hides_nothing(
    desk: Browser, pages: dict[str, Path]
) -> None:
    desk.open(pages["typical"])
    desk.do("for (const d of document.querySelectorAll('details')) d.open = true")
    for width in (500, 768, 1400):
        desk.resize(width)
        assert desk.do(CUT) == [], width
        assert desk.do("const l = document.querySelector('nav .links'); return l.scrollWidth <= l.clientWidth"), width
    desk.resize(500)
    desk.do("for (const s of document.querySelectorAll('.statement .side')) s.removeAttribute('tabindex')")
    assert desk.do(CUT) != [], "the control: what the test would see"
    desk.resize(1200)


def test_hostile_strings_do_nothing_in_a_browser(desk: Browser, pages: dict[str, Path]) -> None:
    desk.open(pages["hostile"])
    assert desk.do("return typeof window.pwned") == "undefined"
    assert desk.do("return document.scripts.length") == 1
    assert desk.console() == []


def test_on_paper_a_summary_is_left(desk: Browser, tmp_path: Path) -> None:
    """The whole inventory with its errata fits on twelve pages of A4; what is left out is on the screen."""
    file = tmp_path / "whole.html"
    file.write_text(render(report_of(typical()), inventory.load()), encoding="utf-8")
    desk.open(file)
    margins = dict.fromkeys(("top", "bottom", "left", "right"), 1.2)
    page = {"width": 21.0, "height": 29.7}
    printed = base64.b64decode(desk.call("POST", "/print", {"page": page, "margin": margins}))
    assert printed.startswith(b"%PDF")
    assert 3 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 12
    assert desk.do("return document.querySelectorAll('details[open]').length") == 0


VIOLATIONS = """
const done = arguments[0];
axe.run(document, {resultTypes: ["violations"]}).then(found => done(found.violations.map(
  v => `${v.id}: ${v.nodes.slice(0, 2).map(n => n.html.slice(0, 200)).join(" | ")}`)));
"""


@pytest.mark.timeout(1000)  # a minute of computing, on a machine that may be busy
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(desk: Browser, pages: dict[str, Path], theme: str) -> None:
    script = axe()
    desk.open(pages["typical"])
    desk.do(f"document.documentElement.dataset.theme = {theme!r}")
    desk.do("for (const d of document.querySelectorAll('details')) d.open = true")
    desk.do(script)
    desk.call("POST", "/timeouts", {"script": 800_000})
    assert desk.call("POST", "/execute/async", {"script": VIOLATIONS, "args": []}) == []
    if theme == "dark":
        return
    desk.do("document.querySelector('#search').removeAttribute('aria-label')")
    desk.do("document.querySelector('#search').removeAttribute('placeholder')")
    found = desk.call("POST", "/execute/async", {"script": VIOLATIONS, "args": []})
    assert [v.partition(":")[0] for v in found] == ["label"], "the control: a field without a name is found"


def test_on_a_phone_nothing_sticks_out(pages: dict[str, Path]) -> None:
    with browser(phone=True, dark=True) as phone:
        for name in ("typical", "hostile"):
            phone.open(pages[name])
            phone.do("for (const d of document.querySelectorAll('details')) d.open = true")
            assert phone.do("return document.scrollingElement.scrollWidth") <= 390
            phone.shot(f"phone-{name}")
        assert phone.console() == []
