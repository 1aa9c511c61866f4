//! The cells of a sheet.

use super::super::error::Result;
use super::super::escapes::unescape;
use super::super::limits::Budget;
use super::super::number_format::{general, serial_number};
use super::super::xml::{Node, Xml};
use super::formulas::Formulas;
use super::strings::Runs;
use super::{Book, COLUMNS, beside};

#[derive(Default)]
pub(super) struct Sheet {
    pub rows: Vec<Vec<String>>,
    /// Cells whose formula is shown.
    pub uncounted: usize,
    /// Cells beyond the last column that is read.
    pub left_out: usize,
    /// Cells that are pictures.
    pub pictures: usize,
    pub header: Vec<String>,
    pub footer: Vec<String>,
}

#[derive(Default)]
struct Cell {
    kind: String,
    style: Option<usize>,
    /// What is known of its value beside it.
    metadata: Option<usize>,
    value: Option<String>,
    /// A text that stands in the cell itself.
    inline: Option<String>,
    is_inline: bool,
    formula: Option<String>,
    /// The cells that have one formula, of which this is the first.
    array: Option<Area>,
}

/// Cells from one to another: rows from 1, columns from 0.
struct Area {
    rows: (usize, usize),
    columns: (usize, usize),
}

impl Area {
    /// By its name, such as `B1:B3`.
    fn of(name: &str) -> Option<Self> {
        let (first, last) = name.split_once(':').unwrap_or((name, name));
        let row = |place: &str| place.trim_start_matches(|one: char| !one.is_ascii_digit()).parse().ok();
        Some(Self { rows: (row(first)?, row(last)?), columns: (column_of(first)?, column_of(last)?) })
    }
}

impl Area {
    /// Takes out what stands below the first cell of one that is merged, where nobody sees it.
    fn clear_covered(&self, numbers: &[usize], rows: &mut [Vec<String>]) {
        let first = numbers.partition_point(|number| *number < self.rows.0);
        for (number, row) in numbers.iter().zip(rows).skip(first).take_while(|(number, _)| **number <= self.rows.1) {
            let begin = self.columns.0 + usize::from(*number == self.rows.0);
            row.iter_mut().take(self.columns.1 + 1).skip(begin).for_each(String::clear);
        }
    }
}

/// Most formulas of several cells that reach into the same row.
const MAX_ARRAYS: usize = 1000;

/// Formulas of several cells that nothing has computed, as far as they reach into the row at hand.
#[derive(Default)]
struct Arrays(Vec<(Area, String)>);

impl Arrays {
    fn start_row(&mut self, row: usize) {
        self.0.retain(|(area, _)| area.rows.1 >= row);
    }

    fn add(&mut self, area: Area, formula: String) {
        if self.0.len() < MAX_ARRAYS {
            self.0.push((area, formula));
        }
    }

    fn formula_at(&self, row: usize, column: usize) -> Option<String> {
        let is_in = |(first, last): (usize, usize), at: usize| (first..=last).contains(&at);
        let found = self.0.iter().find(|(area, _)| is_in(area.rows, row) && is_in(area.columns, column));
        found.map(|(_, formula)| formula.clone())
    }
}

