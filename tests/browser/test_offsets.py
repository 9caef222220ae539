"""Offsets in the browser are the offsets of Python: code points, whatever the text (P7)."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from playwright.sync_api import Page

from tests.browser.modules import call

# Emoji of one code point and of several (family, flag, skin), combining marks, right-to-left with its marks, line
# ends of every kind, blanks that a browser likes to change.
PARTS = [
    *"👍😀", "👨‍👩‍👧‍👦", "🇳🇴", "🤝🏽", "e\u0301", "n\u0303\u0323", "שלום", "مرحبا", "\u200f", "\u200d", "\r\n",
    "\n", "\r", "\u00a0", "\t", "  ", " ", "\u2028", "\u3000", "\ufeff", "a", "don't", "well-known", ".",
    "<b>", "&amp;", "𝒜",
]  # fmt: skip
TEXTS = st.lists(st.one_of(st.sampled_from(PARTS), st.text(max_size=3)), max_size=12).map("".join)
BATCH = st.lists(TEXTS.flatmap(lambda text: st.tuples(st.just(text), spans(text))), min_size=1, max_size=25)
SLOWLY = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def spans(text: str) -> st.SearchStrategy[list[tuple[int, int]]]:
    place = st.integers(0, len(text))
    return st.lists(st.tuples(place, place).map(lambda pair: (min(pair), max(pair))), max_size=5)


@SLOWLY
@given(BATCH)
def test_javascript_cuts_the_same_words_as_python(
    module_page: Page, batch: list[tuple[str, list[tuple[int, int]]]]
) -> None:
    cut = call(
        module_page,
        "offsets",
        "v.map(([text, spans]) => { const o = new m.Offsets(text);"
        " return [o.length, spans.map(([a, b]) => o.slice(a, b))]; })",
        batch,
    )
    assert cut == [[len(text), [text[start:end] for start, end in found]] for text, found in batch]


@SLOWLY
@given(st.lists(TEXTS, min_size=1, max_size=25))
def test_every_code_point_goes_to_its_unit_and_back(module_page: Page, texts: list[str]) -> None:
    there_and_back = call(
        module_page,
        "offsets",
        "v.map((text) => { const o = new m.Offsets(text); const points = [...Array(o.length + 1).keys()];"
        " return points.map((point) => [o.unit(point), o.point(o.unit(point))]); })",
        texts,
    )
    assert there_and_back == [
        [[len(text[:point].encode("utf-16-le")) // 2, point] for point in range(len(text) + 1)] for text in texts
    ]


@SLOWLY
@given(BATCH)
def test_what_is_drawn_and_selected_is_what_the_span_says(
    module_page: Page, batch: list[tuple[str, list[tuple[int, int]]]]
) -> None:
    """Draw marks, select each by its pieces in the page, and read the selection back as offsets and quote."""
    read_back = call(module_page, "view", SELECT_AND_READ, batch)
    assert read_back == [
        {
            "text": without_line_ends(text),
            "spans": [[start, end, text[start:end]] for start, end in visible(text, found)],
        }
        for text, found in batch
    ]


SELECT_AND_READ = """
await (async () => {
  const { Text } = await import('/static/marking/text.js');
  const { newMark } = await import('/static/marking/marks.js');
  const { selectedSpan } = await import('/static/marking/places.js');
  return v.map(([raw, spans]) => {
    const root = document.createElement('div');
    document.body.replaceChildren(root);
    const text = new Text(raw);
    const view = new m.EssayView(root, text, new Map());
    const marks = spans.map(([start, end]) => newMark({ start, end, tag: 'Vt' }));
    view.draw({ marks });
    const drawn = [...root.querySelectorAll('.piece')].map((piece) => piece.textContent).join('');
    const found = [];
    for (const mark of marks) {
      const isOurs = (piece) => piece.textContent && piece.dataset.marks.split(' ').includes(String(mark.id));
      const letters = [...root.querySelectorAll('.marked')].filter(isOurs).map((piece) => piece.lastChild);
      if (!letters.length) continue;
      document.getSelection().setBaseAndExtent(letters[0], 0, letters.at(-1), letters.at(-1).length);
      const span = selectedSpan(root);
      found.push([span.start, span.end, text.slice(span.start, span.end)]);
    }
    return { text: drawn, spans: found };
  });
})()
"""


def without_line_ends(text: str) -> str:
    for end in LINE_ENDS:
        text = text.replace(end, "")
    return text


LINE_ENDS = ("\r\n", "\n", "\r", "\u2028", "\u2029")


def visible(text: str, found: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans as they can be selected: a line end at the rim has no letter on the page."""
    ends = {place for place, letter in enumerate(text) if letter in "\r\n\u2028\u2029"}
    trimmed = []
    for start, end in found:
        while start in ends and start < end:
            start += 1
        while end - 1 in ends and start < end:
            end -= 1
        if start < end:
            trimmed.append((start, end))
    return trimmed
