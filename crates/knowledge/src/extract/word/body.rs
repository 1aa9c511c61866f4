//! Paragraphs and tables, in the order in which they stand.

use super::super::draft::Draft;
use super::super::drawing::{Outside, add_outside, description};
use super::super::error::Result;
use super::super::formula;
use super::super::mail::ReadAttached;
use super::super::office::{is_page_number, read_embedded};
use super::super::relations::{Relation, Relations};
use super::super::rich_text::{RichText, TextStyle};
use super::super::table::{self, Grid};
use super::super::xml::{Element, Node, Xml};
use super::super::zip::Archive;
use super::equation;
use super::notes::Beside;
use super::numbering::Numbering;
use super::run::Run;
use super::styles::{DEFAULT, Style, is_on, outline};
use std::collections::HashMap;
use steward_core::extracted::BlockKind;

pub(super) struct Body<'r, 'a> {
    pub archive: &'r Archive<'a>,
    pub styles: HashMap<String, Style>,
    pub numbering: Numbering,
    pub beside: Beside,
    pub attached: ReadAttached<'r>,
    /// Headers and footers are read.
    pub is_running: bool,
}

#[derive(Default)]
struct Paragraph {
    text: RichText,
    level: Option<usize>,
    list: Option<String>,
    list_level: Option<usize>,
    style: String,
    has_page_number: bool,
    /// Its end was deleted, so that the next paragraph goes on with its text.
    is_joined: bool,
}

/// A field at work, such as the number of a page.
#[derive(Default)]
struct Field {
    code: String,
    in_result: bool,
    /// Its result has text.
    is_shown: bool,
}

impl Field {
    fn is_page_number(&self) -> bool {
        is_page_field(&self.code)
    }
}

fn is_page_field(code: &str) -> bool {
    let name = code.split_whitespace().next().unwrap_or_default();
    ["PAGE", "NUMPAGES", "SECTIONPAGES"].iter().any(|field| name.eq_ignore_ascii_case(field))
}

/// What belongs behind the paragraph or table that is open.
enum After {
    Text(String),
    Drawn(Outside),
}

/// What properties are read of.
#[derive(Default, PartialEq, Eq)]
enum Properties {
    #[default]
    Nothing,
    Paragraph,
    Row,
}

/// A part that is being read. Text of a table within a cell is a part of that cell.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about what is open")]
struct State {
    open: Vec<Paragraph>,
    run: Run,
    /// Text of paragraphs whose end was deleted.
    joined: String,
    properties: Properties,
    tables: usize,
    grid: Grid,
    /// For each row that is open, whether it was deleted.
    rows_deleted: Vec<bool>,
    is_cell_deleted: bool,
    /// A higher cell stands above it.
    is_cell_covered: bool,
    after: Vec<After>,
    fields: Vec<Field>,
    /// Entries of a list in an old form, and which is chosen.
    choices: (Vec<String>, usize),
    /// Whether the box of an old form that is open is ticked.
    is_ticked: bool,
    /// How the characters that come are spoken.
    ruby: String,
    in_object: bool,
    /// A note whose mark comes next: what stands before its text, and that text.
    marked_note: Option<(&'static str, String)>,
}

impl State {
    fn push(&mut self, letter: char) {
        let style = self.run.style;
        if let Some(paragraph) = self.open.last_mut().filter(|paragraph| !paragraph.text.is_empty()) {
            paragraph.text.add(letter.encode_utf8(&mut [0; 4]), style);
        }
    }

    fn add(&mut self, text: &str) {
        if let Some(paragraph) = self.open.last_mut() {
            paragraph.text.add(text, TextStyle::default());
        }
    }

    fn add_text(&mut self, text: &str) {
        self.end_note(text.trim());
        if let Some(paragraph) = self.open.last_mut() {
            self.run.add_text(text, &mut paragraph.text);
        }
    }

    /// The mark came that belongs to a note.
    fn end_note(&mut self, mark: &str) {
        if let Some((label, text)) = self.marked_note.take() {
            let space = if mark.is_empty() { "" } else { " " };
            self.after.push(After::Text(format!("{label}{space}{mark}: {text}")));
        }
    }

