//! What stands beside the cells of a sheet.

use super::super::draft::Draft;
use super::super::drawing::add_drawing;
use super::super::error::Result;
use super::super::escapes::unescape;
use super::super::mail::ReadAttached;
use super::super::office::{Remark, is_page_number, read_embedded};
use super::super::relations;
use super::super::xml::{Node, Xml};
use super::super::zip::Archive;
use super::controls::add_controls;
use super::strings::Runs;
use std::collections::{HashMap, HashSet};

/// The parts that belong to a sheet.
pub(super) struct Beside<'b, 'a> {
    pub part: &'b str,
    pub archive: &'b Archive<'a>,
    /// Names of who takes part in conversations.
    pub persons: &'b HashMap<String, String>,
}

impl Beside<'_, '_> {
    pub fn add(&self, draft: &mut Draft<'_>, attached: ReadAttached<'_>) -> Result<()> {
        let related = relations::of(self.part, self.archive, draft.budget)?;
        for part in related.of_kind("drawing") {
            add_drawing(part, self.archive, draft)?;
        }
        for part in related.of_kind("vmlDrawing") {
            add_controls(part, self.archive, draft)?;
        }
        let mut answered = HashSet::new();
        for part in related.of_kind("threadedComment") {
            for (cell, remark) in self.read_thread(part, draft)? {
                draft.paragraph(&remark.written(&cell))?;
                answered.insert(cell);
            }
        }
        for part in related.of_kind("comments") {
            for (cell, remark) in self.read_notes(part, draft)? {
                // Of a conversation, the older form says only that there is one.
                if !answered.contains(&cell) {
                    draft.paragraph(&remark.written(&cell))?;
                }
            }
        }
        for kind in ["package", "oleObject"] {
            for part in related.of_kind(kind) {
                if let Some(relation) = related.by_target(part) {
                    let (pages, _) = draft.position();
                    read_embedded(relation, self.archive, draft, &mut *attached)?;
                    draft.join_pages(pages);
                }
            }
        }
        Ok(())
    }

    fn read_notes(&self, part: &str, draft: &Draft<'_>) -> Result<Vec<(String, Remark)>> {
        let Some(text) = self.archive.text(part)? else { return Ok(Vec::new()) };
        let mut xml = Xml::new(&text, part, draft.budget);
        let (mut authors, mut found) = (Vec::new(), Vec::<(String, Remark)>::new());
        let mut runs = Runs::default();
        while let Some(node) = xml.next()? {
            match node {
                Node::Open(element) => match element.name() {
                    "author" => authors.push(unescape(&xml.inner_text()?)),
                    "comment" => {
                        let author = element.attribute("authorId").and_then(|id| id.parse::<usize>().ok());
                        let author: String = author.and_then(|at| authors.get(at).cloned()).unwrap_or_default();
                        let cell = element.attribute("ref").unwrap_or_default();
                        found.push((cell, Remark { author, text: String::new() }));
                    }
                    "rPh" => xml.skip()?,
                    "t" => runs.add(&xml.inner_text()?),
                    _ => runs.read_style(&element),
                },
                Node::Close(name) if name == "comment" => {
                    if let Some((_, remark)) = found.last_mut() {
                        remark.text = runs.take();
                    }
                }
                _ => {}
            }
        }
        for (_, remark) in &mut found {
            // Spreadsheets write who it is by into the text as well.
            let rest = remark.text.trim().strip_prefix(remark.author.trim()).and_then(|rest| rest.strip_prefix(':'));
            if let Some(rest) = rest.filter(|_| !remark.author.trim().is_empty()) {
                remark.text = rest.trim().to_owned();
            }
        }
        Ok(found)
    }

    fn read_thread(&self, part: &str, draft: &Draft<'_>) -> Result<Vec<(String, Remark)>> {
        let Some(text) = self.archive.text(part)? else { return Ok(Vec::new()) };
        let mut xml = Xml::new(&text, part, draft.budget);
        let mut found = Vec::<(String, Remark)>::new();
        while let Some(node) = xml.next()? {
            let Node::Open(element) = node else { continue };
            match element.name() {
                "threadedComment" => {
                    let person = element.attribute("personId").unwrap_or_default();
                    let author = self.persons.get(&person).cloned().unwrap_or_default();
                    found.push((element.attribute("ref").unwrap_or_default(), Remark { author, text: String::new() }));
                }
                "text" => {
                    let text = xml.inner_text()?;
                    found.last_mut().into_iter().for_each(|(_, remark)| remark.text.push_str(&text));
                }
                _ => {}
            }
        }
        Ok(found)
    }
}

/// Adds the texts of a header or footer, whose code says with `&` where and how they stand.
pub(in super::super) fn add_running(code: &str, lines: &mut Vec<String>) {
    let (mut text, mut has_number) = (String::new(), false);
    let mut letters = code.chars().peekable();
    let mut texts = Vec::new();
    while let Some(letter) = letters.next() {
        if letter != '&' {
            text.push(letter);
            continue;
        }
        match letters.next() {
            Some('L' | 'C' | 'R') => texts.push((std::mem::take(&mut text), std::mem::take(&mut has_number))),
            Some('P' | 'N') => {
                has_number = true;
                text.push(' ');
            }
            Some('&') => text.push('&'),
            // Programs that don't know the code.
            Some(' ') => text.push_str("& "),
            // A font, in quotes.
            Some('"') => while letters.next().is_some_and(|letter| letter != '"') {},
            // A colour: six digits, or two and a shade.
            Some('K') => drop(letters.by_ref().take(6).count()),
            // A size.
            Some('0'..='9') => while letters.next_if(char::is_ascii_digit).is_some() {},
            _ => {}
        }
    }
    texts.push((text, has_number));
    for (text, has_number) in texts {
        let text = text.trim();
        if !text.is_empty() && !is_page_number(text, has_number) && !lines.iter().any(|line| line == text) {
            lines.push(text.to_owned());
        }
    }
}
