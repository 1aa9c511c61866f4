//! ODT, ODS and ODP, which have the same elements in one part.

use super::draft::Draft;
use super::error::{ExtractError, Result};
use super::sheets::COLUMNS;
use super::table;
use super::xml::{Element, Node, Xml};
use super::zip::Archive;
use steward_core::extracted::BlockKind;

const CONTENT: &str = "content.xml";
const META: &str = "meta.xml";
const MANIFEST: &str = "META-INF/manifest.xml";
/// Most times that a row or cell with content is repeated; empty ones are repeated to the end of the sheet.
const REPEATED: usize = 1000;

pub(super) fn read(archive: &Archive<'_>, is_workbook: bool, draft: &mut Draft<'_>) -> Result<()> {
    if archive.text(MANIFEST)?.is_some_and(|manifest| manifest.contains("encryption-data")) {
        return Err(ExtractError::PasswordProtected);
    }
    if let Some(text) = archive.text(META)? {
        let mut xml = Xml::new(&text, META, draft.budget);
        while let Some(title) = xml.text_of_next("title")? {
            draft.title = Some(title);
        }
    }
    let text = archive.need(CONTENT)?;
    let mut xml = Xml::new(&text, CONTENT, draft.budget);
    let mut reader =
        Reader { draft, is_workbook, text: Vec::new(), lists: 0, tables: Tables::default(), class: String::new() };
    while let Some(node) = xml.next()? {
        match node {
            Node::Open(element) => {
                if reader.open(&element)? {
                    xml.skip()?;
                }
            }
            Node::Close(name) => reader.close(&name)?,
            Node::Text(text) => reader.add(&text),
        }
    }
    Ok(())
}

#[derive(Default)]
struct Tables {
    open: usize,
    rows: Vec<Vec<String>>,
    repeat_row: usize,
    repeat_cell: usize,
    /// What a cell has if it has no text of its own.
    value: Option<String>,
    cell: String,
}

struct Reader<'r, 'a> {
    draft: &'r mut Draft<'a>,
    is_workbook: bool,
    /// The paragraphs and headings that are open, with their texts.
    text: Vec<(BlockKind, String)>,
    lists: usize,
    tables: Tables,
    /// Of the frame on a slide.
    class: String,
}

impl Reader<'_, '_> {
    /// Whether the element has nothing to read.
    fn open(&mut self, element: &Element<'_>) -> Result<bool> {
        match element.name() {
            "h" => {
                let level = element.number("outline-level").unwrap_or(1.0);
                let level = (1..=6_u8).rev().find(|one| f64::from(*one) <= level).unwrap_or(1);
                self.begin(BlockKind::Heading { level });
            }
            "p" => {
                let kind = match self.class.as_str() {
                    "title" => BlockKind::Heading { level: 1 },
                    _ if self.lists > 0 => BlockKind::ListItem,
                    _ => BlockKind::Paragraph,
                };
                self.begin(kind);
            }
            "list" => self.lists += 1,
            "tab" => self.add("\t"),
            "line-break" => self.add("\n"),
            "s" => self.add(" "),
            "table" => {
                self.tables.open += 1;
                // A sheet of a workbook is not within anything.
                if self.tables.open == 1 && self.is_workbook {
                    self.draft.page(element.attribute("name"))?;
                }
            }
            "table-row" if self.tables.open == 1 => {
                self.tables.repeat_row = repeated(element, "number-rows-repeated");
                self.tables.rows.push(Vec::new());
            }
            "table-cell" | "covered-table-cell" if self.tables.open == 1 => {
                self.tables.repeat_cell = repeated(element, "number-columns-repeated");
                self.tables.value = value(element);
                self.tables.cell.clear();
            }
            "page" => {
                self.draft.page(element.attribute("name"))?;
            }
            "frame" => self.class = element.prefixed("presentation:class").unwrap_or_default(),
            // What was deleted, remarks, and what is not content.
            "tracked-changes" | "annotation" | "sequence-decls" | "automatic-styles" | "forms" | "desc" => {
                return Ok(true);
            }
            _ => {}
        }
        Ok(false)
    }

    fn begin(&mut self, kind: BlockKind) {
        self.text.push((kind, String::new()));
    }

    fn add(&mut self, text: &str) {
        if let Some((_, open)) = self.text.last_mut() {
            open.push_str(text);
        }
    }

    fn close(&mut self, name: &str) -> Result<()> {
        match name {
            "h" | "p" => {
                let Some((kind, text)) = self.text.pop() else { return Ok(()) };
                if self.tables.open > 0 {
                    table::add_to_cell(&mut self.tables.cell, &text);
                } else {
                    self.draft.block(kind, &text)?;
                }
            }
            "list" => self.lists = self.lists.saturating_sub(1),
            "frame" => self.class.clear(),
            "table-cell" | "covered-table-cell" if self.tables.open == 1 => self.end_cell(),
            "table-row" if self.tables.open == 1 => self.end_row(),
            "table" => {
                self.tables.open = self.tables.open.saturating_sub(1);
                if self.tables.open == 0 {
                    table::add(&std::mem::take(&mut self.tables.rows), self.draft)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn end_cell(&mut self) {
        let text = std::mem::take(&mut self.tables.cell);
        let text = self.tables.value.take().filter(|_| text.is_empty()).unwrap_or(text);
        if let Some(row) = self.tables.rows.last_mut() {
            let room = COLUMNS.saturating_sub(row.len());
            let times = if text.is_empty() {
                self.tables.repeat_cell.min(room)
            } else {
                self.tables.repeat_cell.min(room).min(REPEATED)
            };
            row.extend(std::iter::repeat_n(text, times));
        }
    }

    fn end_row(&mut self) {
        let Some(row) = self.tables.rows.pop() else { return };
        if row.iter().any(|cell| !cell.is_empty()) {
            let times = self.tables.repeat_row.min(REPEATED);
            self.tables.rows.extend(std::iter::repeat_n(row, times));
        }
    }
}

fn repeated(element: &Element<'_>, name: &str) -> usize {
    element.attribute(name).and_then(|times| times.parse().ok()).unwrap_or(1).max(1)
}

fn value(element: &Element<'_>) -> Option<String> {
    ["string-value", "date-value", "time-value", "boolean-value"]
        .iter()
        .find_map(|name| element.attribute(name))
        .or_else(|| element.prefixed("office:value"))
}
