//! Rows of cells as tables of Markdown, and files of such rows.

use super::draft::{Draft, one_line};
use super::error::{ExtractError, Result};
use steward_core::extracted::{Block, BlockKind};
use steward_sandbox::text::Rows;

/// Most columns of a table whose cells may cover several.
const COLUMNS: usize = 200;
/// Most cells that are empty since another one covers their place.
const COVERED_CELLS: usize = 1_000_000;

/// Rows of cells, each of which may cover several columns and rows. What is covered is empty, so that values stand below
/// the names of their columns.
#[derive(Debug, Default)]
pub(super) struct Grid {
    rows: Vec<Vec<String>>,
    /// For each column, how many rows from the last one on a cell covers there.
    covered: Vec<usize>,
    /// Where the next cell may stand.
    next: usize,
    covered_cells: usize,
}

impl Grid {
    pub fn start_row(&mut self) {
        self.covered.iter_mut().for_each(|rows| *rows = rows.saturating_sub(1));
        self.rows.push(Vec::new());
        self.next = 0;
    }

    /// Begins a cell. Beyond the most columns there are, its text goes to the last one.
    pub fn start_cell(&mut self, columns: usize, rows: usize) {
        let free = (self.next..COLUMNS).find(|column| self.covered.get(*column).is_none_or(|rows| *rows == 0));
        let (Some(row), Some(at)) = (self.rows.last_mut(), free) else { return };
        self.covered_cells += at.saturating_sub(row.len());
        if self.covered_cells <= COVERED_CELLS {
            row.resize(at.max(row.len()), String::new());
        }
        row.push(String::new());
        let end = at.saturating_add(columns.max(1)).min(COLUMNS);
        if self.covered.len() < end {
            self.covered.resize(end, 0);
        }
        self.covered[at..end].fill(rows);
        self.next = end;
    }

    /// The last cell covers so many columns more, or nothing is in them.
    pub fn skip_columns(&mut self, columns: usize) {
        self.next = self.next.saturating_add(columns).min(COLUMNS);
    }

    /// Cells cover no rows from here on.
    pub fn end_rows_covered(&mut self) {
        self.covered.clear();
    }

    /// The cell that was begun last in the last row.
    pub fn cell(&mut self) -> Option<&mut String> {
        self.rows.last_mut()?.last_mut()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The rows; what is left is empty.
    pub fn take(&mut self) -> Vec<Vec<String>> {
        std::mem::take(self).rows
    }
}

/// The first row is the head. Empty rows and columns are left out.
pub(super) fn markdown(rows: &[Vec<String>]) -> String {
    let filled = |column: usize| rows.iter().any(|row| row.get(column).is_some_and(|cell| !cell.trim().is_empty()));
    let widest = rows.iter().map(Vec::len).max().unwrap_or(0);
    let columns: Vec<usize> = (0..widest).filter(|column| filled(*column)).collect();
    let mut text = String::new();
    let mut written = 0;
    for row in rows {
        if row.iter().all(|cell| cell.trim().is_empty()) {
            continue;
        }
        text.push('|');
        for column in &columns {
            let cell = row.get(*column).map_or("", String::as_str);
            text.push(' ');
            text.push_str(&one_line(cell).replace('|', "\\|"));
            text.push_str(" |");
        }
        text.push('\n');
        written += 1;
        if written == 1 {
            text.push('|');
            for _ in &columns {
                text.push_str(" --- |");
            }
            text.push('\n');
        }
    }
    text
}

/// Adds to the text of a cell, with a space between.
pub(super) fn add_to_cell(cell: &mut String, more: &str) {
    if !cell.is_empty() && !more.is_empty() {
        cell.push(' ');
    }
    cell.push_str(more);
}

/// The text of a block as a part of a cell: of a table, only what is in its cells.
pub(super) fn cell_text(block: &Block) -> String {
    if block.kind != BlockKind::Table {
        return block.text.clone();
    }
    let is_rule = |line: &&str| line.chars().all(|letter| "|- ".contains(letter));
    let rows = block.text.lines().filter(|line| !is_rule(line));
    rows.map(|row| one_line(&row.replace("\\|", "\u{1}").replace('|', " ").replace('\u{1}', "|")))
        .collect::<Vec<_>>()
        .join("; ")
}

/// A table of one cell is a paragraph.
pub(super) fn add(rows: &[Vec<String>], draft: &mut Draft<'_>) -> Result<()> {
    let mut cells = rows.iter().flatten().filter(|cell| !cell.trim().is_empty());
    match (cells.next(), cells.next()) {
        (None, _) => Ok(()),
        (Some(only), None) => draft.paragraph(only),
        _ => draft.block(BlockKind::Table, &markdown(rows)),
    }
}

/// `name` of the file.
pub(super) fn separated(text: &str, name: &str, draft: &mut Draft<'_>) -> Result<()> {
    draft.page(None)?;
    let table = Rows::of(text, name);
    let mut rows = Vec::new();
    for record in table.records() {
        let record = record.map_err(|error| ExtractError::broken(format!("its rows can't be told apart ({error})")))?;
        rows.push(record.iter().map(|cell| Rows::cell(cell).into_owned()).collect());
    }
    if table.has_open_quotation() {
        draft.warn("A quotation mark opens a cell and none closes it, so that the rest of the file is in this cell.");
    }
    add(&rows, draft)
}

#[cfg(test)]
mod tests {
    use super::Grid;

    /// Each cell with how many columns and rows it covers.
    #[track_caller]
    fn check(rows: &[&[(&str, usize, usize)]], expected: &[&[&str]]) {
        let mut grid = Grid::default();
        for row in rows {
            grid.start_row();
            for (text, columns, rows) in *row {
                grid.start_cell(*columns, *rows);
                grid.cell().unwrap().push_str(text);
            }
        }
        assert_eq!(grid.take(), expected);
    }

    #[test]
    fn values_stand_below_their_columns() {
        check(
            &[
                &[("Line", 1, 2), ("Peak", 2, 1)],
                &[("Up", 1, 1), ("Down", 1, 1)],
                &[("Red", 1, 2), ("1", 1, 1)],
                &[("2", 1, 1)],
            ],
            &[&["Line", "Peak"], &["", "Up", "Down"], &["Red", "1"], &["", "2"]],
        );
        check(&[&[("Sum", 2, 1), ("595", 1, 1)]], &[&["Sum", "", "595"]]);
        check(
            &[&[("a", 1, 1), ("b", 1, 3)], &[("c", 1, 1), ("d", 1, 1)], &[("e", 3, 1)]],
            &[&["a", "b"], &["c", "", "d"], &["e"]],
        );
    }

    #[test]
    fn wide_cells_take_little_room() {
        let mut grid = Grid::default();
        for _ in 0..20_000 {
            grid.start_row();
            grid.start_cell(usize::MAX, 1);
            grid.start_cell(150, usize::MAX);
            grid.start_cell(1, 1);
        }
        assert!(grid.take().iter().map(Vec::len).sum::<usize>() < 2_000_000);
    }
}
