//! XLSX: a page for each sheet, with its cells as they are shown, and what stands beside them: headers and footers,
//! comments, charts, text boxes. Hidden sheets, rows and columns are read like others.

mod beside;
mod cell_pictures;
mod cells;
mod controls;
mod formulas;
mod strings;
pub(super) mod xml2003;

pub(super) use beside::add_running;
pub(super) use formulas::column_name;

use super::draft::Draft;
use super::error::{ExtractError, Result};
use super::limits::Budget;
use super::mail::ReadAttached;
use super::number_format::Format;
use super::office::{Office, names, title};
use super::relations;
use super::table;
use super::xml::{Element, Node, Xml};
use beside::Beside;
use cell_pictures::CellPictures;
use std::collections::HashMap;
use std::sync::Arc;

/// Most columns of a table; the format itself knows 16,384.
pub(super) const COLUMNS: usize = 1024;

pub(super) fn read(office: &Office<'_>, draft: &mut Draft<'_>, attached: ReadAttached<'_>) -> Result<()> {
    let (archive, main) = (&office.archive, office.main.as_str());
    draft.title = title(archive, draft.budget)?;
    let text = archive.need(main)?;
    let related = relations::of(main, archive, draft.budget)?;
    let mut xml = Xml::new(&text, main, draft.budget);
    let (mut sheets, mut book) = (Vec::new(), Book::default());
    let is_on = |value: Option<String>| value.is_some_and(|on| on == "1" || on == "true");
    while let Some(element) = xml.next_open()? {
        match element.name() {
            "sheet" => {
                let part = xml.relation(&element, "id").and_then(|id| related.part(&id).map(str::to_owned));
                sheets.extend(part.map(|part| (element.attribute("name").unwrap_or_default(), part)));
            }
            "workbookPr" => book.from_1904 = is_on(element.attribute("date1904")),
            "calcPr" => book.is_to_calculate = is_on(element.attribute("fullCalcOnLoad")),
            _ => {}
        }
    }
    if sheets.is_empty() {
        return Err(ExtractError::broken("it names no sheets"));
    }
    if let Some(text) = related.text_of("sharedStrings", archive)? {
        book.strings = strings::read_shared(&text, draft.budget)?;
    }
    if let Some(text) = related.text_of("styles", archive)? {
        book.formats = formats(&text, draft.budget)?;
    }
    book.pictures = CellPictures::read(&related, archive, draft.budget)?;
    let persons = names(related.first("person"), ("person", "id", "displayName"), archive, draft.budget)?;
    let (mut uncounted, mut left_out) = (0, 0);
    for (name, part) in sheets {
        let Some(text) = archive.text(&part)? else {
            draft.warn(format!("The sheet `{name}` is not in the file."));
            continue;
        };
        draft.page(Some(name))?;
        let sheet = book.read_sheet(&text, &part, draft.budget)?;
        uncounted += sheet.uncounted;
        left_out += sheet.left_out;
        (0..sheet.pictures).for_each(|_| draft.count_picture());
        let beside = Beside { part: &part, archive, persons: &persons };
        sheet.header.iter().try_for_each(|line| draft.paragraph(line))?;
        table::add(&sheet.rows, draft)?;
        beside.add(draft, &mut *attached)?;
        sheet.footer.iter().try_for_each(|line| draft.paragraph(line))?;
    }
    warn_of_formulas(uncounted, draft);
    warn_of_columns(left_out, draft);
    Ok(())
}

/// Says how many cells show a formula, since no spreadsheet has computed them.
pub(super) fn warn_of_formulas(count: usize, draft: &mut Draft<'_>) {
    if count > 0 {
        let cells = if count == 1 { "1 cell has a formula" } else { &format!("{count} cells have formulas") };
        draft.warn(format!(
            "{cells} that no spreadsheet has computed yet; the formulas are shown in place of values. Open the file in a \
             spreadsheet, save it, and add that."
        ));
    }
}

/// Says how many cells stand too far to the right.
pub(super) fn warn_of_columns(count: usize, draft: &mut Draft<'_>) {
    if count > 0 {
        draft.warn(format!("Of each sheet, the first {COLUMNS} columns are read; {count} cells beyond them are not."));
    }
}

#[derive(Debug)]
struct CellFormat {
    number: Arc<Format>,
    is_struck: bool,
}

#[derive(Default)]
struct Book {
    strings: Vec<String>,
    formats: Vec<CellFormat>,
    pictures: CellPictures,
    from_1904: bool,
    /// Values were not computed when the file was written, as far as they are 0.
    is_to_calculate: bool,
}

/// The formats of cells, by the number that cells name.
fn formats(text: &str, budget: &Budget<'_>) -> Result<Vec<CellFormat>> {
    let mut xml = Xml::new(text, "styles", budget);
    let (mut own, mut found, mut in_cells): (HashMap<u16, Arc<Format>>, Vec<CellFormat>, bool) = Default::default();
    // Of each font, whether it strikes out.
    let mut struck: Vec<bool> = Vec::new();
    let id = |element: &Element<'_>| element.attribute("numFmtId").and_then(|id| id.parse::<u16>().ok());
    while let Some(node) = xml.next()? {
        match node {
            Node::Open(element) => match element.name() {
                // Also within differences, which cells don't name.
                "dxfs" => xml.skip()?,
                "numFmt" => {
                    let code = element.attribute("formatCode").unwrap_or_default();
                    own.extend(id(&element).map(|id| (id, Arc::new(Format::of(&code)))));
                }
                "font" => struck.push(false),
                "strike" => {
                    let value = element.attribute("val");
                    struck.last_mut().into_iter().for_each(|font| *font = strings::is_on(value.as_deref()));
                }
                "cellXfs" => in_cells = true,
                "xf" if in_cells => {
                    let id = id(&element).unwrap_or(0);
                    let number = own.entry(id).or_insert_with(|| Arc::new(Format::built_in(id))).clone();
                    let font = element.attribute("fontId").and_then(|font| font.parse::<usize>().ok());
                    let is_struck = font.and_then(|font| struck.get(font)).copied().unwrap_or(false);
                    found.push(CellFormat { number, is_struck });
                }
                _ => {}
            },
            Node::Close(name) if name == "cellXfs" => in_cells = false,
            _ => {}
        }
    }
    Ok(found)
}
