//! DOCX: the body, and what stands beside it: headers and footers once, notes and comments behind the paragraph that
//! they belong to, charts, diagrams, text boxes, and files that are a part of it. Numbers of clauses, which files don't
//! hold, are computed.

mod body;
mod equation;
mod notes;
mod numbering;
mod run;
mod styles;

use super::draft::Draft;
use super::error::Result;
use super::formula;
use super::mail::ReadAttached;
use super::office::{Office, Remark, related, title};
use super::relations::{self, Relations};
use super::rich_text::{RichText, TextStyle};
use super::xml::{Node, Xml};
use super::zip::Archive;
use body::Body;
use notes::Beside;
use numbering::Numbering;
use run::Run;
use std::collections::{BTreeMap, HashMap, HashSet};
use styles::Style;

pub(super) fn read(office: &Office<'_>, draft: &mut Draft<'_>, attached: ReadAttached<'_>) -> Result<()> {
    let (archive, main) = (&office.archive, office.main.as_str());
    draft.title = title(archive, draft.budget)?;
    let relations = relations::of(main, archive, draft.budget)?;
    let folder = main.rsplit_once('/').map_or("", |(folder, _)| folder);
    let part = |kind: &str| related(kind, &format!("{folder}/{kind}.xml"), &relations, archive);
    let numbering = Numbering::read(part("numbering"), archive, draft.budget)?;
    let styles = styles::read(part("styles"), archive, draft.budget)?;
    let text = archive.need(main)?;
    let mut notes = Beside::new(
        remarks(part("footnotes"), "footnote", &styles, archive, draft)?,
        remarks(part("endnotes"), "endnote", &styles, archive, draft)?,
        remarks(part("comments"), "comment", &styles, archive, draft)?,
    );
    if let Some(settings) = part("settings").map(|part| archive.text(&part)).transpose()?.flatten() {
        notes.read_ways(&settings, "settings", draft.budget)?;
    }
    notes.read_ways(&text, main, draft.budget)?;
    draft.page(None)?;
    let mut body = Body { archive, styles, numbering, beside: notes, attached, is_running: false };
    body.read_running("header", &relations, draft)?;
    let (_, first) = draft.position();
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

/// Notes or comments by their ids.
fn remarks(
    part: Option<String>,
    element: &str,
    styles: &HashMap<String, Style>,
    archive: &Archive<'_>,
    draft: &mut Draft<'_>,
) -> Result<BTreeMap<String, Remark>> {
    let mut found = BTreeMap::new();
    let Some(part) = part else { return Ok(found) };
    let Some(content) = archive.text(&part)? else { return Ok(found) };
    let mut xml = Xml::new(&content, &part, draft.budget);
    let mut open: Option<(String, String)> = None;
    let (mut text, mut run) = (RichText::default(), Run::default());
    let plain = TextStyle::default();
    while let Some(node) = xml.next()? {
        match node {
            Node::Open(one) if one.name() == element => {
                open = Some((one.attribute("id").unwrap_or_default(), one.attribute("author").unwrap_or_default()));
                text = RichText::default();
            }
            Node::Open(one) if open.is_none() || run.read(&one, styles) => {}
            Node::Open(one) => match one.name() {
                "del" | "moveFrom" | "instrText" | "delText" | "pPrChange" | "rPrChange" => xml.skip()?,
                "t" => run.add_text(&xml.inner_text()?, &mut text),
                "sym" => run.add_sign(&one, &mut text),
                "oMath" => text.add(&formula::read(&mut xml)?, plain),
                "tab" | "ptab" => text.add("\t", plain),
                "br" | "cr" => text.add("\n", plain),
                "noBreakHyphen" => text.add("-", plain),
                _ => {}
            },
            Node::Close(name) if name == element => {
                let text = text.take();
                if let Some((id, author)) = open.take().filter(|_| !text.trim().is_empty()) {
                    found.insert(id, Remark { author, text });
                }
            }
            Node::Close(name) if name == "p" => text.add("\n", plain),
            Node::Close(name) if name == "r" => run.end(),
            _ => {}
        }
    }
    run.warn(draft);
    Ok(found)
}
