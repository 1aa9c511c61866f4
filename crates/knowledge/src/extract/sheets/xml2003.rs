//! Workbooks as Excel 2003 writes them in XML.

use super::super::draft::Draft;
use super::super::error::Result;
use super::super::number_format::{Format, general, serial_number};
use super::super::office::Remark;
use super::super::rich_text::{RichText, Script, TextStyle};
use super::super::table;
use super::super::xml::{Element, Node, Xml};
use super::cells::put;
use super::{COLUMNS, warn_of_columns, warn_of_formulas};
use std::collections::HashMap;

const NAMESPACE: &str = "urn:schemas-microsoft-com:office:spreadsheet";
/// Most bytes before the workbook begins.
const HEAD: usize = 2048;

/// Whether a text is such a workbook.
pub(in super::super) fn is_workbook(text: &str) -> bool {
    let head = text.get(..text.floor_char_boundary(HEAD)).unwrap_or_default();
    head.trim_start().starts_with('<') && head.contains(NAMESPACE) && head.contains("Workbook")
}

#[derive(Default)]
struct Cell {
    /// Columns beside its own.
    covered: usize,
    style: String,
    formula: Option<String>,
    kind: String,
    text: RichText,
    look: TextStyle,
}

#[derive(Default)]
struct Sheet {
    rows: Vec<Vec<String>>,
    /// Of the cell that is open, or comes next.
    column: usize,
    comments: Vec<Remark>,
    left_out: usize,
}

pub(in super::super) fn read(text: &str, draft: &mut Draft<'_>) -> Result<()> {
    let mut xml = Xml::new(text, "workbook", draft.budget);
    let (mut formats, mut style): (HashMap<String, Format>, String) = Default::default();
    let (mut sheet, mut cell) = (Sheet::default(), None::<Cell>);
    let (mut comment, mut in_data) = (None::<Remark>, false);
    let (mut uncounted, mut left_out) = (0, 0);
    while let Some(node) = xml.next()? {
        match node {
            Node::Open(element) => match element.name() {
                "Style" => style = element.attribute("ID").unwrap_or_default(),
                "NumberFormat" => {
                    let code = element.attribute("Format").unwrap_or_default();
                    formats.insert(style.clone(), Format::of(format_code(&code)));
                }
                "Worksheet" => {
                    draft.page(element.attribute("Name"))?;
                    sheet = Sheet::default();
                }
                "Row" => {
                    sheet.rows.push(Vec::new());
                    sheet.column = 0;
                }
                "Cell" => {
                    sheet.column = number(&element, "Index").map_or(sheet.column, |index| index.saturating_sub(1));
                    cell = Some(Cell {
                        covered: number(&element, "MergeAcross").unwrap_or(0),
                        style: element.attribute("StyleID").unwrap_or_default(),
                        formula: element.attribute("Formula"),
                        ..Cell::default()
                    });
                }
                "Comment" => {
                    let author = element.attribute("Author").unwrap_or_default();
                    comment = Some(Remark { author, text: String::new() });
                }
                "Data" => {
                    in_data = true;
                    if let Some(cell) = cell.as_mut().filter(|_| comment.is_none()) {
                        cell.kind = element.attribute("Type").unwrap_or_default();
                    }
                }
                name => {
                    if let Some(cell) = &mut cell {
                        set_look(&mut cell.look, name, true);
                    }
                }
            },
            Node::Text(text) if in_data => match (&mut comment, &mut cell) {
                (Some(comment), _) => comment.text.push_str(&text),
                (None, Some(cell)) => cell.text.add(&text, cell.look),
                (None, None) => {}
            },
            Node::Text(_) => {}
            Node::Close(name) => match name.as_str() {
                "Data" => in_data = false,
                "Comment" => sheet.comments.extend(comment.take()),
                "Cell" => {
                    if let Some(cell) = cell.take() {
                        let covered = cell.covered;
                        let shown = show_cell(cell, &formats, &mut uncounted);
                        sheet.left_out += usize::from(sheet.column >= COLUMNS && !shown.is_empty());
                        put(&mut sheet.rows, sheet.column, &shown);
                        sheet.column = sheet.column.saturating_add(covered).saturating_add(1);
                    }
                }
                "Worksheet" => {
                    let ended = std::mem::take(&mut sheet);
                    left_out += ended.left_out;
                    table::add(&ended.rows, draft)?;
                    ended.comments.iter().try_for_each(|comment| draft.paragraph(&comment.written("")))?;
                }
                name => {
                    if let Some(cell) = &mut cell {
                        set_look(&mut cell.look, name, false);
                    }
                }
            },
        }
    }
    warn_of_formulas(uncounted, draft);
    warn_of_columns(left_out, draft);
    Ok(())
}

fn number(element: &Element<'_>, name: &str) -> Option<usize> {
    element.attribute(name)?.trim().parse().ok()
}

/// Parts of a text are marked as in web pages.
fn set_look(look: &mut TextStyle, name: &str, opens: bool) {
    match name {
        "Sup" => look.script = if opens { Script::Raised } else { Script::Normal },
        "Sub" => look.script = if opens { Script::Lowered } else { Script::Normal },
        "S" => look.is_struck = opens,
        _ => {}
    }
}

fn show_cell(mut cell: Cell, formats: &HashMap<String, Format>, uncounted: &mut usize) -> String {
    let text = cell.text.take();
    if let Some(formula) = cell.formula.filter(|_| text.is_empty() && cell.kind != "String") {
        *uncounted += 1;
        return formula;
    }
    let format = formats.get(&cell.style);
    match (cell.kind.as_str(), text.trim().parse::<f64>(), format) {
        ("Number", Ok(number), Some(format)) => format.show(number, false),
        ("Number", Ok(number), None) => general(number),
        ("Boolean", Ok(value), _) => (if value == 0.0 { "FALSE" } else { "TRUE" }).to_owned(),
        ("DateTime", _, format) => {
            let shown = format.filter(|format| format.shows_dates()).zip(serial_number(text.trim()));
            shown.map_or_else(
                || text.trim_end_matches("T00:00:00.000").to_owned(),
                |(format, at)| format.show(at, false),
            )
        }
        ("String", _, Some(format)) => format.show_text(text),
        _ => text,
    }
}

/// Formats that have names there.
fn format_code(code: &str) -> &str {
    match code {
        "General Number" => "General",
        "General Date" => "yyyy-mm-dd h:mm",
        "Long Date" | "Medium Date" | "Short Date" => "yyyy-mm-dd",
        "Long Time" => "h:mm:ss",
        "Medium Time" => "h:mm AM/PM",
        "Short Time" => "h:mm",
        "Currency" | "Euro Currency" | "Standard" => "#,##0.00",
        "Fixed" => "0.00",
        "Percent" => "0.00%",
        "Scientific" => "0.00E+00",
        code => code,
    }
}
