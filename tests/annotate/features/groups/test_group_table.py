"""The rows of a group as a table."""

from allpairs.annotate.features.groups.group_table import CellMark, GroupRow, cell_marks, kept_first


def test_the_row_with_the_most_cells_stays_on_top() -> None:
    rows = [GroupRow(1, "a", ("x", " ", "")), GroupRow(2, "b", ("x", "y", "")), GroupRow(3, "c", ("", "y", "z"))]
    assert [row.id for row in kept_first(rows)] == ["b", "a", "c"]
    assert kept_first([]) == []


def test_cells_are_compared_one_by_one() -> None:
    kept = ("Anna Meier", "Hauptstr. 5", "", "030 123", "")
    row = ("Anna Meyer", "Hauptstr. 5 ", "x", "040 999", "")
    marks = [CellMark.SIMILAR, CellMark.SAME, CellMark.MISSING, CellMark.DIFFERENT, CellMark.SAME]
    assert cell_marks(kept, row) == marks
