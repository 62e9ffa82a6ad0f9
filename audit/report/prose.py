"""Formulas inside sentences: what errata, verdicts and checks write in plain characters, typeset as `math` elements.

`formula("if α < 4L0R, then ‖x‖_p ≤ 2^{3r/2}")` finds the runs of symbols (a letter that stands alone, numbers,
brackets, roots, indices, powers, names like log, and what joins them) and leaves words, identifiers and file names
alone. A run is a formula only if it has a letter and something that letters in prose have not: an operator, a relation,
a bracket of several, an index, a Greek character. A formula is cut before its relations, where a line may end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from audit.runtime.markup import Html, escape

NAMES = frozenset(
    (
        "log",
        "ln",
        "exp",
        "tanh",
        "max",
        "min",
        "sup",
        "inf",
        "dist",
        "prox",
        "sgn",
        "argmin",
        "polylog",
        "ulp",
        "erfc",
        "Gap",
        "Rank",
    )
)
"""Functions, which stand upright."""
PRODUCTS = frozenset(("nd", "nT", "bR", "RD", "DK", "GT", "Gt", "Gx", "EX", "Ay"))
"""Pairs of letters that are products (or a mean), not words."""
ALONE = frozenset("bcdfghkmnpqrtuvwxyzDGJKLMRSTUWX")
"""Letters that are symbols although nothing else says so."""
CHAPTERS = ("Appendix ", "Section ", "Part ")
"""After these a letter is a name."""
RELATIONS = frozenset("=≠<>≤≥≪≫∈∉⊂⊆≈≡∝→↦")
OPERATORS = frozenset("+−·×/±∓∩∪∘")
CLOSING = {"(": ")]", "[": "])", "{": "}", "⟨": "⟩", "⌈": "⌉", "⌊": "⌋", "|": "|", "‖": "‖"}
RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789−+", strict=True))
"""Powers that are characters."""
LETTERS = r"A-Za-z\u0100-\u017f\u0370-\u03ff∞∇∂ℓℝℤℕ\U0001d49c-\U0001d4cf"
FARTHEST = 120
"""Characters within which a bracket closes: beyond, it is no formula."""
LONGEST = 14
"""Characters after which a formula is cut before a sum, too; before a product after twice as many."""

_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d{1,4}(?![\w.]*\w))?")
_CHUNK = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_SYMBOL = re.compile(rf"[{LETTERS}][\u0300-\u036f]?")
_CONSTANTS = re.compile(r"[a-z]?(?:L[01]|[A-Z])*L[01](?:L[01]|[A-Z])*")
_CONSTANT = re.compile(r"L[01]|[A-Za-z]")
_INDEX = re.compile(
    r"[*+]|[A-Za-z0-9∞\u0370-\u03ff]{1,2}[\u0300-\u036f]?(?![A-Za-z0-9_\u0300-\u036f])|[a-z0-9](?=[A-Z(])"
)
_POWER = re.compile(rf"[−-]?(?:\d+|[*{LETTERS}])")
_WORD = re.compile(r"[^\W_](?:[\w.:’']*\w)?")
_COMMA = re.compile(r"([,;:])( ?)")
_TAIL = re.compile(r"(?:[-–][A-Za-z]+)?[,;:.)]*")
"""What hangs on a formula: -Lipschitz, and a comma, before which no line ends."""
_CODE = re.compile(r"`([^`<>\s](?:[^`<>\n]{0,58}[^`<>\s])?)`")


@dataclass(frozen=True)
class FormulaPart:
    """A piece of a formula: its markup, where it ends, what it is ("letter", "number", "name", "bracket", "sign"),
    and whether it shows that this is a formula.
    """

    markup: str
    end: int
    kind: str
    shows: bool = False
    lettered: bool = True
    inner: tuple[FormulaPart, ...] = ()
    """Of a bracket: its two ends and what is between."""


def formula(text: object) -> Html:
    """A text with its formulas as `math` elements and its `names` as code; what is markup already stays as it is."""
    return text if isinstance(text, Html) else _typeset_text(str(text))


@lru_cache(maxsize=8192)
def _typeset_text(text: str) -> Html:
    return Html("".join(_pieces(text)))


def _pieces(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        parts = _whole(text, _run(text, at))
        if code := _CODE.match(text, at):
            yield f"<code>{escape(code[1])}</code>"
            at = code.end()
        elif _is_formula(text, at, parts):
            at = parts[-1].end
            yield _tied(_typeset(parts), tail[0]) if (tail := _TAIL.match(text, at)) and tail[0] else _typeset(parts)
            at = tail.end() if tail else at
        else:
            kept = parts and parts[0].kind != "bracket"
            word = _WORD.match(text, at)
            end = parts[-1].end if kept else word.end() if word else at + 1
            yield escape(text[at:end])
            at = end


def _whole(text: str, parts: list[FormulaPart]) -> list[FormulaPart]:
    """The parts without a last symbol that is the beginning of a word, and without the signs before it."""
    if parts and _goes_on(text, parts[-1].end):
        parts = parts[:-1]
        while parts and parts[-1].kind in ("sign", "relation"):
            parts = parts[:-1]
        if parts and _goes_on(text, parts[-1].end):
            return []
    return parts


def _is_formula(text: str, at: int, parts: list[FormulaPart]) -> bool:
    """Whether parts say that they are one."""
    if not parts:
        return False
    only = parts[0] if len(parts) == 1 else None
    if only and only.kind == "letter" and not only.shows:
        before = text[:at]
        named = before.endswith(CHAPTERS) or text[only.end : only.end + 1] in ("'", "’", "`")
        return text[at : only.end] in ALONE and not named
    if only and only.kind == "number":
        return only.shows
    calls = any(a.kind == "letter" and b.kind == "bracket" and b.lettered for a, b in pairwise(parts))
    shown = calls or any(part.shows or part.kind == "sign" for part in parts)
    shown |= not only and any(part.kind == "name" for part in parts)
    return shown and any(part.lettered for part in parts)


def _goes_on(text: str, end: int) -> bool:
    """Whether the last symbol is the beginning of a word, or of a name with dots or underscores."""
    return bool(re.match(r"[A-Za-z0-9_]|[.:](?=\w)", text[end : end + 2]))


def _run(text: str, at: int, closing: str = "") -> list[FormulaPart]:
    """Parts one after another, as far as they go."""
    parts: list[FormulaPart] = []
    if (
        not closing
        and text[at : at + 1] in ("≤", "≥")
        and (first := _part(text, at + 1 + (text[at + 1 : at + 2] == " "), ""))
    ):
        parts = [FormulaPart(_operator(text[at], "infix"), at + 1, "relation", True, False), first]
    elif text[at : at + 1] in ("−", "±") and (first := _part(text, at + 1, closing)):
        parts = [FormulaPart(_operator(text[at], "prefix"), at + 1, "sign", lettered=False), first]
    elif first := _part(text, at, closing):
        parts = [first]
    while parts:
        more = _joined(text, parts[-1], closing)
        if not more:
            break
        parts += more
    return parts


def _joined(text: str, last: FormulaPart, closing: str) -> list[FormulaPart]:
    """What follows a part: a sign with its right side, or a part that stands beside it. Spaces stay in the markup."""
    at = last.end
    spaced = text[at : at + 1] == " "
    sign = text[at + spaced : at + spaced + 1]
    even = spaced == (text[at + spaced + 1 : at + spaced + 2] == " ")
    if sign and (sign in RELATIONS or (sign in OPERATORS and even)):
        after = at + spaced + 1
        after += text[after : after + 1] == " "
        minus = text[after : after + 1] == "−"
        if right := _part(text, after + minus, closing):
            blanks = " " * spaced, " " * (text[after - 1] == " ")
            signs = [
                FormulaPart(
                    _operator(sign).join(blanks), after, "relation" if sign in RELATIONS else "sign", True, False
                )
            ]
            if minus:
                signs.append(FormulaPart(_operator("−", "prefix"), after + 1, "sign", False, False))
            return [*signs, right]
        return []
    beside = _part(text, at + spaced, closing)
    if beside is None or (text[at + spaced] in "|‖" and spaced):
        return []
    if spaced:
        calls = beside.kind == "name" and last.kind in ("letter", "number", "bracket", "name")
        takes = last.kind == "name" and beside.kind in ("letter", "number", "root")
        return [replace(beside, markup=f" {beside.markup}")] if calls or takes else []
    if beside.kind == "number" and last.kind in ("number", "letter"):
        return []
    return [beside]


def _part(text: str, at: int, closing: str) -> FormulaPart | None:
    """One number, symbol, name, bracket or root, with its index and power."""
    mark = text[at : at + 1]
    if not mark or (mark == closing and mark in "|‖"):
        return None
    if mark == "√":
        return _root(text, at, closing)
    if mark in CLOSING:
        return _scripted(text, _bracket(text, at))
    if found := _NUMBER.match(text, at):
        return _number(text, found)
    if mark in "…·" and closing:
        return FormulaPart(f"<mo>{mark}</mo>", at + 1, "letter", False, mark == "·")
    return _letters(text, at)


def _number(text: str, found: re.Match[str]) -> FormulaPart | None:
    digits, _, exponent = found[0].partition("e")
    if not exponent:
        return _scripted(text, FormulaPart(f"<mn>{digits}</mn>", found.end(), "number", lettered=False))
    power = f"<msup><mn>10</mn><mn>{str(int(exponent)).replace('-', '−')}</mn></msup>"
    times = "" if digits == "1" else f"<mn>{digits}</mn><mo>·</mo>"
    return FormulaPart(times + power, found.end(), "number", True, False)


def _letters(text: str, at: int) -> FormulaPart | None:
    """A symbol, a name, or constants side by side: L0R."""
    if not (chunk := _CHUNK.match(text, at)):
        if not (found := _SYMBOL.match(text, at)):
            return None
        if index := re.match(r"\d(?![\d.])", text[found.end() : found.end() + 2]):
            return FormulaPart(f"<msub><mi>{found[0]}</mi><mn>{index[0]}</mn></msub>", found.end() + 1, "letter", True)
        return _scripted(text, FormulaPart(f"<mi>{found[0]}</mi>", found.end(), "letter", True))
    word = chunk[0]
    if word in NAMES:
        return _scripted(text, FormulaPart(f"<mi>{word}</mi>", chunk.end(), "name", False, False))
    if word == "log2":
        return FormulaPart("<msub><mi>log</mi><mn>2</mn></msub>", chunk.end(), "name", True, False)
    if len(word) == 1:
        found = _SYMBOL.match(text, at)
        assert found is not None
        return _scripted(text, FormulaPart(f"<mi>{found[0]}</mi>", found.end(), "letter", len(found[0]) > 1))
    if re.fullmatch(r"[a-z]\d", word):
        return FormulaPart(f"<msub><mi>{word[0]}</mi><mn>{word[1]}</mn></msub>", chunk.end(), "letter", True)
    if word in PRODUCTS or _CONSTANTS.fullmatch(word):
        *first, last = _CONSTANT.findall(word)
        made = "".join(_constant(letter) for letter in first)
        part = _scripted(text, FormulaPart(_constant(last), chunk.end(), "letter", True))
        return FormulaPart(made + part.markup, part.end, "letter", True) if part else None
    return None


def _constant(text: str) -> str:
    return f"<mi>{text}</mi>" if len(text) == 1 else f"<msub><mi>{text[0]}</mi><mn>{text[1]}</mn></msub>"


def _bracket(text: str, at: int) -> FormulaPart | None:
    """A bracket and what is in it, parts by commas."""
    mark, where, several = text[at], at + 1, 1
    if not any(end in text[where : where + FARTHEST] for end in CLOSING[mark]):
        return None
    inside = [FormulaPart(_fence(mark), where, "fence", lettered=False)]
    while parts := _run(text, where, CLOSING[mark][0]):
        inside, where = [*inside, *parts], parts[-1].end
        comma = _COMMA.match(text, where)
        if not comma:
            break
        where, several = comma.end(), several + 1
        inside.append(FormulaPart(f"<mo>{comma[1]}</mo>{comma[2]}", where, "comma", lettered=False))
    end = text[where : where + 1]
    if not parts or not end or end not in CLOSING[mark]:
        return None
    lettered = any(part.lettered for part in inside)
    shows = lettered and (mark in "|‖" or several > 1 or any(part.shows or part.kind == "sign" for part in inside))
    inner = (*inside, FormulaPart(_fence(end), where + 1, "fence", lettered=False))
    return FormulaPart(_row(inner), where + 1, "bracket", shows, lettered, inner)


def _row(parts: Iterable[FormulaPart]) -> str:
    return f"<mrow>{_side_by_side(parts)}</mrow>"


def _side_by_side(parts: Iterable[FormulaPart]) -> str:
    """The markup of parts, with a space beside the name of a function."""
    made, before = "", None
    for part in parts:
        made += (SPACE if before is not None and _apart(before, part) else "") + part.markup
        before = part
    return made


def _root(text: str, at: int, closing: str) -> FormulaPart | None:
    """A root of what follows the sign; round brackets around it are not written."""
    inner = None if text[at + 1 : at + 2] == "√" else _part(text, at + 1, closing)
    if inner is None:
        return None
    if inner.kind == "name" and (argument := _part(text, inner.end, closing)):
        inner = FormulaPart(inner.markup + argument.markup, argument.end, "root", True, argument.lettered)
    round_ = inner.inner and inner.inner[0].markup == _fence("(") and inner.inner[-1].markup == _fence(")")
    held = _row(inner.inner[1:-1]) if round_ else inner.markup
    return FormulaPart(f"<msqrt>{held}</msqrt>", inner.end, "root", True, inner.lettered)


def _scripted(text: str, base: FormulaPart | None) -> FormulaPart | None:
    """The part with its index, power, prime or star; None if an underscore belongs to a name of code."""
    if base is None:
        return None
    at, low, high = base.end, "", ""
    if base.kind == "letter" and text[at : at + 1] == "'" and not text[at + 1 : at + 2].isalpha():
        high, at = "<mo>′</mo>", at + 1
        if text[at : at + 1] == "^" and (found := _script(text, at + 1, _POWER)):
            high, at = f"<mrow>{high}{found[0]}</mrow>", found[1]
    elif base.kind == "letter" and re.match(r"\*(?![\w*])|\*(?=_)", text[at : at + 2]):
        high, at = "<mo>*</mo>", at + 1
    if text[at : at + 1] == "_":
        found = _script(text, at + 1, _INDEX)
        if found is None:
            return None
        low, at = found
    if text[at : at + 1] == "^" and not high and (found := _script(text, at + 1, _POWER)):
        high, at = found
    while not high.endswith(">") and text[at : at + 1] in RAISED:
        high, at = high + RAISED[text[at]], at + 1
    if high and not high.startswith("<"):
        high = f"<mn>{high}</mn>"
    if not low and not high:
        return base
    kind = {(True, True): "msubsup", (True, False): "msub", (False, True): "msup"}[bool(low), bool(high)]
    markup = f"<mrow>{base.markup}</mrow>" if base.markup.count("</") > 1 and base.kind != "bracket" else base.markup
    return FormulaPart(
        f"<{kind}>{markup}{low}{high}</{kind}>", at, base.kind, True, base.lettered or base.kind in ("number", "name")
    )


def _script(text: str, at: int, pattern: re.Pattern[str]) -> tuple[str, int] | None:
    """An index or a power, and where it ends."""
    mark = text[at : at + 1]
    if mark in ("{", "(") and (close := text.find({"{": "}", "(": ")"}[mark], at, at + FARTHEST)) > 0:
        return _inner(text[at + 1 : close]), close + 1
    found = pattern.match(text, at)
    return (_inner(found[0]), found.end()) if found else None


def _inner(text: str) -> str:
    """What stands in an index or a power: a formula, or a text that is none."""
    text = re.sub(r"^-(?=\w)", "−", text)
    if text in ("*", "+"):
        return f"<mo>{text}</mo>"
    made, at = "", 0
    while at < len(text):
        parts = _run(text, at)
        if not parts:
            return f"<mtext>{escape(text)}</mtext>"
        made, at = made + _side_by_side(parts), parts[-1].end
        if at < len(text):
            comma = re.compile(r", ?").match(text, at)
            if not comma:
                return f"<mtext>{escape(text)}</mtext>"
            made, at = f"{made}<mo>,</mo>", comma.end()
    return made if made.count("</") == 1 else f"<mrow>{made}</mrow>"


def _operator(sign: str, form: str = "") -> str:
    shown = escape(sign)
    if sign in "/·":
        return f'<mo lspace="0" rspace="0">{shown}</mo>'
    return f'<mo form="{form}">{shown}</mo>' if form else f"<mo>{shown}</mo>"


SPACE = '<mspace width="0.17em"></mspace>'
SUMS = frozenset((_operator("+"), _operator("−")))
TIMES = frozenset((_operator("·"), _operator("/")))


def _fence(mark: str) -> str:
    return f'<mo stretchy="false">{mark}</mo>'


def _typeset(parts: list[FormulaPart]) -> str:
    """The formula; in several elements with spaces between them where a line may end."""
    lines, before, short = [""], None, sum(_width(part.markup) for part in parts) <= LONGEST
    for part in _flat(parts):
        long = _width(lines[-1]) > LONGEST
        full = _width(lines[-1]) > 2 * LONGEST
        ends = (long and part.markup.strip() in SUMS) or (full and part.markup.strip() in TIMES)
        if before is not None and ((part.kind == "relation" and not short) or ends):
            lines.append(part.markup.lstrip().replace("<mo>", '<mo form="infix" lspace="0">', 1))
        elif before is not None and long and before.kind == "comma":
            lines.append(part.markup.strip())
        else:
            lines[-1] += (SPACE if before is not None and _apart(before, part) else "") + part.markup
        before = part
    return " ".join(f"<math>{line.rstrip()}</math>" for line in lines)


def _tied(made: str, tail: str) -> str:
    """A formula and the word that hangs on it, on one line."""
    rest, _, last = made.rpartition(" <math>")
    last = last if rest else made.removeprefix("<math>")
    return f'{rest}{" " if rest else ""}<span class="tied"><math>{last}{escape(tail)}</span>'


def _flat(parts: Iterable[FormulaPart]) -> Iterator[FormulaPart]:
    """The parts, those of a long bracket one by one."""
    for part in parts:
        if part.inner and _width(part.markup) > LONGEST:
            yield from _flat(part.inner)
        else:
            yield part


def _width(markup: str) -> int:
    return len(re.sub(r"<[^>]*>", "", markup))


def _apart(before: FormulaPart, part: FormulaPart) -> bool:
    """Whether one of two neighbours is the name of a function, and the other stands beside it without a bracket."""
    beside = "letter", "number", "name", "root"
    if "name" not in (before.kind, part.kind):
        return False
    return before.kind in (*beside, "bracket") and part.kind in beside