    /// Takes what an element says about fields and old forms. Whether it says anything.
    fn open_field(&mut self, element: &Element<'_>) -> bool {
        match element.name() {
            "fldChar" => match element.attribute("fldCharType").as_deref() {
                Some("begin") => self.fields.push(Field::default()),
                Some("separate") => self.fields.last_mut().into_iter().for_each(|field| field.in_result = true),
                Some("end") => {
                    let field = self.fields.pop().filter(|field| !field.is_shown);
                    if let Some(formula) = field.and_then(|field| equation::read(&field.code)) {
                        match self.fields.last_mut().filter(|around| !around.in_result) {
                            Some(around) => around.code.push_str(&formula),
                            None => self.add(&formula),
                        }
                    }
                }
                _ => {}
            },
            "checkBox" => self.is_ticked = false,
            // What it was before anybody ticked it comes first.
            "default" | "checked" => self.is_ticked = is_on(element),
            "listEntry" => self.choices.0.extend(element.attribute("val")),
            "result" => {
                self.choices.1 = element.attribute("val").and_then(|at| at.parse().ok()).unwrap_or(0);
            }
            _ => return false,
        }
        true
    }

    /// Takes what an element says about tables. Whether it says anything. Of tables within cells, only what was deleted
    /// is of interest.
    fn open_table(&mut self, element: &Element<'_>) -> bool {
        let is_outer = self.tables == 1;
        match element.name() {
            "tbl" => self.tables += 1,
            "tr" => {
                self.rows_deleted.push(false);
                if is_outer {
                    self.grid.start_row();
                }
            }
            "tc" if is_outer => {
                self.is_cell_covered = false;
                self.grid.start_cell(1, 1);
            }
            "vMerge" if is_outer => {
                self.is_cell_covered = element.attribute("val").is_none_or(|val| val == "continue");
            }
            "gridSpan" if is_outer => self.grid.skip_columns(count(element).saturating_sub(1)),
            "gridBefore" if is_outer => self.grid.skip_columns(count(element)),
            "trPr" => self.properties = Properties::Row,
            "del" if self.properties == Properties::Row => {
                self.rows_deleted.last_mut().into_iter().for_each(|row| *row = true);
            }
            "cellDel" => self.is_cell_deleted = true,
            _ => return false,
        }
        true
    }

    /// What a field shows is a part of the code of the field around it, as long as that one's own result hasn't begun.
    fn is_in_code(&self) -> bool {
        self.fields.split_last().is_some_and(|(_, around)| around.iter().any(|field| !field.in_result))
    }

    fn is_deleted(&self) -> bool {
        self.is_cell_deleted || self.rows_deleted.contains(&true)
    }
}

impl Body<'_, '_> {
    pub fn read_part(&mut self, text: &str, part: &str, related: &Relations, draft: &mut Draft<'_>) -> Result<()> {
        let mut xml = Xml::new(text, part, draft.budget);
        let mut state = State::default();
        while let Some(node) = xml.next()? {
            match node {
                Node::Open(element) => self.open(&element, &mut xml, related, &mut state, draft)?,
                Node::Close(name) => self.close(&name, related, &mut state, draft)?,
                Node::Text(_) => {}
            }
            if state.open.is_empty() && state.tables == 0 && !state.after.is_empty() {
                self.add_after(&mut state, related, draft)?;
            }
        }
        self.end_joined(&mut state, draft)?;
        state.run.warn(draft);
        Ok(())
    }

