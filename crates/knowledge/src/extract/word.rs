//! DOCX: the body, and what stands beside it: headers and footers once, notes and comments behind the paragraph that
//! they belong to, charts, diagrams, text boxes, and files that are a part of it. Numbers of clauses, which files don't
//! hold, are computed.

mod body;
mod numbering;
mod styles;

use super::draft::Draft;
use super::error::Result;
use super::limits::Budget;
use super::mail::ReadAttached;
use super::office::{Office, Remark, related, title};
use super::relations::{self, Relations};
use super::xml::{Node, Xml};
use super::zip::Archive;
use body::Body;
use numbering::Numbering;
use std::collections::{BTreeMap, HashSet};

pub(super) fn read(office: &Office<'_>, draft: &mut Draft<'_>, attached: ReadAttached<'_>) -> Result<()> {
    let (archive, main) = (&office.archive, office.main.as_str());
    draft.title = title(archive, draft.budget)?;
    let relations = relations::of(main, archive, draft.budget)?;
    let folder = main.rsplit_once('/').map_or("", |(folder, _)| folder);
    let part = |kind: &str| related(kind, &format!("{folder}/{kind}.xml"), &relations, archive);
    let numbering = Numbering::read(part("numbering"), archive, draft.budget)?;
    let styles = styles::read(part("styles"), archive, draft.budget)?;
    let notes = Beside {
        footnotes: remarks(part("footnotes"), "footnote", archive, draft.budget)?,
        endnotes: remarks(part("endnotes"), "endnote", archive, draft.budget)?,
        comments: remarks(part("comments"), "comment", archive, draft.budget)?,
        ..Beside::default()
    };
    draft.page(None)?;
    let mut body = Body { archive, styles, numbering, beside: notes, attached, is_running: false };
    body.read_running("header", &relations, draft)?;
    let (_, first) = draft.position();
    let text = archive.need(main)?;
    body.read_part(&text, main, &relations, draft)?;
    draft.take_title(first);
    body.beside.take_rest().iter().try_for_each(|text| draft.paragraph(text))?;
    body.read_running("footer", &relations, draft)
}

impl Body<'_, '_> {
    /// Headers or footers; what several have is read once.
    fn read_running(&mut self, kind: &str, relations: &Relations, draft: &mut Draft<'_>) -> Result<()> {
        let mut seen = HashSet::new();
        self.is_running = true;
        for part in relations.of_kind(kind) {
            let Some(text) = self.archive.text(part)? else { continue };
            let own = relations::of(part, self.archive, draft.budget)?;
            let (_, before) = draft.position();
            self.read_part(&text, part, &own, draft)?;
            let blocks = draft.take_blocks(before);
            draft.put_blocks(blocks.into_iter().filter(|block| seen.insert(block.text.clone())));
        }
        self.is_running = false;
        Ok(())
    }
}

/// Texts that the body refers to, by their ids; each is read once.
#[derive(Default)]
struct Beside {
    footnotes: BTreeMap<String, Remark>,
    endnotes: BTreeMap<String, Remark>,
    comments: BTreeMap<String, Remark>,
    footnotes_seen: u32,
    endnotes_seen: u32,
}

impl Beside {
    /// What an element of the body refers to.
    fn take(&mut self, element: &str, id: &str) -> Option<String> {
        match element {
            "commentReference" => self.comments.remove(id).map(|comment| comment.written("")),
            "footnoteReference" => {
                let note = self.footnotes.remove(id)?;
                self.footnotes_seen += 1;
                Some(format!("Footnote {}: {}", self.footnotes_seen, note.text.trim()))
            }
            "endnoteReference" => {
                let note = self.endnotes.remove(id)?;
                self.endnotes_seen += 1;
                Some(format!("Endnote {}: {}", self.endnotes_seen, note.text.trim()))
            }
            _ => None,
        }
    }

    /// What nothing refers to.
    fn take_rest(&mut self) -> Vec<String> {
        let notes =
            std::mem::take(&mut self.footnotes).into_values().chain(std::mem::take(&mut self.endnotes).into_values());
        let comments = std::mem::take(&mut self.comments).into_values().map(|comment| comment.written(""));
        notes.map(|note| note.text).chain(comments).collect()
    }
}

/// Notes or comments by their ids.
fn remarks(
    part: Option<String>,
    element: &str,
    archive: &Archive<'_>,
    budget: &Budget<'_>,
) -> Result<BTreeMap<String, Remark>> {
    let mut found = BTreeMap::new();
    let Some(part) = part else { return Ok(found) };
    let Some(text) = archive.text(&part)? else { return Ok(found) };
    let mut xml = Xml::new(&text, &part, budget);
    let mut open: Option<(String, Remark)> = None;
    while let Some(node) = xml.next()? {
        match node {
            Node::Open(one) if one.name() == element => {
                let author = one.attribute("author").unwrap_or_default();
                open = Some((one.attribute("id").unwrap_or_default(), Remark { author, text: String::new() }));
            }
            Node::Open(one) => {
                let name = one.name().to_owned();
                let Some((_, remark)) = &mut open else { continue };
                match name.as_str() {
                    "Fallback" | "del" | "moveFrom" | "instrText" | "delText" => xml.skip()?,
                    "t" => remark.text.push_str(&xml.inner_text()?),
                    "tab" | "ptab" => remark.text.push('\t'),
                    "br" | "cr" => remark.text.push('\n'),
                    "noBreakHyphen" => remark.text.push('-'),
                    _ => {}
                }
            }
            Node::Close(name) if name == element => {
                found.extend(open.take().filter(|(_, remark)| !remark.text.trim().is_empty()));
            }
            Node::Close(name) if name == "p" => open.iter_mut().for_each(|(_, remark)| remark.text.push('\n')),
            _ => {}
        }
    }
    Ok(found)
}
