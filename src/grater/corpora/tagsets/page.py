"""The page docs/tagsets.md, made from the tag sets and their maps; a test holds the page to the code."""

from __future__ import annotations

from grater.corpora.tagsets.tagset import OURS, TAGSETS, TagSet
from grater.corpora.tagsets.translation import ROUTES, translate

INTRODUCTION = """# Tag sets

The names that annotators give to errors. `grater` knows four sets; `grater corpus check` guesses which one a corpus
uses and reports tags that are not in it. In the examples `[wrong → right]` marks the error, and ∅ stands for no word.

This page is made from the code (`grater.corpora.tagsets.page`); change it there.

In Python:

```python
from grater.corpora.tagsets import TAGSETS, translate

TAGSETS["nucle"]["Vt"].description  # 'The tense of the verb is wrong.'
translate("Rloc-", "conll14", "nucle")  # broader: Rloc, and the reason
```
"""

MAPS = """## Maps

*exact*: the same errors. *broader*: the nearest tag covers more, or cuts otherwise. *split*: one of several, and the
words of the edit must tell (`translate_edit`, `split`). *none*: no counterpart. Maps other than from NUCLE
to CoNLL-2014 are our reading of the definitions. There is no map from NUCLE or CoNLL-2014 to the CLC codes: those
need the word class, which the tags do not name.
"""


def render_markdown(tagset: TagSet) -> str:
    """One set as a section with a table, group after group."""
    lines = [
        f"## `{tagset.name}`: {tagset.title}",
        "",
        f"{len(tagset)} tags in {len(tagset.groups)} groups.",
        "",
        "| tag | name | group | description | example |",
        "|---|---|---|---|---|",
    ]
    for tag in tagset:
        note = "" if tag.owes_correction else " Owes no correction."
        lines.append(f"| `{tag.code}` | {tag.name} | {tag.group} | {tag.description}{note} | {tag.example} |")
    return "\n".join(lines) + "\n"


def render_map(source: str, target: str) -> str:
    """What every tag of one set is in another."""
    lines = [f"### From `{source}` to `{target}`", "", f"| {source} | {target} | how | why |", "|---|---|---|---|"]
    for tag in TAGSETS[source]:
        mapped = translate(tag.code, source, target)
        codes = ", ".join(f"`{code}`" for code in mapped.codes) or "–"
        lines.append(f"| `{tag.code}` | {codes} | {mapped.relation} | {mapped.reason} |")
    return "\n".join(lines) + "\n"


def render_page() -> str:
    sets = [render_markdown(TAGSETS[name]) for name in OURS]
    maps = [render_map(source, target) for source, target in ROUTES]
    return "\n".join([INTRODUCTION, *sets, MAPS, *maps])
