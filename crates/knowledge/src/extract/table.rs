//! Rows of cells as tables of Markdown, and files of such rows.

use super::draft::{Draft, one_line};
use super::error::{ExtractError, Result};
use steward_core::extracted::BlockKind;
use steward_sandbox::text::Rows;

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
