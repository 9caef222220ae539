"""The page docs/tagsets.md, made from the tag sets and their maps; a test holds the page to the code."""

from __future__ import annotations

from grater.corpora.tagsets.tagset import OURS, TAGSETS, Tag, TagSet
from grater.corpora.tagsets.translation import ROUTES, translate

INTRODUCTION = """# Tag sets

grater knows four sets of error tags; `grater corpus check` guesses which one a corpus
uses and reports tags that are not in it. In the examples `[wrong → right]` marks the error, and ∅ means no word.
ERRANT's `M:`, `R:` and `U:` are missing, replaced and unnecessary.

Generated from `grater.corpora.tagsets.page`.

```python
from grater.corpora.tagsets import TAGSETS, translate

TAGSETS["nucle"]["Vt"].description  # 'The tense of the verb is wrong.'
translate("Rloc-", "conll14", "nucle")  # broader: Rloc, and the reason
```
"""

MAPS = """## Maps

*exact*: the same errors. *broader*: the nearest tag covers more, or draws the line elsewhere. *split*: one of
several, depending on the words of the edit (`translate_edit`, `split`). *none*: no counterpart. Maps other than from
NUCLE to CoNLL-2014 are our reading of the definitions. `translate` also has the two maps between ERRANT and CLC,
which are long. NUCLE and ERRANT, and CLC to NUCLE, go by way of CoNLL-2014. There is no map from NUCLE or CoNLL-2014
to the CLC codes: those need the word class, which the tags do not name.
"""


NAMED = ("nucle", "conll14")
"""Sets whose names and groups are not told by the tags themselves."""


def render_markdown(tagset: TagSet, known: TagSet | None = None) -> str:
    """One set as a section with a table, group after group; tags that mean the same share a row.

    Those that `known` has as they are have none.
    """
    tags = [tag for tag in tagset if known is None or tag not in tuple(known)]
    others = f" Those not listed are as in `{known.name}`." if known is not None else ""
    columns = ["tag", *(("name", "group") if tagset.name in NAMED else ()), "description", "example"]
    lines = [
        f"## `{tagset.name}`: {tagset.title}",
        "",
        f"{len(tagset)} tags in {len(tagset.groups)} groups.{others}",
        "",
        f"| {' | '.join(columns)} |",
        "|---" * len(columns) + "|",
    ]
    rows: dict[tuple[str, ...], list[Tag]] = {}
    for tag in tags:
        named = (tag.name, tag.group) if tagset.name in NAMED else ()
        note = "" if tag.owes_correction else " Owes no correction."
        rows.setdefault((*named, f"{tag.description}{note}"), []).append(tag)
    for told, alike in rows.items():
        cells = [", ".join(f"`{tag.code}`" for tag in alike), *told, " · ".join(tag.example for tag in alike)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def render_map(source: str, target: str) -> str:
    """What every tag of one set is in another; tags that fare alike share a row."""
    lines = [f"### From `{source}` to `{target}`", "", f"| {source} | {target} | how | why |", "|---|---|---|---|"]
    rows: dict[tuple[str, str, str], list[str]] = {}
    for tag in TAGSETS[source]:
        mapped = translate(tag.code, source, target)
        codes = "the same" if mapped.codes == (tag.code,) else ", ".join(f"`{code}`" for code in mapped.codes) or "–"
        rows.setdefault((codes, mapped.relation, mapped.reason), []).append(f"`{tag.code}`")
    same = rows.pop(("the same", "exact", ""), None)
    lines += [f"| {', '.join(tags)} | {codes} | {how} | {why} |" for (codes, how, why), tags in rows.items()]
    return "\n".join([*lines, *(["| all others | the same | exact |  |"] if same else [])]) + "\n"


LONG = (("errant", "clc"), ("clc", "errant"))
"""Maps that the page leaves to `translate`."""


def render_page() -> str:
    sets = [render_markdown(TAGSETS[name], TAGSETS["nucle"] if name == "conll14" else None) for name in OURS]
    maps = [render_map(*route) for route, steps in ROUTES.items() if len(steps) == 1 and route not in LONG]
    return "\n".join([INTRODUCTION, *sets, MAPS, *maps])
