//! The cells of a sheet.

use super::super::error::Result;
use super::super::limits::Budget;
use super::super::number_format::general;
use super::super::xml::{Node, Xml};
use super::formulas::Formulas;
use super::{Book, COLUMNS, beside};

#[derive(Default)]
pub(super) struct Sheet {
    pub rows: Vec<Vec<String>>,
    /// Cells whose formula is shown.
    pub uncounted: usize,
    /// Cells beyond the last column that is read.
    pub left_out: usize,
    pub header: Vec<String>,
    pub footer: Vec<String>,
}

#[derive(Default)]
struct Cell {
    kind: String,
    style: Option<usize>,
    value: Option<String>,
    /// A text that stands in the cell itself.
    inline: Option<String>,
    formula: Option<String>,
}

impl Book {
    pub fn read_sheet(&self, text: &str, part: &str, budget: &Budget<'_>) -> Result<Sheet> {
        let mut xml = Xml::new(text, part, budget);
        let (mut sheet, mut column, mut row) = (Sheet::default(), 0, 0_usize);
        let (mut cell, mut formulas) = (None::<Cell>, Formulas::default());
        while let Some(node) = xml.next()? {
            match node {
                Node::Open(element) => match element.name() {
                    "row" => {
                        row = element
                            .attribute("r")
                            .and_then(|row| row.parse().ok())
                            .unwrap_or_else(|| row.saturating_add(1));
                        sheet.rows.push(Vec::new());
                        column = 0;
                    }
                    "c" => {
                        column = element.attribute("r").and_then(|place| column_of(&place)).unwrap_or(column);
                        cell = Some(Cell {
                            kind: element.attribute("t").unwrap_or_default(),
                            style: element.attribute("s").and_then(|style| style.parse().ok()),
                            ..Cell::default()
                        });
                    }
                    "f" => {
                        let shared =
                            element.attribute("si").filter(|_| element.attribute("t").as_deref() == Some("shared"));
                        let text = xml.inner_text()?;
                        if let Some(cell) = &mut cell {
                            cell.formula = formulas.of(&text, shared, (row, column));
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
                            cell.inline.get_or_insert_default().push_str(&text);
                        }
                    }
                    "rPh" => xml.skip()?,
                    // The same for even pages and the first one, if they differ.
                    "oddHeader" | "evenHeader" | "firstHeader" => {
                        beside::add_running(&xml.inner_text()?, &mut sheet.header);
                    }
                    "oddFooter" | "evenFooter" | "firstFooter" => {
                        beside::add_running(&xml.inner_text()?, &mut sheet.footer);
                    }
                    _ => {}
                },
                Node::Close(name) if name == "c" => {
                    if let Some(cell) = cell.take() {
                        let text = self.show_cell(cell, &mut sheet.uncounted);
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
        let format = cell.style.and_then(|style| self.formats.get(style));
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
            "str" | "inlineStr" => show_text(value),
            _ => value,
        }
    }
}

fn put(rows: &mut [Vec<String>], column: usize, text: &str) {
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
