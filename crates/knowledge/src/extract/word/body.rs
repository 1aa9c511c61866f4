//! Paragraphs and tables, in the order in which they stand.

use super::super::draft::Draft;
use super::super::drawing::{Outside, add_outside, description};
use super::super::error::Result;
use super::super::mail::ReadAttached;
use super::super::office::{is_page_number, read_embedded};
use super::super::relations::Relations;
use super::super::table;
use super::super::xml::{Element, Node, Xml};
use super::super::zip::Archive;
use super::Beside;
use super::numbering::Numbering;
use super::styles::{Style, outline};
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
    text: String,
    level: Option<usize>,
    list: Option<String>,
    list_level: Option<usize>,
    style: String,
    has_page_number: bool,
}

/// A field at work, such as the number of a page.
#[derive(Default)]
struct Field {
    code: String,
    in_result: bool,
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

/// A part that is being read. Text of a table within a cell is a part of that cell.
#[derive(Default)]
struct State {
    open: Vec<Paragraph>,
    tables: usize,
    rows: Vec<Vec<String>>,
    after: Vec<After>,
    fields: Vec<Field>,
    /// Entries of a list in an old form, and which is chosen.
    choices: (Vec<String>, usize),
    in_object: bool,
}

impl State {
    fn push(&mut self, letter: char) {
        if let Some(paragraph) = self.open.last_mut().filter(|paragraph| !paragraph.text.is_empty()) {
            paragraph.text.push(letter);
        }
    }

    fn add(&mut self, text: &str) {
        if let Some(paragraph) = self.open.last_mut() {
            paragraph.text.push_str(text);
        }
    }
}

impl Body<'_, '_> {
    pub fn read_part(&mut self, text: &str, part: &str, related: &Relations, draft: &mut Draft<'_>) -> Result<()> {
        let mut xml = Xml::new(text, part, draft.budget);
        let mut state = State::default();
        while let Some(node) = xml.next()? {
            match node {
                Node::Open(element) => self.open(&element, &mut xml, related, &mut state, draft)?,
                Node::Close(name) => match name.as_str() {
                    "p" => {
                        if let Some(paragraph) = state.open.pop() {
                            // A text box stands within the paragraph that it is fixed to.
                            self.end_paragraph(paragraph, &mut state, draft)?;
                        }
                    }
                    "object" => state.in_object = false,
                    "ddList" => {
                        let (entries, chosen) = std::mem::take(&mut state.choices);
                        state.add(entries.get(chosen).map_or("", String::as_str));
                    }
                    "tbl" => {
                        state.tables = state.tables.saturating_sub(1);
                        if state.tables == 0 {
                            table::add(&std::mem::take(&mut state.rows), draft)?;
                            self.add_after(&mut state, related, draft)?;
                        }
                    }
                    _ => {}
                },
                Node::Text(_) => {}
            }
            if state.open.is_empty() && state.tables == 0 && !state.after.is_empty() {
                self.add_after(&mut state, related, draft)?;
            }
        }
        Ok(())
    }

    fn open(
        &mut self,
        element: &Element<'_>,
        xml: &mut Xml<'_>,
        related: &Relations,
        state: &mut State,
        draft: &mut Draft<'_>,
    ) -> Result<()> {
        let value = || element.attribute("val");
        match element.name() {
            // The same content again, for older programs; what was deleted; how characters are spoken;
            // what a paragraph was before a change.
            "Fallback" | "del" | "moveFrom" | "delText" | "delInstrText" | "rt" | "pPrChange" | "rPrChange"
            | "sectPrChange" | "tblPrChange" | "numberingChange" => xml.skip()?,
            "p" => state.open.push(Paragraph::default()),
            "pStyle" => {
                if let (Some(paragraph), Some(style)) = (state.open.last_mut(), value()) {
                    paragraph.level = self.styles.get(&style).and_then(|style| style.level);
                    paragraph.style = style;
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
            "fldChar" => match element.attribute("fldCharType").as_deref() {
                Some("begin") => state.fields.push(Field::default()),
                Some("separate") => state.fields.last_mut().into_iter().for_each(|field| field.in_result = true),
                Some("end") => drop(state.fields.pop()),
                _ => {}
            },
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
                } else {
                    state.add(&text);
                }
            }
            "tab" | "ptab" => state.push('\t'),
            "br" | "cr" => state.push('\n'),
            "noBreakHyphen" => state.push('-'),
            "sym" => {
                let sign = element.attribute("char").and_then(|code| u32::from_str_radix(&code, 16).ok());
                // Signs of fonts such as Wingdings are no characters.
                let sign = sign.filter(|code| !(0xe000..0xf900).contains(code)).and_then(char::from_u32);
                if let Some(sign) = sign {
                    state.add(&sign.to_string());
                }
            }
            "listEntry" => state.choices.0.extend(value()),
            "result" => {
                state.choices.1 = value().and_then(|at| at.parse().ok()).unwrap_or(0);
            }
            "textpath" => state.after.extend(element.attribute("string").map(After::Text)),
            "docPr" => {
                state.after.extend(description(element).map(|text| After::Text(format!("Description: {text}"))));
            }
            "object" => state.in_object = true,
            // An object of another program has a picture of itself.
            "blip" | "imagedata" if !self.is_running && !state.in_object => draft.count_picture(),
            "tbl" => state.tables += 1,
            "tr" if state.tables == 1 => state.rows.push(Vec::new()),
            "tc" if state.tables == 1 => {
                if let Some(row) = state.rows.last_mut() {
                    row.push(String::new());
                }
            }
            "altChunk" | "subDoc" => {
                if let Some(relation) = xml.relation(element, "id").and_then(|id| related.by_id(&id)) {
                    let (pages, _) = draft.position();
                    read_embedded(relation, self.archive, draft, self.attached)?;
                    draft.join_pages(pages);
                }
            }
            name => {
                if let Some(text) = element.attribute("id").and_then(|id| self.beside.take(name, &id)) {
                    state.after.push(After::Text(text));
                } else if let Some(outside) = Outside::of(element, xml) {
                    state.after.push(After::Drawn(outside));
                }
            }
        }
        Ok(())
    }

    fn end_paragraph(&mut self, paragraph: Paragraph, state: &mut State, draft: &mut Draft<'_>) -> Result<()> {
        if is_page_number(&paragraph.text, paragraph.has_page_number) {
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
        let text = match number.filter(|number| !number.is_empty() && !paragraph.text.trim().is_empty()) {
            Some(number) => format!("{number} {}", paragraph.text.trim_start()),
            None => paragraph.text,
        };
        if state.tables > 0 {
            if let Some(cell) = state.rows.last_mut().and_then(|row| row.last_mut()) {
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

    fn add_after(&mut self, state: &mut State, related: &Relations, draft: &mut Draft<'_>) -> Result<()> {
        for after in std::mem::take(&mut state.after) {
            match after {
                After::Text(text) => draft.paragraph(&text)?,
                After::Drawn(Outside::File(id)) => {
                    if let Some(relation) = related.by_id(&id) {
                        let (pages, _) = draft.position();
                        read_embedded(relation, self.archive, draft, self.attached)?;
                        draft.join_pages(pages);
                    }
                }
                After::Drawn(outside) => add_outside(&outside, related, self.archive, draft)?,
            }
        }
        Ok(())
    }
}