impl Book {
    pub fn read_sheet(&self, text: &str, part: &str, budget: &Budget<'_>) -> Result<Sheet> {
        let mut xml = Xml::new(text, part, budget);
        let (mut sheet, mut column, mut row) = (Sheet::default(), 0, 0_usize);
        let (mut cell, mut formulas, mut runs) = (None::<Cell>, Formulas::default(), Runs::default());
        let mut arrays = Arrays::default();
        let mut numbers: Vec<usize> = Vec::new();
        while let Some(node) = xml.next()? {
            match node {
                Node::Open(element) => match element.name() {
                    "row" => {
                        row = element
                            .attribute("r")
                            .and_then(|row| row.parse().ok())
                            .unwrap_or_else(|| row.saturating_add(1));
                        sheet.rows.push(Vec::new());
                        numbers.push(row);
                        column = 0;
                        arrays.start_row(row);
                    }
                    "c" => {
                        column = element.attribute("r").and_then(|place| column_of(&place)).unwrap_or(column);
                        cell = Some(Cell {
                            kind: element.attribute("t").unwrap_or_default(),
                            style: element.attribute("s").and_then(|style| style.parse().ok()),
                            metadata: element.attribute("vm").and_then(|number| number.parse().ok()),
                            ..Cell::default()
                        });
                    }
                    "f" => {
                        let kind = element.attribute("t").unwrap_or_default();
                        let shared = element.attribute("si").filter(|_| kind == "shared");
                        let area = element.attribute("ref").filter(|_| kind == "array" || kind == "dataTable");
                        let text = xml.inner_text()?;
                        if let Some(cell) = &mut cell {
                            cell.formula = formulas.of(&text, shared, (row, column));
                            cell.array = area.as_deref().and_then(Area::of);
                        }
                    }
                    "v" => {
                        let text = xml.inner_text()?;
                        if let Some(cell) = &mut cell {
                            cell.value = Some(text);
                        }
                    }
                    "t" => {
                        let text = xml.inner_text()?;
                        if let Some(cell) = &mut cell {
                            runs.add(&text);
                            cell.is_inline = true;
                        }
                    }
                    "rPh" => xml.skip()?,
                    "mergeCell" => {
                        if let Some(area) = element.attribute("ref").as_deref().and_then(Area::of) {
                            area.clear_covered(&numbers, &mut sheet.rows);
                        }
                    }
                    // The same for even pages and the first one, if they differ.
                    "oddHeader" | "evenHeader" | "firstHeader" => {
                        beside::add_running(&xml.inner_text()?, &mut sheet.header);
                    }
                    "oddFooter" | "evenFooter" | "firstFooter" => {
                        beside::add_running(&xml.inner_text()?, &mut sheet.footer);
                    }
                    _ => runs.read_style(&element),
                },
                Node::Close(name) if name == "c" => {
                    if let Some(mut cell) = cell.take() {
                        cell.inline = Some(runs.take()).filter(|_| cell.is_inline);
                        if cell.formula.is_none() {
                            cell.formula = arrays.formula_at(row, column);
                        }
                        let array = cell.array.take().and_then(|area| Some((area, cell.formula.clone()?)));
                        // Programs that know no pictures in cells show an error.
                        if let Some(text) = cell.metadata.and_then(|number| self.pictures.description(number)) {
                            sheet.pictures += 1;
                            (cell.kind, cell.value) = ("str".to_owned(), Some(text.to_owned()));
                            cell.formula = None;
                        }
                        let before = sheet.uncounted;
                        let text = self.show_cell(cell, &mut sheet.uncounted);
                        // What the first cell doesn't have, the others don't have either.
                        if let Some((area, formula)) = array.filter(|_| sheet.uncounted > before) {
                            arrays.add(area, formula);
                        }
                        sheet.left_out += usize::from(column >= COLUMNS && !text.is_empty());
                        put(&mut sheet.rows, column, &text);
                    }
                    column += 1;
                }
                _ => {}
            }
        }
        Ok(sheet)
    }

    fn show_cell(&self, cell: Cell, uncounted: &mut usize) -> String {
        let is_struck = cell.style.and_then(|style| self.formats.get(style)).is_some_and(|format| format.is_struck);
        let text = self.show_value(cell, uncounted);
        if is_struck && !text.trim().is_empty() && !text.contains("~~") { format!("~~{text}~~") } else { text }
    }

    fn show_value(&self, cell: Cell, uncounted: &mut usize) -> String {
        let format = cell.style.and_then(|style| self.formats.get(style)).map(|format| &format.number);
        let has_value = cell.value.is_some();
        let value = cell.value.filter(|value| !value.is_empty());
        if let Some(formula) = cell.formula {
            // A formula may give an empty text.
            let is_empty_text = cell.kind == "str" && has_value || cell.inline.is_some();
            // Libraries write 0 for what they don't compute, and have the spreadsheet do it.
            if value.as_ref().map_or(!is_empty_text, |value| self.is_to_calculate && value == "0") {
                *uncounted += 1;
                return formula;
            }
        }
        let show_text = |text: String| match format {
            Some(format) => format.show_text(text),
            None => text,
        };
        let Some(value) = value else { return show_text(cell.inline.unwrap_or_default()) };
        match cell.kind.as_str() {
            "s" => {
                let text = value.trim().parse::<usize>().ok().and_then(|at| self.strings.get(at).cloned());
                show_text(text.unwrap_or_default())
            }
            "b" => (if value.trim() == "1" { "TRUE" } else { "FALSE" }).to_owned(),
            "" | "n" => match (value.trim().parse(), format) {
                (Ok(number), Some(format)) => format.show(number, self.from_1904),
                (Ok(number), None) => general(number),
                (Err(_), _) => value,
            },
            "str" | "inlineStr" => show_text(unescape(&value)),
            // A date as ISO 8601 writes it.
            "d" => match (format.filter(|format| format.shows_dates()), serial_number(&value)) {
                (Some(format), Some(number)) => format.show(number, false),
                _ => value,
            },
            _ => value,
        }
    }
}

pub(super) fn put(rows: &mut [Vec<String>], column: usize, text: &str) {
    let Some(row) = rows.last_mut().filter(|_| column < COLUMNS && !text.is_empty()) else { return };
    if row.len() <= column {
        row.resize(column + 1, String::new());
    }
    row[column].push_str(text);
}

/// `C` of `C12` is 2.
fn column_of(place: &str) -> Option<usize> {
    let letters = place.bytes().take_while(u8::is_ascii_alphabetic);
    let number = letters
        .take(4)
        .fold(0_usize, |number, letter| number * 26 + usize::from(letter.to_ascii_uppercase() - b'A') + 1);
    number.checked_sub(1)
}
