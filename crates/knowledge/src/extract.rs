//! Reads what a file says: its text in the order in which a person reads it, with headings, lists, tables and code told
//! apart, and where each part stands.
//!
//! What a file is, its content decides. Nothing here uses a clock, the network or the disk. Hostile files may still crash
//! the libraries below, so programs call this in a process of its own.

mod calendar;
mod code_page;
mod compound;
mod draft;
mod drawing;
mod epub;
mod error;
mod escapes;
mod format;
mod formula;
mod html;
mod json;
mod limits;
mod list_number;
mod mail;
mod mailbox;
mod markdown;
mod msg;
mod number_format;
mod numbers;
mod office;
mod open_document;
mod pdf;
mod relations;
mod rich_text;
mod rtf;
mod sheets;
mod slides;
mod symbol_font;
mod table;
mod text;
mod tiff;
mod unmarked_heading;
mod word;
mod xls;
mod xml;
mod zip;

pub use error::ExtractError;
pub use limits::ExtractLimits;
pub(crate) use tiff::tiff_pages;

use draft::Draft;
use error::Result;
use format::{Format, TextKind};
use limits::Budget;
use office::OfficeKind;
use steward_core::extracted::Extracted;

/// Reads a file. `file_name` decides only between kinds of plain text; a name that says something else than the content
/// leads to a warning.
pub fn extract(bytes: &[u8], file_name: &str, limits: &ExtractLimits) -> Result<Extracted> {
    if bytes.len() > limits.input_bytes {
        let (size, most) = (bytes.len() >> 20, limits.input_bytes >> 20);
        return Err(ExtractError::TooLarge(format!("it has {size} MB, more than {most}")));
    }
    let budget = Budget::new(limits);
    let mut found = read(bytes, file_name, &budget, 0)?;
    if let Some(extension) = format::named_otherwise(file_name, &found.doc_type) {
        let is = &found.doc_type;
        found.warnings.push(format!("The file's name ends in `.{extension}`, but it is `{is}` and was read as that."));
    }
    Ok(found)
}

/// What the pictures on a page of a PDF, from 1, show together; `None` if there is none that can be read.
pub(crate) fn pdf_picture(bytes: &[u8], page: u32, limits: &ExtractLimits) -> Result<Option<image::GrayImage>> {
    pdf::picture(bytes, page, &Budget::new(limits))
}

fn read(bytes: &[u8], name: &str, budget: &Budget<'_>, within: usize) -> Result<Extracted> {
    if bytes.is_empty() {
        return Err(ExtractError::Empty);
    }
    let mut draft = Draft::new(budget);
    let mut attached = |content: &[u8], name: &str, draft: &mut Draft<'_>| attach(content, name, draft, within);
    let doc_type = match format::sniff(bytes, name, budget)? {
        Format::Pdf => pdf::read(bytes, &mut draft).map(|()| "pdf")?,
        Format::Office(OfficeKind::Word, office) => word::read(&office, &mut draft, &mut attached).map(|()| "docx")?,
        Format::Office(OfficeKind::Sheets, office) => {
            sheets::read(&office, &mut draft, &mut attached).map(|()| "xlsx")?
        }
        Format::Office(OfficeKind::Slides, office) => {
            slides::read(&office, &mut draft, &mut attached).map(|()| "pptx")?
        }
        Format::OpenText(archive) => open_document::read(&archive, false, &mut draft).map(|()| "odt")?,
        Format::OpenSheets(archive) => open_document::read(&archive, true, &mut draft).map(|()| "ods")?,
        Format::OpenSlides(archive) => open_document::read(&archive, false, &mut draft).map(|()| "odp")?,
        Format::Epub(archive) => epub::read(&archive, &mut draft).map(|()| "epub")?,
        Format::OldSheets(file) => xls::read(&file, &mut draft).map(|()| "xls")?,
        Format::Outlook(file) => msg::read(&file, &mut draft, &mut attached).map(|()| "msg")?,
        Format::Mail => mail::read(bytes, &mut draft, &mut attached).map(|()| "eml")?,
        Format::Mailbox => mail::read_mailbox(bytes, &mut draft, &mut attached).map(|()| "mbox")?,
        Format::Rtf => rtf::read(bytes, &mut draft).map(|()| "rtf")?,
        Format::Image(kind) => {
            let pages = if kind == "tiff" { tiff_pages(bytes).len().max(1) } else { 1 };
            for _ in 0..pages {
                draft.page(None)?.is_scan = true;
            }
            kind
        }
        Format::Text(kind, decoded) => {
            if let Some(encoding) = decoded.guessed {
                let western = if encoding == "windows-1252" { "Western European text, " } else { "" };
                draft.warn(format!(
                    "The file doesn't say how its letters are encoded; it was read as {western}{encoding}."
                ));
            }
            read_text(kind, &decoded.text, name, &mut draft)?
        }
    };
    draft.finish(doc_type)
}

fn read_text(kind: TextKind, text: &str, name: &str, draft: &mut Draft<'_>) -> Result<&'static str> {
    match kind {
        TextKind::Code | TextKind::Plain if sheets::xml2003::is_workbook(text) => {
            sheets::xml2003::read(text, draft).map(|()| "xls")
        }
        TextKind::Plain => text::plain(text, draft).map(|()| "text"),
        TextKind::Markdown => markdown::read(text, draft).map(|()| "markdown"),
        TextKind::Html => {
            draft.page(None)?;
            draft.title = html::read(text, draft)?;
            Ok("html")
        }
        TextKind::Json => {
            match json::check(text, draft.budget) {
                Ok(()) => json::read(text, draft)?,
                Err(deep @ ExtractError::TooDeep(_)) => return Err(deep),
                // Its words may be of use all the same.
                Err(error) => {
                    draft.warn(format!("It was read as plain text: {error}."));
                    text::code(text, draft)?;
                }
            }
            Ok("json")
        }
        TextKind::Table => table::separated(text, name, draft).map(|()| "csv"),
        TextKind::Calendar => calendar::read(text, draft).map(|()| "ics"),
        TextKind::OpenText => open_document::read_flat(text, false, draft).map(|()| "odt"),
        TextKind::OpenSheets => open_document::read_flat(text, true, draft).map(|()| "ods"),
        TextKind::OpenSlides => open_document::read_flat(text, false, draft).map(|()| "odp"),
        TextKind::Code => text::code(text, draft).map(|()| "code"),
    }
}

/// Reads a file that is attached to this one. What can't be read is a warning, unless a limit is reached.
fn attach(content: &[u8], name: &str, draft: &mut Draft<'_>, within: usize) -> Result<()> {
    let most = draft.budget.limits.files_within;
    if within >= most {
        return Err(ExtractError::TooDeep(format!("more than {most} files are attached to each other")));
    }
    match read(content, name, draft.budget, within + 1) {
        Ok(inner) => draft.append(name, inner),
        Err(error @ (ExtractError::TooLarge(_) | ExtractError::TooDeep(_))) => Err(error),
        Err(error) => {
            draft.warn(format!("`{name}`, which is attached, is not read: {error}."));
            Ok(())
        }
    }
}
