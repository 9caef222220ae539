"""What an `<NS>` says: what the learner wrote, what it should be, and what it may hold (rules in the package)."""

from __future__ import annotations

from collections.abc import Sequence

from grater.corpora.fce.elements import Element
from grater.errors import Problems


def original(ns: Element) -> Sequence[Element | str]:
    """What the learner wrote there; white space between `<i>` and `<c>` is layout."""
    for wrong in ns.named("i"):
        return wrong.children
    bare = [child for child in ns.children if isinstance(child, str) or child.name != "c"]
    is_layout = len(bare) < len(ns.children) and not any(isinstance(c, Element) or c.strip() for c in bare)
    return [] if is_layout else bare


def replacements(ns: Element) -> tuple[str, ...]:
    corrections = ns.named("c")
    if corrections:
        return tuple(corrected(part.children) for part in corrections)
    return ("",) if ns.named("i") else ()


def corrected(children: Sequence[Element | str]) -> str:
    """The text with every `<NS>` in it corrected, by its first correction."""
    return "".join(child if isinstance(child, str) else _corrected_element(child) for child in children)


def _corrected_element(ns: Element) -> str:
    for part in ns.named("c"):
        return corrected(part.children)
    return "" if ns.named("i") else corrected(ns.children)


def check(ns: Element, problems: Problems) -> None:
    """Report what would be lost or is not clear in an `<NS>` and its corrections; its `<i>` is not gone into."""
    wrong, corrections = ns.named("i"), ns.named("c")
    for part in (*wrong, *corrections):
        expect(part, part.name, problems)
    for part in wrong[1:]:
        problems.add("expected one <i> in an <NS>, found another", line=part.line)
    if wrong:
        expect_no_text(ns, problems)
    for part in ns.elements if wrong else ():
        if part.name not in ("i", "c"):
            problems.add(f"expected <i> and <c> alone, found <{part.name}> beside them", line=part.line)
    for part in corrections:
        check_all(part.children, problems)


def check_all(children: Sequence[Element | str], problems: Problems) -> None:
    """Report the same of every `<NS>` at any depth, and all that is not one."""
    for child in children:
        if isinstance(child, Element):
            expect(child, "NS", problems)
            check(child, problems)
            check_all(original(child), problems)


def expect(element: Element, name: str, problems: Problems) -> None:
    if element.name != name:
        problems.add(f"expected <{name}>, found <{element.name}>", line=element.line)
    elif element.attributes and name != "NS":
        problems.add(f"expected <{name}> without attributes, found some", line=element.line)


def expect_no_text(element: Element, problems: Problems) -> None:
    text = element.text.strip()
    if text:
        problems.add(f"expected no text directly in <{element.name}>, found {text[:20]!r}", line=element.line)
