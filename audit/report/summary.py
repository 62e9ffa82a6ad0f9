"""The first screen, in five sentences; and at the end, what was checked, how, and what the words mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from audit.checks.evidence import LEGEND
from audit.checks.scale import GRADES, Grade
from audit.report.common import badge, capital, erratum_link, name_of, plural, to_detail
from audit.report.grades import GRADE_MEANINGS, SEVERITY_WORDS
from audit.report.model import Page, errata
from audit.report.prose import formula
from audit.report.sheet import RULE
from audit.runtime.markup import Html, escape, join, tag
from reference.paper.inventory import FALSE, FALSIFYING, Erratum

SEVERITY_MEANINGS = {
    "privacy": "a printed statement or algorithm is false in what it promises of privacy; the regime says where",
    "rate": "false in its rate",
    "accuracy": "false in what else it promises",
    "edge": "false only at an edge of its parameters",
    "proof": "the statement is true, a printed step of its proof is not",
    "condition": "true under a condition that the statement leaves out; the paper may state it elsewhere",
    "misprint": "a slip, an omission that the context supplies, or wording",
    "loose": "true, with room",
}


TALLY: dict[Grade, tuple[str, str]] = {
    "holds": ("holds", "hold"),
    "loose": ("holds with room", "hold with room"),
    "misprint": ("holds once a misprint is corrected", "hold once a misprint is corrected"),
    "conditional": ("holds under a condition that it leaves out", "hold under a condition that they leave out"),
    "unproved": ("is true, but not by its printed proof", "are true, but not by their printed proofs"),
    "edge": ("is false only at the edge", "are false only at the edge"),
    "false": ("is false as printed", "are false as printed"),
    "searched": ("shows no violation", "show no violation"),
    "cited": ("is cited", "are cited"),
    "unexpected": ("is not as recorded", "are not as recorded"),
    "unchecked": ("has no check", "have no check"),
}
"""What a sentence says of one statement of a grade, and of several."""


def five_sentences(model: Page) -> Html:
    """What was found: the tally, what is false, what the proofs and conditions are worth, repairs, and the evidence."""
    listed = errata(model)
    parts = [_tally(model), _false(model, listed), _true_but(listed), _repairs(listed), _evidence(model)]
    return tag("div", *(tag("p", part) for part in parts if part), class_="lead")


def _tally(model: Page) -> Html:
    """The tally of the numbered statements, counted as the README counts them."""
    counts = model.tally()
    said = _listed([escape(f"{counts[g]} {TALLY[g][counts[g] != 1]}") for g in GRADES if counts[g]], "; ")
    rest = "algorithms, equations and the table are judged apart"
    return join([f"Of the {counts.total()} numbered statements ", said, f"; {rest}."])


def _false(model: Page, listed: Sequence[Erratum]) -> Html | None:
    """Which entries are false as printed, apart from edges."""
    wrong = [e for e in listed if e.severity in FALSE]
    places = dict.fromkeys(place for e in wrong for place in e.falsifies if model.inventory.find(place))
    owners = dict.fromkeys(model.inventory.places_of(place)[-1] for place in places)
    names = [to_detail(model, id, name_of(model, id)) for id in owners if not id.startswith("sec:")]
    if not names:
        return None
    privacy = sum(e.severity == "privacy" for e in wrong)
    of = f"{plural(len(wrong), 'erratum', 'errata')}, {privacy} of them on privacy"
    return join(["False as printed are ", _listed(names), f" ({of}; each says in which regime)."])


def _true_but(listed: Sequence[Erratum]) -> Html | None:
    count = Counter(e.severity for e in listed)
    conditions = [e for e in listed if e.severity == "condition"]
    stated = sum(bool(e.stated) for e in conditions)
    if not count["proof"] and not conditions:
        return None
    proofs = f"{plural(count['proof'], 'printed step of a proof fails', 'printed steps of proofs fail')}"
    left = f"{plural(len(conditions), 'condition is', 'conditions are')} left out, {stated} of which the paper states"
    slips = plural(count["misprint"], "misprint")
    return join([f"{proofs} although what they prove is true; {left} elsewhere; {slips} change nothing."])


def _repairs(listed: Sequence[Erratum]) -> Html | None:
    wrong = [e for e in listed if e.severity in FALSIFYING]
    if not wrong:
        return None
    free = sum(e.cost_kind == "free" for e in wrong)
    ranged = sum(e.cost_kind == "free in range" for e in wrong)
    costs = {"nothing": free, "nothing in a range that is stated": ranged, "something": len(wrong) - free - ranged}
    said = _listed([escape(f"{_cost(count)} {what}") for what, count in costs.items() if count])
    return join([f"Each of the {len(wrong)} errata that make something false has a correction here: ", said, "."])


def _cost(count: int) -> str:
    return f"{count} {'costs' if count == 1 else 'cost'}"


def _evidence(model: Page) -> Html:
    from audit.checks.proofs import ledger

    share, results = ledger.share(), model.report.results
    rigorous = sum(r.kind in ("proved", "enclosed", "exact") for r in results)
    checks = f"{plural(len(results), 'check')} ran, {rigorous} of them rigorous (no rounding decides)"
    steps = f"of {share.steps} steps of proofs {share.machine} are replayed by machine for all parameters"
    return join([f"How it is known: {checks}; {steps}."])


def _listed(parts: Sequence[Html], between: str = ", ") -> Html:
    """Parts as a sentence lists them: a, b and c."""
    if len(parts) == 1:
        return parts[0]
    return join([join(parts[:-1], between), " and ", parts[-1]])


# ----------------------------------------------------------------------------------------- at the end


def about_section(model: Page, frugal: object) -> Html:
    """Which text was checked, by what; how a verdict is made; what every word means."""
    paper, report = model.inventory.paper, model.report
    text = [
        ("Paper", f"{paper.title}, by {', '.join(paper.authors)}; arXiv {paper.arxiv}"),
        (
            "Text",
            f"TeX source of {paper.tex_lines} lines with SHA-256 {paper.sha256}; it carries no date and no version,"
            " so whoever asks about a later version compares it with dpso trace --paper FILE.tex",
        ),
        ("Numbers", "theorem, algorithm and equation numbers are those of that text when typeset; lines are TeX lines"),
        ("Run", f"level {report.level}, seed {report.seed}, {plural(len(report.results), 'check')}"),
        ("Code", f"SHA-256 of the code that gave the results: {report.code}"),
        ("Made", model.extras.made),
    ]
    return join(
        [
            tag("h3", "What was checked, and by what"),
            _terms(text),
            tag("h3", "How a verdict is made"),
            tag(
                "p",
                "Checks run and say what they found; errata say what they make false. A verdict follows from these two"
                " by one rule, without a hand: a check that comes out otherwise than recorded beats everything; then"
                " the gravest erratum whose counterexample ran decides; what is left holds only by a rigorous check. ",
                RULE,
            ),
            tag("h3", "Verdicts"),
            tag("dl", *(join([tag("dt", badge(g)), tag("dd", GRADE_MEANINGS[g])]) for g in GRADES), class_="terms"),
            tag("h3", "Severities of errata"),
            _terms((SEVERITY_WORDS[s], meaning) for s, meaning in SEVERITY_MEANINGS.items()),
            tag("h3", "Kinds of evidence, strongest first"),
            _terms(LEGEND.items()),
            tag("h3", "Tightness"),
            tag(
                "p",
                "The largest left side over right side of the claim that a check met. 1 says that the claim is attained"
                " and its constant cannot be bettered; a small number says that the claim has room on what was tried,"
                " not that a better constant is proved. Where one is, it stands in the statement under “Tight”.",
            ),
        ]
    )


def _terms(pairs: Iterable[tuple[str, str]]) -> Html:
    rows = [join([tag("dt", name), tag("dd", formula(text))]) for name, text in pairs if text]
    return tag("dl", *rows, class_="terms")


def grave(model: Page) -> Html | None:
    """The false statements by their errata, for the first screen: one line each."""
    wrong = [e for e in errata(model) if e.severity in FALSIFYING]
    if not wrong:
        return None
    rows = [
        tag(
            "li",
            erratum_link(e.id),
            " ",
            tag("span", SEVERITY_WORDS[e.severity], class_=f"severity s-{e.severity}"),
            " ",
            tag("b", formula(capital(e.title))),
            ": ",
            formula(e.regime),
        )
        for e in wrong
    ]
    return tag("ul", *rows, class_="grave")
