//! The elements of a part, as blocks.

use super::super::draft::Draft;
use super::super::error::Result;
use super::super::formula;
use super::super::office::Remark;
use super::super::relations::resolve;
use super::super::rich_text::{RichText, Script, TextStyle};
use super::super::sheets::{COLUMNS, column_name};
use super::super::table;
use super::super::xml::{Element, Node, Xml};
use super::super::zip::Archive;
use super::cells;
use super::controls::Controls;
use super::lists::Lists;
use super::styles::TextStyles;
use steward_core::extracted::BlockKind;

pub(super) const CONTENT: &str = "content.xml";
/// Most times that a row or cell with content is repeated; empty ones are repeated to the end of the sheet.
const REPEATED: usize = 1000;
/// Most objects within each other.
const OBJECTS_WITHIN: usize = 4;
/// What comes before the content in a file of one part.
const BEFORE_CONTENT: &[&str] = &["meta", "settings", "scripts", "font-face-decls", "styles"];

#[derive(Default)]
struct Tables {
    open: usize,
    rows: Vec<Vec<String>>,
    repeat_row: usize,
    repeat_cell: usize,
    /// Row and column of the cell that is open, from 0.
    place: (usize, usize),
    /// What a cell has if it has no text of its own.
    value: Option<String>,
    /// The day of a cell of a sheet that is a date.
    date: Option<String>,
    /// How the text of the cell looks.
    style: TextStyle,
    is_formula: bool,
    cell: String,
}

/// A comment that is open, and how many paragraphs were open before it.
struct Annotation {
    remark: Remark,
    /// The cell that it is on.
    on: String,
    paragraphs: usize,
    in_author: bool,
    in_date: bool,
}

/// A footnote or endnote that is open, and how many paragraphs were open before it.
struct Note {
    kind: &'static str,
    citation: String,
    in_citation: bool,
    text: String,
    paragraphs: usize,
}

/// A paragraph or heading that is open.
struct Paragraph {
    kind: BlockKind,
    text: RichText,
    /// The look of each part that is open in it.
    styles: Vec<TextStyle>,
}

impl Paragraph {
    fn new(kind: BlockKind, number: &str, style: TextStyle) -> Self {
        let mut text = RichText::default();
        text.add(number, TextStyle::default());
        Self { kind, text, styles: vec![style] }
    }

    fn style(&self) -> TextStyle {
        self.styles.last().copied().unwrap_or_default()
    }
}

/// The frame that is open.
#[derive(Default)]
struct Frame {
    /// Of one on a slide.
    class: String,
    /// The picture in it is that of an object.
    has_object: bool,
    /// How many paragraphs were open before it; `None`: no frame is open.
    paragraphs: Option<usize>,
    /// Its title and what describes it.
    description: String,
}

/// A document within this one.
struct EmbeddedObject {
    part: String,
    /// `None` if it is not in the file.
    text: Option<String>,
}

pub(super) struct Reader<'r, 'a> {
    /// `None`: the file has one part.
    archive: Option<&'r Archive<'a>>,
    is_workbook: bool,
    text: Vec<Paragraph>,
    lists: Lists,
    text_styles: TextStyles,
    tables: Tables,
    frame: Frame,
    annotation: Option<Annotation>,
    notes: Vec<Note>,
    controls: Controls,
    /// What stands behind the paragraph or table that is open.
    after: Vec<String>,
    objects: Vec<EmbeddedObject>,
    /// What was opened or skipped last is a document or what comes before its content.
    begins_document: bool,
    /// Lines that slides have in common.
    pub running: Vec<String>,
    /// Formulas without values.
    pub uncounted: usize,
    /// Cells beyond the last column that is read.
    pub left_out: usize,
    is_chart: bool,
    depth: usize,
}

impl<'r, 'a> Reader<'r, 'a> {
    pub fn new(archive: Option<&'r Archive<'a>>, is_workbook: bool, lists: Lists, text_styles: TextStyles) -> Self {
        Self {
            archive,
            is_workbook,
            lists,
            text_styles,
            text: Vec::new(),
            tables: Tables::default(),
            frame: Frame::default(),
            annotation: None,
            notes: Vec::new(),
            controls: Controls::default(),
            after: Vec::new(),
            objects: Vec::new(),
            begins_document: false,
            running: Vec::new(),
            uncounted: 0,
            left_out: 0,
            is_chart: false,
            depth: 0,
        }
    }

