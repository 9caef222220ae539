"""Essays that are pasted: cut apart, titled, and every word kept."""

from __future__ import annotations

from pathlib import Path

from grater.annotate import content
from grater.annotate.importing import import_files, name_of, pasted_essays
from grater.annotate.store import Store


def test_a_line_of_hyphens_stands_between_two_essays_and_a_heading_is_a_title() -> None:
    pasted = "# My town\r\nIn my town - I think -\r\nwe live.\r\n\r\n---\r\nLast summer we went by boat.\r\n-----\r\n"
    assert pasted_essays(pasted) == [
        ("My town", "In my town - I think -\nwe live.\n"),
        ("2 Last summer we went", "Last summer we went by boat.\n"),
    ]


def test_two_essays_of_one_title_are_both_kept_and_an_empty_paste_is_none() -> None:
    assert [title for title, _ in pasted_essays("# A\none\n---\n# A\ntwo")] == ["A", "A (2)"]
    assert pasted_essays(" \n---\n \n") == []


def test_a_text_file_keeps_its_name(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "class"
    folder.mkdir()
    for name in ("anna", "ben"):
        (folder / f"{name}.txt").write_text(f"I am {name}.", encoding="utf-8")
    import_files(store, corpora=[folder])
    with store.read() as tx:
        assert [name_of(essay) for essay in content.all_essays(tx)] == ["anna", "ben"]
