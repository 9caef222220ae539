import pytest

from grater.errors import GraterError
from grater.measure.agreement.cohen import confusion, confusions, disagreements, ok_label
from grater.measure.units import coded
from tests.measure.agreement.tables import TABLE_3, judgments, of_confusion


def test_table_of_two_raters_is_theirs() -> None:
    [table] = confusions(coded(of_confusion(TABLE_3)))
    assert table.raters == ("r0", "r1")
    assert table.labels == ("Extraneous", "OK", "Wrong-Choice")
    assert table.cells.tolist() == [[17, 6, 0], [4, 1213, 33], [1, 20, 42]]


def test_every_pair_has_a_table_also_one_without_an_item() -> None:
    tables = list(confusions(coded(judgments("a 1 x", "a 2 y", "b 2 x", "b 3 x"))))
    assert [(table.raters, table.n) for table in tables] == [(("1", "2"), 1), (("1", "3"), 0), (("2", "3"), 1)]


def test_raters_without_errors_have_no_disagreement_rate() -> None:
    first, _ = disagreements(confusion([[5, 1], [0, 0]], ("OK", "error")), ok="OK")
    assert first.n == 0
    assert first.rate.undefined_because


def test_unknown_ok_label_is_answered_with_those_there_are() -> None:
    with pytest.raises(GraterError, match="Did you mean 'OK'"):
        disagreements(TABLE_3, ok="OKK")


def test_label_for_no_error_is_known_by_its_name() -> None:
    assert ok_label(("error", "Ok")) == "Ok"
    assert ok_label(("0", "1")) is None


def test_table_of_the_wrong_shape_is_refused() -> None:
    with pytest.raises(GraterError, match="2 x 2 labels"):
        confusion([[1, 2, 3]], ("a", "b"))