    pub fn read_part(&mut self, text: &str, part: &str, draft: &mut Draft<'_>) -> Result<()> {
        let mut xml = Xml::new(text, part, draft.budget);
        while let Some(node) = xml.next()? {
            match node {
                Node::Open(element) => {
                    if self.open(&element, &mut xml, draft)? {
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
    fn open(&mut self, element: &Element<'_>, xml: &mut Xml<'_>, draft: &mut Draft<'_>) -> Result<bool> {
        let begins_document = std::mem::replace(&mut self.begins_document, element.name() == "document");
        match element.name() {
            // What was deleted, and what is not content.
            "tracked-changes" | "sequence-decls" | "automatic-styles" | "master-styles" | "binary-data" | "script" => {
                return Ok(true);
            }
            name if begins_document && BEFORE_CONTENT.contains(&name) => {
                self.begins_document = true;
                return Ok(true);
            }
            name if self.open_text(name, element) => {}
            "math" => {
                let text = formula::read(xml)?;
                self.add_formula(&text, draft);
            }
            "table" => {
                self.tables.open += 1;
                if self.tables.open == 1 {
                    self.tables.place = (0, 0);
                }
                // A sheet of a workbook is not within anything.
                if self.tables.open == 1 && self.is_workbook && self.depth == 0 {
                    draft.page(element.attribute("name"))?;
                }
            }
            "table-row" if self.tables.open == 1 => {
                self.tables.repeat_row = repeated(element, "number-rows-repeated");
                self.tables.rows.push(Vec::new());
                self.tables.place.1 = 0;
            }
            "table-cell" | "covered-table-cell" if self.tables.open == 1 => {
                self.tables.repeat_cell = repeated(element, "number-columns-repeated");
                self.tables.value = cells::value(element, xml);
                self.tables.date = cells::date(element, xml).filter(|_| self.is_workbook);
                let style = element.attribute("style-name").unwrap_or_default();
                self.tables.style = self.text_styles.apply(&style, TextStyle::default());
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
            "frame" => {
                let class = xml.attribute_of(element, "presentation", "class").unwrap_or_default();
                let paragraphs = Some(self.text.len());
                self.frame = Frame { class, has_object: false, paragraphs, description: String::new() };
            }
            "annotation" => {
                let remark = Remark { author: String::new(), text: String::new() };
                let paragraphs = self.text.len();
                let (row, column) = self.tables.place;
                let is_in_sheet = self.is_workbook && self.depth == 0 && self.tables.open == 1;
                let on = if is_in_sheet { format!("{}{}", column_name(column), row + 1) } else { String::new() };
                self.annotation = Some(Annotation { remark, on, paragraphs, in_author: false, in_date: false });
            }
            "creator" => self.annotation.iter_mut().for_each(|annotation| annotation.in_author = true),
            "date" | "date-string" | "sender-initials" | "creator-initials" => {
                self.annotation.iter_mut().for_each(|annotation| annotation.in_date = true);
            }
            "header-decl" | "footer-decl" | "date-time-decl" => {
                let line = xml.inner_text()?.trim().to_owned();
                if !line.is_empty() && !self.running.contains(&line) {
                    self.running.push(line);
                }
            }
            // It stands within one of the same name.
            "chart" if !self.is_chart => {
                self.is_chart = true;
                draft.paragraph("Chart")?;
            }
            "object" => {
                self.frame.has_object = true;
                if let Some(target) = element.attribute("href") {
                    self.open_object(&target, draft)?;
                }
            }
            "object-ole" => {
                self.frame.has_object = true;
                warn_of_object(draft);
            }
            // A picture of an object stands beside it.
            "image" if !self.frame.has_object => draft.count_picture(),
            // Others are a part of a paragraph or of a chart.
            "title" | "desc" if self.frame.paragraphs == Some(self.text.len()) => {
                let text = xml.inner_text()?;
                if !self.frame.description.is_empty() && !text.trim().is_empty() {
                    self.frame.description.push_str(": ");
                }
                self.frame.description.push_str(text.trim());
            }
            // Fields of forms.
            name => self.controls.open(name, element).into_iter().for_each(|shown| self.after.push(shown)),
        }
        Ok(false)
    }

    /// Begins a part of the text, or adds what an element stands for; whether it is one.
    fn open_text(&mut self, name: &str, element: &Element<'_>) -> bool {
        match name {
            "h" => {
                let level = element.number("outline-level").unwrap_or(1.0);
                let level = (1..=6_u8).rev().find(|one| f64::from(*one) <= level).unwrap_or(1);
                let number = self.lists.number_of_heading(element, level);
                let style = self.style_of_paragraph(element);
                self.text.push(Paragraph::new(BlockKind::Heading { level }, &number, style));
            }
            "p" => {
                let number = self.lists.number_of_paragraph();
                let kind = match self.frame.class.as_str() {
                    "title" => BlockKind::Heading { level: 1 },
                    _ if self.lists.is_open() => BlockKind::ListItem,
                    _ => BlockKind::Paragraph,
                };
                let style = self.style_of_paragraph(element);
                self.text.push(Paragraph::new(kind, &number, style));
            }
            "list" => self.lists.open(element),
            "list-item" | "list-header" => self.lists.open_item(element),
            "tab" => self.add("\t"),
            "line-break" => self.add("\n"),
            "s" => self.add(" "),
            "span" => {
                let name = element.attribute("style-name").unwrap_or_default();
                if let Some(open) = self.text.last_mut() {
                    let style = self.text_styles.apply(&name, open.style());
                    open.styles.push(style);
                }
            }
            "hidden-text" => self.add(&element.attribute("string-value").unwrap_or_default()),
            "ruby-text" => self.add("("),
            "note" => {
                let is_endnote = element.attribute("note-class").is_some_and(|class| class == "endnote");
                self.notes.push(Note {
                    kind: if is_endnote { "Endnote" } else { "Footnote" },
                    citation: String::new(),
                    in_citation: false,
                    text: String::new(),
                    paragraphs: self.text.len(),
                });
            }
            "note-citation" => self.notes.iter_mut().for_each(|note| note.in_citation = true),
            _ => return false,
        }
        true
    }

    /// How the text of a paragraph looks, which may stand in a cell that has a look.
    fn style_of_paragraph(&self, element: &Element<'_>) -> TextStyle {
        let is_beside = self.annotation.is_some() || !self.notes.is_empty();
        let within = if self.tables.open > 0 && !is_beside { self.tables.style } else { TextStyle::default() };
        self.text_styles.apply(&element.attribute("style-name").unwrap_or_default(), within)
    }

    /// Takes an object: a formula is a part of the paragraph, others are documents of their own behind it.
    fn open_object(&mut self, target: &str, draft: &mut Draft<'_>) -> Result<()> {
        let part = format!("{}/{CONTENT}", resolve("", target.trim_start_matches("./")));
        let text = self.archive.map(|archive| archive.text(&part)).transpose()?.flatten();
        if let Some(text) = &text {
            let mut xml = Xml::new(text, &part, draft.budget);
            if xml.next_open()?.is_some_and(|root| root.name() == "math") {
                let text = formula::read(&mut xml)?;
                self.add_formula(&text, draft);
                return Ok(());
            }
        }
        self.objects.push(EmbeddedObject { part, text });
        Ok(())
    }

    fn add_formula(&mut self, text: &str, draft: &mut Draft<'_>) {
        if text.is_empty() {
            draft.warn("A formula in it is not read.");
        } else if self.text.is_empty() {
            self.after.push(text.to_owned());
        } else {
            self.add(text);
        }
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
        if let Some(note) = self.notes.last_mut().filter(|note| note.in_citation) {
            note.citation.push_str(text);
        } else if let Some(open) = self.text.last_mut() {
            let style = open.style();
            open.text.add(text, style);
        }
    }

    fn close(&mut self, name: &str, draft: &mut Draft<'_>) -> Result<()> {
        match name {
            "h" | "p" => {
                let Some(mut paragraph) = self.text.pop() else { return Ok(()) };
                let (kind, text) = (paragraph.kind, paragraph.text.take());
                if let Some(annotation) = self.annotation.as_mut().filter(|one| self.text.len() >= one.paragraphs) {
                    table::add_to_cell(&mut annotation.remark.text, &text);
                } else if let Some(note) = self.notes.last_mut().filter(|note| self.text.len() >= note.paragraphs) {
                    table::add_to_cell(&mut note.text, &text);
                } else if self.tables.open > 0 {
                    table::add_to_cell(&mut self.tables.cell, &text);
                } else {
                    draft.block(kind, &text)?;
                }
            }
            "annotation" => {
                if let Some(annotation) = self.annotation.take().filter(|one| !one.remark.text.trim().is_empty()) {
                    self.after.push(annotation.remark.written(&annotation.on));
                }
            }
            "span" => {
                if let Some(open) = self.text.last_mut() {
                    open.styles.pop();
                }
            }
            "ruby-text" => self.add(")"),
            "note-citation" => {
                self.notes.iter_mut().for_each(|note| note.in_citation = false);
                if let (Some(note), Some(open)) = (self.notes.last(), self.text.last_mut()) {
                    open.text.add(note.citation.trim(), TextStyle { script: Script::Raised, is_struck: false });
                }
            }
            "note" => {
                if let Some(note) = self.notes.pop().filter(|note| !note.text.trim().is_empty()) {
                    self.after.push(format!("{} {}: {}", note.kind, note.citation.trim(), note.text.trim()));
                }
            }
            "creator" => self.annotation.iter_mut().for_each(|annotation| annotation.in_author = false),
            "date" | "date-string" | "sender-initials" | "creator-initials" => {
                self.annotation.iter_mut().for_each(|annotation| annotation.in_date = false);
            }
            "list" => self.lists.close(),
            // One within a file that has all parts in one.
            "document" => self.is_chart = false,
            "frame" => {
                let frame = std::mem::take(&mut self.frame);
                if !frame.description.is_empty() {
                    self.after.push(format!("Description: {}", frame.description));
                }
            }
            "combobox" | "listbox" => self.after.extend(self.controls.end_list()),
            "covered-table-cell" if self.tables.open == 1 => {
                // Nobody sees what stands below a wide or high cell.
                self.tables.cell.clear();
                self.tables.value = None;
                self.tables.is_formula = false;
                self.end_cell();
            }
            "table-cell" if self.tables.open == 1 => self.end_cell(),
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
            let Some(text) = object.text.filter(|_| self.depth < OBJECTS_WITHIN) else {
                warn_of_object(draft);
                continue;
            };
            let mut inner = Reader::new(self.archive, self.is_workbook, Lists::default(), TextStyles::default());
            inner.depth = self.depth + 1;
            inner.read_part(&text, &object.part, draft)?;
        }
        Ok(())
    }

    fn end_cell(&mut self) {
        self.tables.place.1 = self.tables.place.1.saturating_add(self.tables.repeat_cell);
        let text = std::mem::take(&mut self.tables.cell);
        let value = self.tables.value.take();
        if text.is_empty() && self.tables.is_formula {
            self.uncounted += 1;
        }
        let text = match self.tables.date.take() {
            Some(date) if !text.is_empty() => cells::with_date(text, &date),
            _ => value.filter(|_| text.is_empty()).unwrap_or(text),
        };
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
        self.tables.place.0 = self.tables.place.0.saturating_add(self.tables.repeat_row);
        let Some(row) = self.tables.rows.pop() else { return };
        if row.iter().any(|cell| !cell.is_empty()) {
            let times = self.tables.repeat_row.min(REPEATED);
            self.tables.rows.extend(std::iter::repeat_n(row, times));
        }
    }
}

fn warn_of_object(draft: &mut Draft<'_>) {
    draft.warn("An object of another program in it is not read. Add it as a file of its own.");
}

fn repeated(element: &Element<'_>, name: &str) -> usize {
    element.attribute(name).and_then(|times| times.parse().ok()).unwrap_or(1).max(1)
}
