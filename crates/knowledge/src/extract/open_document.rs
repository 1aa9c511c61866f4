//! ODT, ODS and ODP, which have the same elements in one part. Headers and footers are in another, charts in parts of
//! their own; FODT, FODS and FODP have all in one. Numbers of headings and lists, which files don't hold, are computed.

mod cells;
mod controls;
mod lists;
mod reader;
mod styles;

use super::draft::Draft;
use super::error::{ExtractError, Result};
use super::office::is_page_number;
use super::sheets::{warn_of_columns, warn_of_formulas};
use super::xml::{Node, Xml};
use super::zip::Archive;
use lists::Lists;
use reader::{CONTENT, Reader};
use std::collections::HashSet;
use styles::TextStyles;

const STYLES: &str = "styles.xml";
const META: &str = "meta.xml";
const MANIFEST: &str = "META-INF/manifest.xml";
/// Within so many bytes a file of one part says what it is.
const HEAD: usize = 16 << 10;

pub(super) fn read(archive: &Archive<'_>, is_workbook: bool, draft: &mut Draft<'_>) -> Result<()> {
    if archive.text(MANIFEST)?.is_some_and(|manifest| manifest.contains("encryption-data")) {
        return Err(ExtractError::PasswordProtected);
    }
    let (content, styles, meta) = (archive.need(CONTENT)?, archive.text(STYLES)?, archive.text(META)?);
    let parts = Parts { content: &content, styles: styles.as_deref(), meta: meta.as_deref() };
    parts.read(Some(archive), is_workbook, draft)
}

/// Reads a file that has all parts in one.
pub(super) fn read_flat(text: &str, is_workbook: bool, draft: &mut Draft<'_>) -> Result<()> {
    let parts = Parts { content: text, styles: Some(text), meta: Some(text) };
    parts.read(None, is_workbook, draft)
}

/// What such a file is: `text`, `spreadsheet`, …; `None` if it is another one.
pub(super) fn kind_of_flat(text: &str) -> Option<&str> {
    const TYPE: &str = "application/vnd.oasis.opendocument.";
    let head = &text[..text.floor_char_boundary(HEAD)];
    let root = &head[head.find(":document")?..];
    let begin = root.find(TYPE).filter(|_| head.trim_start_matches('\u{feff}').trim_start().starts_with('<'))?;
    let end = root.find('>')?;
    let kind = root[begin + TYPE.len()..].split(['"', '\'']).next().filter(|_| begin < end)?;
    Some(kind.trim_end_matches("-template"))
}

struct Parts<'t> {
    content: &'t str,
    styles: Option<&'t str>,
    meta: Option<&'t str>,
}

impl Parts<'_> {
    fn read(&self, archive: Option<&Archive<'_>>, is_workbook: bool, draft: &mut Draft<'_>) -> Result<()> {
        if let Some(text) = self.meta {
            draft.title = read_title(text, draft)?;
        }
        let (mut lists, mut text_styles) = (Lists::default(), TextStyles::default());
        for (text, part) in [(self.styles, STYLES), (Some(self.content), CONTENT)] {
            if let Some(text) = text {
                lists.read(text, part, draft.budget)?;
                text_styles.read(text, part, draft.budget)?;
            }
        }
        let has_pages = is_workbook || self.content.contains("presentation>");
        let (mut headers, mut footers) = match self.styles {
            Some(text) => read_running(text, has_pages && !is_workbook, draft)?,
            None => (Vec::new(), Vec::new()),
        };
        // A sheet or slide begins a page of its own.
        let mut reader = Reader::new(archive, is_workbook, lists, text_styles);
        if !has_pages {
            headers.drain(..).try_for_each(|line| draft.paragraph(&line))?;
        }
        let (_, first) = draft.position();
        reader.read_part(self.content, CONTENT, draft)?;
        if !has_pages {
            draft.take_title(first);
        }
        warn_of_formulas(reader.uncounted, draft);
        warn_of_columns(reader.left_out, draft);
        headers.append(&mut footers);
        headers.append(&mut reader.running);
        headers.iter().try_for_each(|line| draft.paragraph(line))
    }
}

fn read_title(text: &str, draft: &Draft<'_>) -> Result<Option<String>> {
    let mut xml = Xml::new(text, META, draft.budget);
    while let Some(element) = xml.next_open()? {
        match element.name() {
            "title" => return xml.inner_text().map(Some),
            "body" => break,
            _ => {}
        }
    }
    Ok(None)
}

/// The lines at the top and at the bottom of pages, each once; of slides also what their masters show.
fn read_running(text: &str, of_slides: bool, draft: &Draft<'_>) -> Result<(Vec<String>, Vec<String>)> {
    let mut xml = Xml::new(text, STYLES, draft.budget);
    let (mut headers, mut footers, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    // How deep the element is that is read, and whether it is a header.
    let (mut depth, mut within, mut line, mut has_number) = (0_usize, None, String::new(), false);
    let mut in_master = false;
    while let Some(node) = xml.next()? {
        match node {
            Node::Open(element) => {
                depth += 1;
                match element.name() {
                    // Of a file that has all parts in one.
                    "body" => break,
                    "master-page" => in_master = of_slides,
                    // Of pages with notes, and of printed ones.
                    "notes" | "handout-master" if of_slides => {
                        xml.skip()?;
                        depth -= 1;
                    }
                    "frame" | "custom-shape" | "rect" | "ellipse" if in_master && within.is_none() => {
                        let class = xml.attribute_of(&element, "presentation", "class").unwrap_or_default();
                        // Others are places for what slides say.
                        if matches!(class.as_str(), "" | "header" | "footer" | "date-time") {
                            within = Some((depth, false));
                        }
                    }
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
