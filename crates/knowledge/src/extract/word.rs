//! DOCX.

use super::draft::Draft;
use super::error::Result;
use super::limits::Budget;
use super::table;
use super::xml::{Element, Node, Xml, text_of};
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
    let levels = levels(archive, draft.budget)?;
    let text = text_of(archive.need(DOCUMENT)?, DOCUMENT)?;
    draft.page(None)?;
    body(&text, DOCUMENT, &levels, draft)?;
    for part in NOTES {
        if let Some(bytes) = archive.read(part)? {
            let text = text_of(bytes, part)?;
            body(&text, part, &levels, draft)?;
        }
    }
    Ok(())
}

/// The title that the properties of an Office file give.
pub(super) fn title(archive: &Archive<'_>, budget: &Budget<'_>) -> Result<Option<String>> {
    let Some(bytes) = archive.read(PROPERTIES)? else { return Ok(None) };
    let text = text_of(bytes, PROPERTIES)?;
    let mut xml = Xml::new(&text, PROPERTIES, budget);
    while let Some(node) = xml.next()? {
        if let Node::Open(element) = node
            && element.name() == "title"
        {
            return xml.inner_text().map(Some);
        }
    }
    Ok(None)
}

#[derive(Default)]
struct Style {
    level: Option<usize>,
    based_on: Option<String>,
}

/// The level of headings by the id of their style.
fn levels(archive: &Archive<'_>, budget: &Budget<'_>) -> Result<HashMap<String, usize>> {
    let Some(bytes) = archive.read(STYLES)? else { return Ok(HashMap::new()) };
    let text = text_of(bytes, STYLES)?;
    let mut xml = Xml::new(&text, STYLES, budget);
    let mut styles: HashMap<String, Style> = HashMap::new();
    let mut id = String::new();
    while let Some(node) = xml.next()? {
        let Node::Open(element) = node else { continue };
        match element.name() {
            "style" => id = element.attribute("styleId").unwrap_or_default(),
            "name" => {
                let name = element.attribute("val").unwrap_or_default().to_lowercase();
                let level = name.strip_prefix("heading ").and_then(|level| level.parse().ok());
                let level = level.or_else(|| (name == "title").then_some(1));
                styles.entry(id.clone()).or_default().level = level;
            }
            "basedOn" => styles.entry(id.clone()).or_default().based_on = element.attribute("val"),
            "outlineLvl" => {
                let style = styles.entry(id.clone()).or_default();
                style.level = style.level.or_else(|| outline(&element));
            }
            _ => {}
        }
    }
    let level_of = |id: &String| {
        let mut at = styles.get(id)?;
        // Styles may be based on each other in a circle.
        for _ in 0..10 {
            match (&at.level, &at.based_on) {
                (Some(level), _) => return Some(*level),
                (None, Some(next)) => at = styles.get(next)?,
                (None, None) => return None,
            }
        }
        None
    };
    Ok(styles.keys().filter_map(|id| level_of(id).map(|level| (id.clone(), level))).collect())
}

/// From 0; 9 is body text.
fn outline(element: &Element<'_>) -> Option<usize> {
    element.attribute("val")?.parse().ok().filter(|level| *level < 9).map(|level: usize| level + 1)
}

#[derive(Default)]
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

fn body(text: &str, part: &str, levels: &HashMap<String, usize>, draft: &mut Draft<'_>) -> Result<()> {
    let mut xml = Xml::new(text, part, draft.budget);
    let (mut open, mut tables) = (Vec::new(), Tables::default());
    while let Some(node) = xml.next()? {
        match node {
            Node::Open(element) => match element.name() {
                // The same content again, for older programs; what was deleted; instructions of fields.
                "Fallback" | "del" | "moveFrom" | "instrText" | "delText" => xml.skip()?,
                "p" => open.push(Paragraph::default()),
                "pStyle" => {
                    if let Some(paragraph) = open.last_mut() {
                        paragraph.level = element.attribute("val").and_then(|style| levels.get(&style).copied());
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
            if !cell.is_empty() && !paragraph.text.is_empty() {
                cell.push(' ');
            }
            cell.push_str(&paragraph.text);
        }
        return Ok(());
    }
    match paragraph {
        Paragraph { text, level: Some(level), .. } => draft.heading(level, &text),
        Paragraph { text, is_item: true, .. } => draft.block(BlockKind::ListItem, &text),
        Paragraph { text, .. } => draft.paragraph(&text),
    }
}
