"""What the modules of the marking page compute, told from values.

Offsets in the browser are the offsets of Python: code points, whatever the text (P7).
"""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from playwright.sync_api import Page

from tests.browser.modules import call

SPANS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)).map(sorted), max_size=6)
SLOWLY = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@SLOWLY
@given(st.lists(SPANS, min_size=1, max_size=25))
def test_pieces_are_the_range_once_and_know_their_marks(module_page: Page, batch: list[list[list[int]]]) -> None:
    found = call(
        module_page,
        "pieces",
        "v.map((spans) => m.cut(0, 12, spans.map(([start, end], id) => ({ id, start, end })))"
        ".map(({ start, end, marks }) => [start, end, marks.map((mark) => mark.id)]))",
        batch,
    )
    for spans, pieces in zip(batch, found, strict=True):  # type: ignore[call-overload]
        assert [place for start, end, _ in pieces for place in range(start, end)] == list(range(12))
        for start, end, marks in pieces:
            if start == end:
                assert marks == [number for number, span in enumerate(spans) if span == [start, start]]
            else:
                covering = [n for n, (first, last) in enumerate(spans) if first < last and first <= start < last]
                assert marks == covering


@SLOWLY
@given(st.lists(SPANS, min_size=1, max_size=25))
def test_marks_on_one_letter_never_share_a_lane(module_page: Page, batch: list[list[list[int]]]) -> None:
    script = """v.map((spans) => {
      const marks = spans.map(([start, end], id) => ({ id, start, end, tag: 'Vt' }))
        .sort((one, other) => one.start - other.start || other.end - one.end);
      return [...m.lanesOf(marks)];
    })"""
    for spans, lanes in zip(batch, call(module_page, "lanes", script, batch), strict=True):  # type: ignore[call-overload]
        by_mark = dict(lanes)
        for one, (start, end) in enumerate(spans):
            for other, (first, last) in enumerate(spans[:one]):
                if max(start, first) < min(end, last):
                    assert by_mark[one] != by_mark[other]


def test_lines_end_paragraphs_however_they_are_written(module_page: Page) -> None:
    text = "a\r\nb\n\nc\rd\u2028e"
    paragraphs = call(module_page, "text", "new m.Text(v).paragraphs.map(({ start, end }) => [start, end])", text)
    assert paragraphs == [[0, 1], [3, 4], [5, 5], [6, 7], [8, 9], [10, 11]]


def test_a_long_paragraph_is_drawn_in_chunks_that_add_up_to_it(module_page: Page) -> None:
    text = "one two three " * 300
    chunks = call(module_page, "text", "new m.Text(v).chunks.map(({ start, end }) => [start, end])", text)
    assert len(chunks) > 5  # type: ignore[arg-type]
    assert [place for start, end in chunks for place in range(start, end)] == list(range(len(text)))  # type: ignore[attr-defined]


def test_a_new_mark_draws_its_own_chunk_anew_and_nothing_else(module_page: Page) -> None:
    """An essay of one paragraph, however long, is as quick as one of many."""
    script = """await (async () => {
      const { Text } = await import('/static/marking/text.js');
      const { newMark } = await import('/static/marking/marks.js');
      const text = new Text('one two three '.repeat(1500));
      const root = document.createElement('div');
      const view = new m.EssayView(root, text, new Map());
      const marks = Array.from({ length: 400 }, (_, n) => newMark({ start: 50 * n, end: 50 * n + 9, tag: 'Vt' }));
      view.draw({ marks });
      const watch = new MutationObserver(() => {});
      watch.observe(root, { subtree: true, childList: true, attributes: true });
      view.draw({ marks: [...marks, newMark({ start: 10001, end: 10020, tag: 'Nn' })] });
      return [...new Set(watch.takeRecords().map(({ target }) => target.dataset.chunk))];
    })()"""
    touched = call(module_page, "view", script)
    chunk = call(module_page, "text", "new m.Text('one two three '.repeat(1500)).chunkAt(10001)")
    assert touched == [str(chunk)]


def test_letters_find_the_code_before_the_name_and_the_name_before_the_group(module_page: Page) -> None:
    tags = [
        {"code": "Wcip", "name": "Wrong preposition", "group": "Word choice", "description": "on for in"},
        {"code": "Pref", "name": "Pronoun reference", "group": "Pronouns", "description": "points nowhere"},
        {"code": "WOinc", "name": "Sentence form", "group": "Word order", "description": "words in disorder"},
    ]
    script = "v.typed.map((typed) => m.ranked(v.tags, typed).map((tag) => tag.code))"
    asked = {"tags": tags, "typed": ["pre", "wo", "wrong", "", "zz"]}
    assert call(module_page, "ranking", script, asked) == [["Pref", "Wcip"], ["WOinc", "Wcip"], ["Wcip"], [], []]


def test_what_the_browser_kept_for_one_person_is_nothing_to_another(module_page: Page) -> None:
    script = """(() => {
      const mine = new m.Keep(localStorage, 'ada', 'L1');
      mine.keepDraft({ revision: 1, body: {} });
      mine.keepAnswer({ lease: 'L1', form: {} });
      const other = new m.Keep(localStorage, 'ben', 'L1');
      return [other.draft(), other.answers().length, mine.draft().revision, mine.answers().length];
    })()"""
    assert call(module_page, "keep", script) == [None, 0, 1, 1]


# Emoji of one code point and of several (family, flag, skin), combining marks, right-to-left with its marks, line
# ends of every kind, blanks that a browser likes to change.
PARTS = [
    *"👍😀", "👨‍👩‍👧‍👦", "🇳🇴", "🤝🏽", "e\u0301", "n\u0303\u0323", "שלום", "مرحبا", "\u200f", "\u200d", "\r\n",
    "\n", "\r", "\u00a0", "\t", "  ", " ", "\u2028", "\u3000", "\ufeff", "a", "don't", "well-known", ".",
    "<b>", "&amp;", "𝒜",
]  # fmt: skip
TEXTS = st.lists(st.one_of(st.sampled_from(PARTS), st.text(max_size=3)), max_size=12).map("".join)
BATCH = st.lists(TEXTS.flatmap(lambda text: st.tuples(st.just(text), spans(text))), min_size=1, max_size=25)


def spans(text: str) -> st.SearchStrategy[list[tuple[int, int]]]:
    place = st.integers(0, len(text))
    return st.lists(st.tuples(place, place).map(lambda pair: (min(pair), max(pair))), max_size=5)


@SLOWLY
@given(BATCH)
def test_javascript_cuts_words_as_python(module_page: Page, batch: list[tuple[str, list[tuple[int, int]]]]) -> None:
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
            "text": "".join(letter for letter in text if letter not in LINE_ENDS),
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


LINE_ENDS = "\r\n\u2028\u2029"


def visible(text: str, found: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans as they can be selected: a line end at the rim has no letter on the page."""
    ends = {place for place, letter in enumerate(text) if letter in LINE_ENDS}
    trimmed = []
    for start, end in found:
        while start in ends and start < end:
            start += 1
        while end - 1 in ends and start < end:
            end -= 1
        if start < end:
            trimmed.append((start, end))
    return trimmed
