//! ODT, ODS and ODP, which have the same elements in one part. Headers and footers are in another, charts in parts of
//! their own. Numbers of headings and lists, which files don't hold, are computed.

mod cells;
mod lists;

use super::draft::Draft;
use super::error::{ExtractError, Result};
use super::office::{Remark, is_page_number};
use super::relations::resolve;
use super::sheets::{COLUMNS, warn_of_columns, warn_of_formulas};
use super::table;
use super::xml::{Element, Node, Xml};
use super::zip::Archive;
use lists::Lists;
use std::collections::HashSet;
use steward_core::extracted::BlockKind;

const CONTENT: &str = "content.xml";
const STYLES: &str = "styles.xml";
const META: &str = "meta.xml";
const MANIFEST: &str = "META-INF/manifest.xml";
/// Most times that a row or cell with content is repeated; empty ones are repeated to the end of the sheet.
const REPEATED: usize = 1000;
/// Most objects within each other.
const OBJECTS_WITHIN: usize = 4;

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
    let content = archive.need(CONTENT)?;
    let styles = archive.text(STYLES)?;
    let mut lists = Lists::default();
    for (text, part) in [(styles.as_deref(), STYLES), (Some(&content), CONTENT)] {
        if let Some(text) = text {
            lists.read(text, part, draft.budget)?;
        }
    }
    let (mut headers, mut footers) = match &styles {
        Some(text) => read_running(text, draft)?,
        None => (Vec::new(), Vec::new()),
    };
    // A sheet or slide begins a page of its own.
    let mut reader = Reader::new(archive, is_workbook, lists);
    let has_pages = is_workbook || content.contains("presentation>");
    if !has_pages {
        headers.drain(..).try_for_each(|line| draft.paragraph(&line))?;
    }
    let (_, first) = draft.position();
    reader.read_part(&content, CONTENT, draft)?;
    if !has_pages {
        draft.take_title(first);
    }
    warn_of_formulas(reader.uncounted, draft);
    warn_of_columns(reader.left_out, draft);
    headers.append(&mut footers);
    headers.iter().try_for_each(|line| draft.paragraph(line))
}