    fn close(&mut self, name: &str, related: &Relations, state: &mut State, draft: &mut Draft<'_>) -> Result<()> {
        match name {
            "p" => {
                if let Some(paragraph) = state.open.pop() {
                    let around = state.open.last().and_then(|paragraph| self.styles.get(&paragraph.style));
                    state.run.begin_paragraph(around);
                    // A text box stands within the paragraph that it is fixed to.
                    self.end_paragraph(paragraph, state, draft)?;
                }
            }
            "r" => {
                state.end_note("");
                state.run.end();
            }
            "pPr" | "trPr" => state.properties = Properties::Nothing,
            "object" => state.in_object = false,
            "rubyBase" => {
                let spoken = std::mem::take(&mut state.ruby);
                if !spoken.trim().is_empty() {
                    state.add(&format!("({})", spoken.trim()));
                }
            }
            "ddList" => {
                let (entries, chosen) = std::mem::take(&mut state.choices);
                state.add(entries.get(chosen).map_or("", String::as_str));
            }
            "checkBox" => state.add(if state.is_ticked { "☒" } else { "☐" }),
            "tc" => {
                self.end_joined(state, draft)?;
                state.is_cell_deleted = false;
            }
            "tr" => {
                state.rows_deleted.pop();
            }
            "tbl" => {
                state.tables = state.tables.saturating_sub(1);
                if state.tables == 0 {
                    table::add(&state.grid.take(), draft)?;
                    self.add_after(state, related, draft)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each element")]
    fn open(
        &mut self,
        element: &Element<'_>,
        xml: &mut Xml<'_>,
        related: &Relations,
        state: &mut State,
        draft: &mut Draft<'_>,
    ) -> Result<()> {
        let value = || element.attribute("val");
        if state.run.read(element, &self.styles) || state.open_field(element) || state.open_table(element) {
            return Ok(());
        }
        match element.name() {
            "del" | "moveFrom" if state.properties == Properties::Paragraph => {
                state.open.last_mut().into_iter().for_each(|paragraph| paragraph.is_joined = true);
            }
            // What was deleted; what something was before a change.
            "del" | "moveFrom" | "delText" | "delInstrText" | "pPrChange" | "rPrChange" | "sectPrChange"
            | "tblPrChange" | "trPrChange" | "tcPrChange" | "numberingChange" => xml.skip()?,
            "pPr" => state.properties = Properties::Paragraph,
            "rt" => state.ruby = xml.inner_text()?,
            "oMath" => {
                let formula = formula::read(xml)?;
                state.add(&formula);
            }
            "p" => {
                state.open.push(Paragraph::default());
                state.run.begin_paragraph(self.styles.get(DEFAULT));
                let joined = std::mem::take(&mut state.joined);
                state.add(&joined);
            }
            "pStyle" => {
                if let (Some(paragraph), Some(style)) = (state.open.last_mut(), value()) {
                    let known = self.styles.get(&style);
                    paragraph.level = known.and_then(|style| style.level);
                    paragraph.style = style;
                    state.run.begin_paragraph(known);
                }
            }
            "outlineLvl" => {
                if let Some(paragraph) = state.open.last_mut() {
                    paragraph.level = outline(element).or(paragraph.level);
                }
            }
            "numId" => state.open.last_mut().into_iter().for_each(|paragraph| paragraph.list = value()),
            "ilvl" => {
                let level = value().and_then(|level| level.parse().ok());
                state.open.last_mut().into_iter().for_each(|paragraph| paragraph.list_level = level);
            }
            "instrText" => {
                let code = xml.inner_text()?;
                state.fields.last_mut().into_iter().for_each(|field| field.code.push_str(&code));
            }
            "fldSimple" if self.is_running && element.attribute("instr").is_some_and(|code| is_page_field(&code)) => {
                xml.skip()?;
                state.open.last_mut().into_iter().for_each(|paragraph| paragraph.has_page_number = true);
            }
            "t" => {
                let text = xml.inner_text()?;
                let is_number = self.is_running
                    && state.fields.last().is_some_and(|field| field.in_result && field.is_page_number());
                if is_number {
                    state.open.last_mut().into_iter().for_each(|paragraph| paragraph.has_page_number = true);
                } else if state.is_in_code() {
                    let around = state.fields.iter_mut().rev().skip(1).find(|field| !field.in_result);
                    if let Some(field) = around {
                        field.code.push_str(&text);
                    }
                } else {
                    state.fields.iter_mut().for_each(|field| field.is_shown = true);
                    state.add_text(&text);
                }
            }
            "tab" | "ptab" => state.push('\t'),
            "br" | "cr" => state.push('\n'),
            "noBreakHyphen" => state.push('-'),
            "sym" => {
                if let Some(paragraph) = state.open.last_mut() {
                    state.run.add_sign(element, &mut paragraph.text);
                }
            }
            "textpath" => state.after.extend(element.attribute("string").map(After::Text)),
            "docPr" => {
                state.after.extend(description(element).map(|text| After::Text(format!("Description: {text}"))));
            }
            "object" => state.in_object = true,
            // An object of another program has a picture of itself.
            "blip" | "imagedata" if !self.is_running && !state.in_object => draft.count_picture(),
            "altChunk" | "subDoc" => {
                if let Some(relation) = xml.relation(element, "id").and_then(|id| related.by_id(&id)) {
                    let (_, blocks) = draft.position();
                    self.read_file(relation, draft)?;
                    if state.tables > 0 {
                        for block in draft.take_blocks(blocks) {
                            if let Some(cell) = state.grid.cell() {
                                table::add_to_cell(cell, &table::cell_text(&block));
                            }
                        }
                    }
                }
            }
            name => {
                let beside = element.attribute("id").filter(|_| !state.is_deleted());
                let has_own_mark =
                    element.attribute("customMarkFollows").is_some_and(|on| !matches!(on.as_str(), "0" | "false"));
                if let Some(referred) = beside.and_then(|id| self.beside.take(name, &id, has_own_mark)) {
                    state.add(referred.mark.as_deref().unwrap_or_default());
                    match referred.label {
                        Some(label) => state.marked_note = Some((label, referred.text)),
                        None => state.after.push(After::Text(referred.text)),
                    }
                } else if let Some(outside) = Outside::of(element, xml) {
                    state.after.push(After::Drawn(outside));
                }
            }
        }
        Ok(())
    }

    fn end_paragraph(&mut self, mut paragraph: Paragraph, state: &mut State, draft: &mut Draft<'_>) -> Result<()> {
        if state.is_deleted() || state.tables > 0 && state.is_cell_covered {
            return Ok(());
        }
        let text = paragraph.text.take();
        if paragraph.is_joined {
            state.joined.push_str(&text);
            return Ok(());
        }
        if is_page_number(&text, paragraph.has_page_number) {
            return Ok(());
        }
        let style = self.styles.get(&paragraph.style);
        // List 0 is none, also where the style has one.
        let list = paragraph.list.clone().or_else(|| style.and_then(|style| style.list.clone()));
        let list = list.filter(|list| list != "0");
        let number = list.as_ref().and_then(|list| {
            let of_style = || self.numbering.level_of_style(list, &paragraph.style);
            let level = paragraph.list_level.or_else(of_style).or_else(|| style.and_then(|style| style.list_level));
            self.numbering.count(list, level.unwrap_or(0))
        });
        let text = match number.filter(|number| !number.is_empty() && !text.trim().is_empty()) {
            Some(number) => format!("{number} {}", text.trim_start()),
            None => text,
        };
        if state.tables > 0 {
            if let Some(cell) = state.grid.cell() {
                table::add_to_cell(cell, &text);
            }
            return Ok(());
        }
        match paragraph.level {
            Some(level) => draft.heading(level, &text),
            None if list.is_some() => draft.block(BlockKind::ListItem, &text),
            None => draft.paragraph(&text),
        }
    }

    /// Text whose paragraph was to go on, where none follows.
    fn end_joined(&mut self, state: &mut State, draft: &mut Draft<'_>) -> Result<()> {
        let joined = std::mem::take(&mut state.joined);
        if joined.trim().is_empty() {
            return Ok(());
        }
        let mut paragraph = Paragraph::default();
        paragraph.text.add(&joined, TextStyle::default());
        self.end_paragraph(paragraph, state, draft)
    }

    /// A file within it, as a part of this page.
    fn read_file(&mut self, relation: &Relation, draft: &mut Draft<'_>) -> Result<()> {
        let (pages, _) = draft.position();
        read_embedded(relation, self.archive, draft, self.attached)?;
        draft.join_pages(pages);
        Ok(())
    }

    fn add_after(&mut self, state: &mut State, related: &Relations, draft: &mut Draft<'_>) -> Result<()> {
        for after in std::mem::take(&mut state.after) {
            match after {
                After::Text(text) => draft.paragraph(&text)?,
                After::Drawn(Outside::File(id)) => {
                    if let Some(relation) = related.by_id(&id) {
                        self.read_file(relation, draft)?;
                    }
                }
                After::Drawn(outside) => add_outside(&outside, related, self.archive, draft)?,
            }
        }
        Ok(())
    }
}

/// How many columns an element is about.
fn count(element: &Element<'_>) -> usize {
    element.attribute("val").and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}
