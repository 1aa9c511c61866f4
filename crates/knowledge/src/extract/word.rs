//! DOCX.

use super::draft::Draft;
use super::error::Result;
use super::limits::Budget;
use super::table;
use super::xml::{Element, Node, Xml};
use super::zip::Archive;
use std::collections::HashMap;
use steward_core::extracted::BlockKind;

const DOCUMENT: &str = "word/document.xml";
const STYLES: &str = "word/styles.xml";
const PROPERTIES: &str = "docProps/core.xml";
/// Further texts of a document.
const NOTES: [&str; 2] = ["word/footnotes.xml", "word/endnotes.xml"];

pub(super) fn read(archive: &Archive<'_>, draft: &mut Draft<'_>) -> Result<()> {
    draft.title = title(archive, draft.budget)?;
    let styles = styles(archive, draft.budget)?;
    let text = archive.need(DOCUMENT)?;
    draft.page(None)?;
    body(&text, DOCUMENT, &styles, draft)?;
    for part in NOTES {
        if let Some(text) = archive.text(part)? {
            body(&text, part, &styles, draft)?;
        }
    }
    Ok(())
}

/// The title that the properties of an Office file give.
pub(super) fn title(archive: &Archive<'_>, budget: &Budget<'_>) -> Result<Option<String>> {
    let Some(text) = archive.text(PROPERTIES)? else { return Ok(None) };
    let mut xml = Xml::new(&text, PROPERTIES, budget);
    xml.text_of_next("title")
}

#[derive(Default)]
struct Style {
    /// Of headings.
    level: Option<usize>,
    is_item: bool,
    based_on: Option<String>,
}

/// What paragraphs are, by the id of their style.
fn styles(archive: &Archive<'_>, budget: &Budget<'_>) -> Result<HashMap<String, Paragraph>> {
    let Some(text) = archive.text(STYLES)? else { return Ok(HashMap::new()) };
    let mut xml = Xml::new(&text, STYLES, budget);
    let mut styles: HashMap<String, Style> = HashMap::new();
    let mut id = String::new();
    while let Some(element) = xml.next_open()? {
        match element.name() {
            "style" => id = element.attribute("styleId").unwrap_or_default(),
            "name" => {
                let name = element.attribute("val").unwrap_or_default().to_lowercase();
                let level = name.strip_prefix("heading ").and_then(|level| level.parse().ok());
                let level = level.or_else(|| (name == "title").then_some(1));
                styles.entry(id.clone()).or_default().level = level;
            }
            "numPr" => styles.entry(id.clone()).or_default().is_item = true,
            "basedOn" => styles.entry(id.clone()).or_default().based_on = element.attribute("val"),
            "outlineLvl" => {
                let style = styles.entry(id.clone()).or_default();
                style.level = style.level.or_else(|| outline(&element));
            }
            _ => {}
        }
    }
    Ok(styles.keys().map(|id| (id.clone(), resolved(id, &styles))).collect())
}

/// A style with what it has from those that it is based on, which may be a circle.
fn resolved(id: &str, styles: &HashMap<String, Style>) -> Paragraph {
    let mut found = Paragraph::default();
    let mut next = styles.get(id);
    for _ in 0..10 {
        let Some(style) = next else { break };
        found.level = found.level.or(style.level);
        found.is_item |= style.is_item;
        next = style.based_on.as_ref().and_then(|id| styles.get(id));
    }
    found
}

/// From 0; 9 is body text.
fn outline(element: &Element<'_>) -> Option<usize> {
    element.attribute("val")?.parse().ok().filter(|level| *level < 9).map(|level: usize| level + 1)
}

#[derive(Default, Clone)]
struct Paragraph {
    text: String,
    level: Option<usize>,
    is_item: bool,
}

/// A table at work; text of a table within a cell is a part of that cell.
#[derive(Default)]
struct Tables {
    open: usize,
    rows: Vec<Vec<String>>,
}

fn body(text: &str, part: &str, styles: &HashMap<String, Paragraph>, draft: &mut Draft<'_>) -> Result<()> {
    let mut xml = Xml::new(text, part, draft.budget);
    let (mut open, mut tables) = (Vec::new(), Tables::default());
    while let Some(node) = xml.next()? {
        match node {
            Node::Open(element) => match element.name() {
                // The same content again, for older programs; what was deleted; instructions of fields.
                "Fallback" | "del" | "moveFrom" | "instrText" | "delText" => xml.skip()?,
                "p" => open.push(Paragraph::default()),
                "pStyle" => {
                    let style = element.attribute("val").and_then(|style| styles.get(&style));
                    if let (Some(paragraph), Some(style)) = (open.last_mut(), style) {
                        paragraph.clone_from(style);
                    }
                }
                "outlineLvl" => {
                    if let Some(paragraph) = open.last_mut() {
                        paragraph.level = outline(&element).or(paragraph.level);
                    }
                }
                "numPr" => {
                    if let Some(paragraph) = open.last_mut() {
                        paragraph.is_item = true;
                    }
                }
                "t" => {
                    let text = xml.inner_text()?;
                    if let Some(paragraph) = open.last_mut() {
                        paragraph.text.push_str(&text);
                    }
                }
                "tab" | "ptab" => push(&mut open, '\t'),
                "br" | "cr" => push(&mut open, '\n'),
                "noBreakHyphen" => push(&mut open, '-'),
                "tbl" => tables.open += 1,
                "tr" if tables.open == 1 => tables.rows.push(Vec::new()),
                "tc" if tables.open == 1 => {
                    if let Some(row) = tables.rows.last_mut() {
                        row.push(String::new());
                    }
                }
                _ => {}
            },
            Node::Close(name) => match name.as_str() {
                "p" => {
                    if let Some(paragraph) = open.pop() {
                        // A text box stands within the paragraph that it is fixed to.
                        end(paragraph, &mut tables, draft)?;
                    }
                }
                "tbl" => {
                    tables.open = tables.open.saturating_sub(1);
                    if tables.open == 0 {
                        table::add(&std::mem::take(&mut tables.rows), draft)?;
                    }
                }
                _ => {}
            },
            Node::Text(_) => {}
        }
    }
    Ok(())
}

fn push(open: &mut [Paragraph], letter: char) {
    if let Some(paragraph) = open.last_mut().filter(|paragraph| !paragraph.text.is_empty()) {
        paragraph.text.push(letter);
    }
}

fn end(paragraph: Paragraph, tables: &mut Tables, draft: &mut Draft<'_>) -> Result<()> {
    if tables.open > 0 {
        if let Some(cell) = tables.rows.last_mut().and_then(|row| row.last_mut()) {
            table::add_to_cell(cell, &paragraph.text);
        }
        return Ok(());
    }
    match paragraph {
        Paragraph { text, level: Some(level), .. } => draft.heading(level, &text),
        Paragraph { text, is_item: true, .. } => draft.block(BlockKind::ListItem, &text),
        Paragraph { text, .. } => draft.paragraph(&text),
    }
}