/// The lines at the top and at the bottom of pages, each once.
fn read_running(text: &str, draft: &Draft<'_>) -> Result<(Vec<String>, Vec<String>)> {
    let mut xml = Xml::new(text, STYLES, draft.budget);
    let (mut headers, mut footers, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    // How deep the element is that is read, and whether it is a header.
    let (mut depth, mut within, mut line, mut has_number) = (0_usize, None, String::new(), false);
    while let Some(node) = xml.next()? {
        match node {
            Node::Open(element) => {
                depth += 1;
                match element.name() {
                    "header" | "header-left" | "header-first" if within.is_none() => within = Some((depth, true)),
                    "footer" | "footer-left" | "footer-first" if within.is_none() => within = Some((depth, false)),
                    "p" | "h" => (line, has_number) = (String::new(), false),
                    "page-number" | "page-count" | "sheet-name" | "date" | "time" if within.is_some() => {
                        has_number = true;
                        xml.skip()?;
                        depth -= 1;
                    }
                    "tab" | "line-break" | "s" => line.push(' '),
                    _ => {}
                }
            }
            Node::Close(name) => {
                if let (Some((_, is_header)), "p" | "h") = (within, name.as_str()) {
                    let text = line.trim().to_owned();
                    if !is_page_number(&text, has_number) && seen.insert(text.clone()) {
                        if is_header { headers.push(text) } else { footers.push(text) }
                    }
                }
                if within.is_some_and(|(at, _)| at == depth) {
                    within = None;
                }
                depth = depth.saturating_sub(1);
            }
            Node::Text(text) => line.push_str(&text),
        }
    }
    // What every new document of some programs has.
    let is_text = |line: &String| !line.is_empty() && !line.chars().all(|letter| !letter.is_alphanumeric());
    headers.retain(is_text);
    footers.retain(is_text);
    Ok((headers, footers))
}

#[derive(Default)]
struct Tables {
    open: usize,
    rows: Vec<Vec<String>>,
    repeat_row: usize,
    repeat_cell: usize,
    /// What a cell has if it has no text of its own.
    value: Option<String>,
    is_formula: bool,
    cell: String,
}

/// A comment that is open, and how many paragraphs were open before it.
struct Annotation {
    remark: Remark,
    paragraphs: usize,
    in_author: bool,
    in_date: bool,
}

struct Reader<'r, 'a> {
    archive: &'r Archive<'a>,
    is_workbook: bool,
    /// The paragraphs and headings that are open, with their texts.
    text: Vec<(BlockKind, String)>,
    lists: Lists,
    tables: Tables,
    /// Of the frame on a slide.
    class: String,
    annotation: Option<Annotation>,
    /// What stands behind the paragraph or table that is open.
    after: Vec<String>,
    objects: Vec<String>,
    uncounted: usize,
    /// Cells beyond the last column that is read.
    left_out: usize,
    is_chart: bool,
    depth: usize,
}

impl<'r, 'a> Reader<'r, 'a> {
    fn new(archive: &'r Archive<'a>, is_workbook: bool, lists: Lists) -> Self {
        Self {
            archive,
            is_workbook,
            lists,
            text: Vec::new(),
            tables: Tables::default(),
            class: String::new(),
            annotation: None,
            after: Vec::new(),
            objects: Vec::new(),
            uncounted: 0,
            left_out: 0,
            is_chart: false,
            depth: 0,
        }
    }

    fn read_part(&mut self, text: &str, part: &str, draft: &mut Draft<'_>) -> Result<()> {
        let mut xml = Xml::new(text, part, draft.budget);
        while let Some(node) = xml.next()? {
            match node {
                Node::Open(element) => {
                    if self.open(&element, &xml, draft)? {
                        xml.skip()?;
                    }
                }
                Node::Close(name) => self.close(&name, draft)?,
                Node::Text(text) => self.add(&text),
            }
            if self.text.is_empty() && self.tables.open == 0 {
                self.add_after(draft)?;
            }
        }
        Ok(())
    }

    /// Whether the element has nothing to read.
    fn open(&mut self, element: &Element<'_>, xml: &Xml<'_>, draft: &mut Draft<'_>) -> Result<bool> {
        match element.name() {
            "h" => {
                let level = element.number("outline-level").unwrap_or(1.0);
                let level = (1..=6_u8).rev().find(|one| f64::from(*one) <= level).unwrap_or(1);
                let number = self.lists.number_of_heading(element, level);
                self.text.push((BlockKind::Heading { level }, number));
            }
            "p" => {
                let number = self.lists.number_of_paragraph();
                let kind = match self.class.as_str() {
                    "title" => BlockKind::Heading { level: 1 },
                    _ if self.lists.is_open() => BlockKind::ListItem,
                    _ => BlockKind::Paragraph,
                };
                self.text.push((kind, number));
            }
            "list" => self.lists.open(element),
            "list-item" | "list-header" => self.lists.open_item(element),
            "tab" => self.add("\t"),
            "line-break" => self.add("\n"),
            "s" => self.add(" "),
            "table" => {
                self.tables.open += 1;
                // A sheet of a workbook is not within anything.
                if self.tables.open == 1 && self.is_workbook && self.depth == 0 {
                    draft.page(element.attribute("name"))?;
                }
            }
            "table-row" if self.tables.open == 1 => {
                self.tables.repeat_row = repeated(element, "number-rows-repeated");
                self.tables.rows.push(Vec::new());
            }
            "table-cell" | "covered-table-cell" if self.tables.open == 1 => {
                self.tables.repeat_cell = repeated(element, "number-columns-repeated");
                self.tables.value = cells::value(element, xml);
                self.tables.is_formula = false;
                if self.tables.value.is_none()
                    && let Some(formula) = element.attribute("formula")
                {
                    self.tables.value = Some(cells::formula(&formula));
                    self.tables.is_formula = true;
                }
                self.tables.cell.clear();
            }
            "page" => {
                draft.page(element.attribute("name"))?;
            }
            "frame" => self.class = xml.attribute_of(element, "presentation", "class").unwrap_or_default(),
            "annotation" => {
                let remark = Remark { author: String::new(), text: String::new() };
                let paragraphs = self.text.len();
                self.annotation = Some(Annotation { remark, paragraphs, in_author: false, in_date: false });
            }
            "creator" => self.annotation.iter_mut().for_each(|annotation| annotation.in_author = true),
            "date" | "date-string" | "sender-initials" | "creator-initials" => {
                self.annotation.iter_mut().for_each(|annotation| annotation.in_date = true);
            }
            // It stands within one of the same name.
            "chart" if !self.is_chart => {
                self.is_chart = true;
                draft.paragraph("Chart")?;
            }
            "object" => self.objects.extend(element.attribute("href")),
            // A picture of an object stands beside it.
            "image" if self.objects.is_empty() => draft.count_picture(),
            "image" => return Ok(true),
            "desc" => self.after.push(String::new()),
            // Fields of forms.
            _ if element.attribute("current-value").is_some() => {
                let label = element.attribute("label").or_else(|| element.attribute("name")).unwrap_or_default();
                self.after.push(format!("{label}: {}", element.attribute("current-value").unwrap_or_default()));
            }
            // What was deleted, and what is not content.
            "tracked-changes" | "sequence-decls" | "automatic-styles" | "master-styles" => return Ok(true),
            _ => {}
        }
        Ok(false)
    }

    fn add(&mut self, text: &str) {
        if let Some(annotation) = &mut self.annotation {
            if annotation.in_author {
                annotation.remark.author.push_str(text);
                return;
            }
            if annotation.in_date {
                return;
            }
        }
        if let Some((_, open)) = self.text.last_mut() {
            open.push_str(text);
        }
    }

    fn close(&mut self, name: &str, draft: &mut Draft<'_>) -> Result<()> {
        match name {
            "h" | "p" => {
                let Some((kind, text)) = self.text.pop() else { return Ok(()) };
                if let Some(annotation) = self.annotation.as_mut().filter(|one| self.text.len() >= one.paragraphs) {
                    table::add_to_cell(&mut annotation.remark.text, &text);
                } else if self.tables.open > 0 {
                    table::add_to_cell(&mut self.tables.cell, &text);
                } else {
                    draft.block(kind, &text)?;
                }
            }
            "annotation" => {
                if let Some(annotation) = self.annotation.take().filter(|one| !one.remark.text.trim().is_empty()) {
                    self.after.push(annotation.remark.written(""));
                }
            }
            "creator" => self.annotation.iter_mut().for_each(|annotation| annotation.in_author = false),
            "date" | "date-string" | "sender-initials" | "creator-initials" => {
                self.annotation.iter_mut().for_each(|annotation| annotation.in_date = false);
            }
            "list" => self.lists.close(),
            "frame" => self.class.clear(),
            "table-cell" | "covered-table-cell" if self.tables.open == 1 => self.end_cell(),
            "table-row" if self.tables.open == 1 => self.end_row(),
            "table" => {
                self.tables.open = self.tables.open.saturating_sub(1);
                if self.tables.open == 0 {
                    table::add(&std::mem::take(&mut self.tables.rows), draft)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Adds comments, and objects such as charts, which are documents of their own.
    fn add_after(&mut self, draft: &mut Draft<'_>) -> Result<()> {
        for text in std::mem::take(&mut self.after) {
            draft.paragraph(&text)?;
        }
        for object in std::mem::take(&mut self.objects) {
            let part = format!("{}/{CONTENT}", resolve("", object.trim_start_matches("./")));
            let Some(text) = self.archive.text(&part)?.filter(|_| self.depth < OBJECTS_WITHIN) else {
                draft.warn("An object of another program in it is not read. Add it as a file of its own.");
                continue;
            };
            let mut inner = Reader::new(self.archive, self.is_workbook, Lists::default());
            inner.depth = self.depth + 1;
            inner.read_part(&text, &part, draft)?;
        }
        Ok(())
    }

    fn end_cell(&mut self) {
        let text = std::mem::take(&mut self.tables.cell);
        let value = self.tables.value.take();
        if text.is_empty() && self.tables.is_formula {
            self.uncounted += 1;
        }
        let text = value.filter(|_| text.is_empty()).unwrap_or(text);
        if let Some(row) = self.tables.rows.last_mut() {
            let room = COLUMNS.saturating_sub(row.len());
            self.left_out += usize::from(room == 0 && !text.is_empty());
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
