//! Rows whose cells stand below each other are tables, with or without lines around them.

use super::super::table::add_to_cell;
use super::lines::{LEADER, Row, mark};
use super::spans::Rule;

/// Least rows with several cells.
const ROWS: usize = 3;
/// Most space between two rows, in sizes; more if a line is between them.
const LEADING: f32 = 2.2;
const RULED: f32 = 4.5;
/// Most space between lines of one cell.
const SAME_CELL: f32 = 1.6;
/// Most share of the rows that may reach over the gap between two columns, such as heads over both.
const ACROSS: f32 = 0.2;
const COLUMNS: usize = 40;

/// What a table takes of the rows, and its cells.
pub(super) struct Table {
    pub rows: usize,
    pub cells: Vec<Vec<String>>,
}

/// The table that begins with the first of `rows`.
pub(super) fn at(rows: &[Row], rules: &[Rule]) -> Option<Table> {
    if rows.first()?.cells.len() < 2 {
        return None;
    }
    let mut end = 1;
    while let Some(row) = rows.get(end) {
        let above = &rows[end - 1];
        let (space, size) = (row.y - above.y, row.size.max(above.size));
        let is_single = row.cells.len() < 2;
        let most = match () {
            () if is_single => SAME_CELL,
            () if ruled(above, row, rules) => RULED,
            () => LEADING,
        };
        if space <= 0.0 || space > most * size || (row.size - above.size).abs() > 0.2 * size {
            break;
        }
        // A single cell goes on in it only if it doesn't run on like text.
        if is_single && (row.is_bold() != above.is_bold() || !fits(&rows[..end], row)) {
            break;
        }
        end += 1;
    }
    while end > 1 && rows[end - 1].cells.len() < 2 && rows[end - 1].x0() <= rows[0].x0() + 1.0 {
        end -= 1;
    }
    let rows = &rows[..end];
    let several = rows.iter().filter(|row| row.cells.len() > 1).count();
    let columns = columns(rows);
    let leads = rows.iter().filter(|row| row.cells.iter().any(|cell| cell.text.contains(LEADER.trim_end()))).count();
    if several < ROWS
        || leads * 2 > rows.len()
        || several * 2 < rows.len()
        || columns.len() < 2
        || columns.len() > COLUMNS
        || is_list(rows, &columns)
    {
        return None;
    }
    Some(Table { rows: end, cells: cells(rows, &columns, rules) })
}

fn ruled(above: &Row, below: &Row, rules: &[Rule]) -> bool {
    rules.iter().any(|rule| rule.y > above.y - 1.0 && rule.y < below.y && rule.x0 < below.x1() && rule.x1 > below.x0())
}

/// Whether a row of one cell stands below one cell of the rows before.
fn fits(before: &[Row], row: &Row) -> bool {
    let (x0, x1) = (row.x0(), row.x1());
    let Some(with) = before.iter().rev().find(|row| row.cells.len() > 1) else { return false };
    let below = with.cells.iter().filter(|cell| cell.x0 < x1 && cell.x1 > x0).count();
    let is_right = with.cells.iter().skip(1).any(|cell| (cell.x0 - x0).abs() < 3.0);
    below == 1 && (is_right || x1 <= with.cells[1].x0)
}

/// From where to where each column reaches.
fn columns(rows: &[Row]) -> Vec<(f32, f32)> {
    let mut edges: Vec<(f32, i32)> = Vec::new();
    let mut rows_with = 0_u16;
    for row in rows.iter().filter(|row| row.cells.len() > 1) {
        rows_with += 1;
        for cell in &row.cells {
            edges.push((cell.x0, 1));
            edges.push((cell.x1, -1));
        }
    }
    edges.sort_by(|one, other| one.0.total_cmp(&other.0).then(other.1.cmp(&one.1)));
    let most = f32::from(rows_with) * ACROSS;
    let (mut columns, mut open, mut begin): (Vec<(f32, f32)>, i32, Option<f32>) = (Vec::new(), 0, None);
    for (x, step) in edges {
        open += step;
        let is_open = as_f32(open) > most;
        match begin {
            None if is_open => begin = Some(x),
            Some(from) if !is_open => {
                columns.push((from, x));
                begin = None;
            }
            _ => {}
        }
    }
    // Ragged ends of one column are no gap.
    let mut joined: Vec<(f32, f32)> = Vec::new();
    let size = rows.first().map_or(10.0, |row| row.size);
    for column in columns {
        match joined.last_mut() {
            Some(last) if column.0 - last.1 < 0.6 * size => last.1 = column.1,
            _ => joined.push(column),
        }
    }
    joined
}

/// Numbers and bullets before texts are a list.
fn is_list(rows: &[Row], columns: &[(f32, f32)]) -> bool {
    let is_mark = |text: &str| mark(&format!("{} x", text.trim())).is_some();
    let first = rows.iter().filter(|row| row.cells.len() > 1);
    let marked = first.clone().filter(|row| is_mark(&row.cells[0].text)).count();
    columns.len() == 2 && marked * 10 >= first.count() * 8
}

fn cells(rows: &[Row], columns: &[(f32, f32)], rules: &[Rule]) -> Vec<Vec<String>> {
    let groups = groups(rows, rules);
    let mut table: Vec<Vec<String>> = Vec::new();
    let mut group = None;
    for (at, row) in rows.iter().enumerate() {
        let mut line = vec![String::new(); columns.len()];
        for cell in &row.cells {
            let column = column_of((cell.x0, cell.x1), columns);
            add_to_cell(&mut line[column], cell.text.trim());
        }
        let goes_on = match &groups {
            Some(groups) => group == Some(groups[at]),
            None => line[0].is_empty() && line.iter().filter(|cell| !cell.is_empty()).count() < columns.len(),
        };
        group = groups.as_ref().map(|groups| groups[at]);
        match table.last_mut().filter(|_| goes_on) {
            Some(last) => last.iter_mut().zip(&line).for_each(|(cell, more)| add_to_cell(cell, more)),
            None => table.push(line),
        }
    }
    table
}

fn column_of(cell: (f32, f32), columns: &[(f32, f32)]) -> usize {
    let shared = |column: &(f32, f32)| cell.1.min(column.1) - cell.0.max(column.0);
    let best = columns.iter().enumerate().max_by(|one, other| shared(one.1).total_cmp(&shared(other.1)));
    best.map_or(0, |(at, _)| at)
}

/// Between which lines each row stands, if there is a line after nearly each.
fn groups(rows: &[Row], rules: &[Rule]) -> Option<Vec<usize>> {
    let (x0, x1) = (rows.first()?.x0(), rows.iter().map(Row::x1).fold(0.0, f32::max));
    let wide = |rule: &&Rule| rule.x1.min(x1) - rule.x0.max(x0) > 0.15 * (x1 - x0);
    let mut ys: Vec<f32> = rules.iter().filter(wide).map(|rule| rule.y).collect();
    ys.sort_by(f32::total_cmp);
    let groups: Vec<usize> =
        rows.iter().map(|row| ys.iter().filter(|y| **y < row.y - 0.2 * row.size).count()).collect();
    let mut distinct = groups.clone();
    distinct.dedup();
    (distinct.len() >= ROWS && rows.len() <= distinct.len() * 4).then_some(groups)
}

fn as_f32(number: i32) -> f32 {
    f32::from(i16::try_from(number).unwrap_or(i16::MAX))
}
