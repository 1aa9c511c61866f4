//! XLSX: a page for each sheet, with its cells as they are shown as far as that matters (dates, percentages).

use super::draft::Draft;
use super::error::{ExtractError, Result};
use super::limits::Budget;
use super::number_format::{Format, custom, is_date};
use super::relations;
use super::table;
use super::word::title;
use super::xml::{Element, Node, Xml};
use super::zip::Archive;
use std::collections::HashMap;

pub(super) const WORKBOOK: &str = "xl/workbook.xml";
const STRINGS: &str = "xl/sharedStrings.xml";
const STYLES: &str = "xl/styles.xml";
/// Most columns of a table; the format itself knows 16,384.
pub(super) const COLUMNS: usize = 1024;

pub(super) fn read(archive: &Archive<'_>, draft: &mut Draft<'_>) -> Result<()> {
    draft.title = title(archive, draft.budget)?;
    let text = archive.need(WORKBOOK)?;
    let targets = relations::of(WORKBOOK, archive, draft.budget)?;
    let mut xml = Xml::new(&text, WORKBOOK, draft.budget);
    let (mut sheets, mut from_1904) = (Vec::new(), false);
    while let Some(element) = xml.next_open()? {
        match element.name() {
            "sheet" => {
                let target = element.prefixed("r:id").and_then(|id| targets.get(&id).cloned());
                sheets.extend(target.map(|target| (element.attribute("name").unwrap_or_default(), target)));
            }
            "workbookPr" => from_1904 = element.attribute("date1904").is_some_and(|on| on == "1" || on == "true"),
            _ => {}
        }
    }
    if sheets.is_empty() {
        return Err(ExtractError::broken("it names no sheets"));
    }
    let book = Book { strings: strings(archive, draft.budget)?, formats: formats(archive, draft.budget)?, from_1904 };
    for (name, part) in sheets {
        // Charts and macros are sheets too.
        let Some(text) = archive.text(&part)? else { continue };
        draft.page(Some(name))?;
        let rows = book.rows(&text, &part, draft.budget)?;
        table::add(&rows, draft)?;
    }
    Ok(())
}

struct Book {
    strings: Vec<String>,
    formats: Vec<Format>,
    from_1904: bool,
}

fn strings(archive: &Archive<'_>, budget: &Budget<'_>) -> Result<Vec<String>> {
    let Some(text) = archive.text(STRINGS)? else { return Ok(Vec::new()) };
    let mut xml = Xml::new(&text, STRINGS, budget);
    let mut all = Vec::new();
    while let Some(element) = xml.next_open()? {
        match element.name() {
            "si" => all.push(String::new()),
            // How it is spoken.
            "rPh" => xml.skip()?,
            "t" => {
                let text = xml.inner_text()?;
                if let Some(last) = all.last_mut() {
                    last.push_str(&text);
                }
            }
            _ => {}
        }
    }
    Ok(all)
}

/// The formats of cells, by the number that cells name.
fn formats(archive: &Archive<'_>, budget: &Budget<'_>) -> Result<Vec<Format>> {
    let Some(text) = archive.text(STYLES)? else { return Ok(Vec::new()) };
    let mut xml = Xml::new(&text, STYLES, budget);
    let (mut own, mut found, mut in_cells): (HashMap<u16, Format>, Vec<Format>, bool) = Default::default();
    let id = |element: &Element<'_>| element.attribute("numFmtId").and_then(|id| id.parse::<u16>().ok());
    while let Some(node) = xml.next()? {
        match node {
            Node::Open(element) => match element.name() {
                "numFmt" => {
                    let code = element.attribute("formatCode").unwrap_or_default();
                    own.extend(id(&element).map(|id| (id, custom(&code))));
                }
                "cellXfs" => in_cells = true,
                "xf" if in_cells => {
                    let id = id(&element).unwrap_or(0);
                    found.push(own.get(&id).copied().unwrap_or_else(|| Format::built_in(id)));
                }
                _ => {}
            },
            Node::Close(name) if name == "cellXfs" => in_cells = false,
            _ => {}
        }
    }
    Ok(found)
}

impl Book {
    fn rows(&self, text: &str, part: &str, budget: &Budget<'_>) -> Result<Vec<Vec<String>>> {
        let mut xml = Xml::new(text, part, budget);
        let mut rows: Vec<Vec<String>> = Vec::new();
        let (mut column, mut kind, mut format) = (0, String::new(), Format::General);
        while let Some(element) = xml.next_open()? {
            match element.name() {
                "row" => {
                    rows.push(Vec::new());
                    column = 0;
                }
                "c" => {
                    column = element.attribute("r").and_then(|place| column_of(&place)).unwrap_or(column);
                    kind = element.attribute("t").unwrap_or_default();
                    let style = element.attribute("s").and_then(|style| style.parse::<usize>().ok());
                    format = style.and_then(|style| self.formats.get(style).copied()).unwrap_or(Format::General);
                    column += 1;
                }
                name @ ("v" | "t") => {
                    let is_value = name == "v";
                    let text = xml.inner_text()?;
                    let text = if is_value { self.value(&kind, format, text) } else { text };
                    put(&mut rows, column.saturating_sub(1), &text);
                }
                "rPh" | "f" => xml.skip()?,
                _ => {}
            }
        }
        Ok(rows)
    }

    fn value(&self, kind: &str, format: Format, text: String) -> String {
        match kind {
            "s" => text.trim().parse::<usize>().ok().and_then(|at| self.strings.get(at).cloned()).unwrap_or_default(),
            "b" => (if text.trim() == "1" { "TRUE" } else { "FALSE" }).to_owned(),
            "" | "n" => match text.trim().parse() {
                Ok(number) if is_date(format) || format == Format::Percent => format.show(number, self.from_1904),
                _ => text,
            },
            _ => text,
        }
    }
}

fn put(rows: &mut [Vec<String>], column: usize, text: &str) {
    let Some(row) = rows.last_mut().filter(|_| column < COLUMNS) else { return };
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
