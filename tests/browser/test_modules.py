"""What the modules of the marking page compute, told from values."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from playwright.sync_api import Page

from tests.browser.modules import call

SPANS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)).map(sorted), max_size=6)
SLOWLY = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@SLOWLY
@given(st.lists(SPANS, min_size=1, max_size=25))
def test_pieces_are_the_range_each_code_point_once_and_know_their_marks(
    module_page: Page, batch: list[list[list[int]]]
) -> None:
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


def test_a_cursor_stretched_back_over_its_start_turns_round(module_page: Page) -> None:
    script = """await (async () => {
      const { Text } = await import('/static/marking/text.js');
      const text = new Text('one two three four');
      let cursor = m.onWord(text, 8);
      const seen = [];
      for (const step of [1, -1, -1, -1]) {
        cursor = m.byWord(text, cursor, step, true);
        seen.push(text.slice(cursor.start, cursor.end));
      }
      return seen;
    })()"""
    assert call(module_page, "cursor", script) == ["three four", "three", "two three", "one two three"]


def test_letters_find_the_code_before_the_name_and_the_name_before_the_group(module_page: Page) -> None:
    tags = [
        {"code": "Wcip", "name": "Wrong preposition", "group": "Word choice", "description": "on for in"},
        {"code": "Pref", "name": "Pronoun reference", "group": "Pronouns", "description": "points nowhere"},
        {"code": "WOinc", "name": "Sentence form", "group": "Word order", "description": "words in disorder"},
    ]
    script = "v.typed.map((typed) => m.ranked(v.tags, typed).map((tag) => tag.code))"
    asked = {"tags": tags, "typed": ["pre", "wo", "wrong", "", "zz"]}
    assert call(module_page, "ranking", script, asked) == [["Pref", "Wcip"], ["WOinc", "Wcip"], ["Wcip"], [], []]


def test_undo_forgets_what_was_undone_once_something_new_is_done(module_page: Page) -> None:
    script = """(() => {
      const history = new m.History('a');
      history.apply('b', 'to b');
      history.apply('c', 'to c');
      const seen = [history.undo(), history.state];
      history.apply('d', 'to d');
      return [...seen, history.redo(), history.state, history.undo(), history.undo(), history.undo(), history.state];
    })()"""
    assert call(module_page, "history", script) == ["to c", "b", None, "d", "to d", "to b", None, "a"]


def test_blanks_at_the_rim_of_a_selection_are_dropped_but_blanks_alone_stay(module_page: Page) -> None:
    script = """v.map(([letters, start, end]) => {
      const text = { slice: (from, to) => [...letters].slice(from, to).join('') };
      const span = m.trimmed(text, { start, end });
      return [span.start, span.end];
    })"""
    asked = [["a word \n", 1, 8], ["a  b", 1, 3], ["😀 x ", 1, 4]]
    assert call(module_page, "pointer", script, asked) == [[2, 6], [1, 3], [2, 3]]


def test_what_the_browser_kept_for_one_person_is_nothing_to_another(module_page: Page) -> None:
    script = """(() => {
      const mine = new m.Keep(localStorage, 'ada', 'L1');
      mine.keepDraft({ revision: 1, body: {} });
      mine.keepAnswer({ lease: 'L1', form: {} });
      const other = new m.Keep(localStorage, 'ben', 'L1');
      return [other.draft(), other.answers().length, mine.draft().revision, mine.answers().length];
    })()"""
    assert call(module_page, "keep", script) == [None, 0, 1, 1]
