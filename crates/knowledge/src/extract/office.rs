//! What the files of Word, Excel and PowerPoint have in common: parts that relations lead to.

use super::draft::Draft;
use super::error::Result;
use super::escapes::unescape;
use super::limits::Budget;
use super::mail::ReadAttached;
use super::relations::{self, Relation, Relations};
use super::text::extension;
use super::xml::Xml;
use super::zip::Archive;
use std::collections::HashMap;

const CONTENT_TYPES: &str = "[Content_Types].xml";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OfficeKind {
    Word,
    Sheets,
    Slides,
}

/// An Office file, and the part that it begins with.
pub(super) struct Office<'a> {
    pub archive: Archive<'a>,
    pub main: String,
}

/// The part that an Office file begins with, wherever it lies; `None`: it is none.
pub(super) fn find_main(archive: &Archive<'_>, budget: &Budget<'_>) -> Result<Option<(OfficeKind, String)>> {
    const USUAL: [(&str, OfficeKind); 3] = [
        ("word/document.xml", OfficeKind::Word),
        ("xl/workbook.xml", OfficeKind::Sheets),
        ("ppt/presentation.xml", OfficeKind::Slides),
    ];
    if let Some((name, kind)) = USUAL.into_iter().find(|(name, _)| archive.has(name)) {
        return Ok(Some((kind, name.to_owned())));
    }
    let relations = relations::of("", archive, budget)?;
    let Some(main) = relations.first("officeDocument").filter(|main| archive.has(main)) else { return Ok(None) };
    let kind = match content_type(main, archive, budget)? {
        Some(kind) if kind.contains("wordprocessingml") => OfficeKind::Word,
        Some(kind) if kind.contains("spreadsheetml") => OfficeKind::Sheets,
        Some(kind) if kind.contains("presentationml") => OfficeKind::Slides,
        _ => return Ok(None),
    };
    Ok(Some((kind, main.to_owned())))
}

fn content_type(part: &str, archive: &Archive<'_>, budget: &Budget<'_>) -> Result<Option<String>> {
    let Some(text) = archive.text(CONTENT_TYPES)? else { return Ok(None) };
    let mut xml = Xml::new(&text, CONTENT_TYPES, budget);
    let mut usual = None;
    while let Some(element) = xml.next_open()? {
        let named = element.attribute("PartName").unwrap_or_default();
        if named.trim_start_matches('/').eq_ignore_ascii_case(part) {
            return Ok(element.attribute("ContentType"));
        }
        let ending = element.attribute("Extension").map(|extension| format!(".{}", extension.to_ascii_lowercase()));
        if ending.is_some_and(|ending| part.to_ascii_lowercase().ends_with(&ending)) {
            usual = element.attribute("ContentType");
        }
    }
    Ok(usual)
}

/// The title that the properties of an Office file give.
pub(super) fn title(archive: &Archive<'_>, budget: &Budget<'_>) -> Result<Option<String>> {
    const PROPERTIES: &str = "docProps/core.xml";
    let relations = relations::of("", archive, budget)?;
    let part = relations.first("core-properties").unwrap_or(PROPERTIES);
    let Some(text) = archive.text(part)? else { return Ok(None) };
    Ok(Xml::new(&text, part, budget).text_of_next("title")?.map(|title| unescape(&title)))
}

/// A part that another one leads to by its kind, or the one that has its usual name.
pub(super) fn related(kind: &str, usual: &str, relations: &Relations, archive: &Archive<'_>) -> Option<String> {
    let part = relations.first(kind).unwrap_or(usual);
    archive.has(part).then(|| part.to_owned())
}

/// Reads a file within the file. What can't be read is a warning.
pub(super) fn read_embedded(
    relation: &Relation,
    archive: &Archive<'_>,
    draft: &mut Draft<'_>,
    attached: ReadAttached<'_>,
) -> Result<()> {
    let name = relation.target.rsplit('/').next().unwrap_or_default();
    if relation.is_external {
        let target = &relation.target;
        draft.warn(format!("A part of it is another file, which is not read: `{target}`. Add that one too."));
        return Ok(());
    }
    let Some(content) = archive.read(&relation.target)? else {
        draft.warn(format!("`{name}`, which belongs into it, is missing."));
        return Ok(());
    };
    // Parts of a page need no beginning of one.
    let is_named_so = matches!(extension(name).as_deref(), Some("html" | "htm" | "xhtml"));
    let is_page = !is_named_so
        && content_type(&relation.target, archive, draft.budget)?.is_some_and(|kind| kind.contains("html"));
    let name = if is_page { format!("{name}.html") } else { name.to_owned() };
    attached(&content, &name, draft)
}

/// A remark that somebody made on a document.
pub(super) struct Remark {
    pub author: String,
    pub text: String,
}

impl Remark {
    pub fn written(&self, on: &str) -> String {
        let on = if on.is_empty() { String::new() } else { format!(" on {on}") };
        let by = if self.author.trim().is_empty() { String::new() } else { format!(" by {}", self.author.trim()) };
        format!("Comment{on}{by}: {}", self.text.trim())
    }
}

/// Names by their ids, as lists of authors have them.
pub(super) fn names(
    part: Option<&str>,
    (element, id, name): (&str, &str, &str),
    archive: &Archive<'_>,
    budget: &Budget<'_>,
) -> Result<HashMap<String, String>> {
    let mut found = HashMap::new();
    let Some(part) = part else { return Ok(found) };
    let Some(text) = archive.text(part)? else { return Ok(found) };
    let mut xml = Xml::new(&text, part, budget);
    while let Some(one) = xml.next_open()? {
        if one.name() == element
            && let (Some(id), Some(name)) = (one.attribute(id), one.attribute(name))
        {
            found.insert(id, name);
        }
    }
    Ok(found)
}

/// Whether a line at the top or bottom of pages says no more than which page it is.
pub(super) fn is_page_number(text: &str, has_number: bool) -> bool {
    has_number && text.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count() <= 2
}
