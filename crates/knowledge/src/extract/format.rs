//! What a file is, by its content. Its name only decides between kinds of plain text.

use super::calendar::is_calendar;
use super::compound::{self, Compound};
use super::error::{ExtractError, Result};
use super::limits::Budget;
use super::msg;
use super::office::{Office, OfficeKind, find_main};
use super::open_document;
use super::text::{extension, is_one_of, with_line_feeds};
use super::zip::Archive;
use steward_sandbox::text::{Decoded, decode};

pub(super) enum Format<'a> {
    Pdf,
    Office(OfficeKind, Office<'a>),
    OpenText(Archive<'a>),
    OpenSheets(Archive<'a>),
    OpenSlides(Archive<'a>),
    Epub(Archive<'a>),
    OldSheets(Compound<'a>),
    Outlook(Compound<'a>),
    Rtf,
    Image(&'static str),
    Mail,
    Mailbox,
    Text(TextKind, Decoded),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextKind {
    Plain,
    Markdown,
    Html,
    Json,
    Table,
    Calendar,
    /// OpenDocument in one part of XML.
    OpenText,
    OpenSheets,
    OpenSlides,
    Code,
}

/// Longest prefix in which programs look for the mark of a PDF.
const PDF_WITHIN: usize = 1024;

const IMAGES: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"GIF87a", "gif"),
    (b"GIF89a", "gif"),
    (b"II*\0", "tiff"),
    (b"MM\0*", "tiff"),
];

/// Formats that are known and can't be read, with what to do.
const OTHERS: &[(&[u8], &str)] = &[
    (b"\x1f\x8b", "it is packed with gzip; unpack it first"),
    (b"BZh", "it is packed with bzip2; unpack it first"),
    (b"\xfd7zXZ\0", "it is packed with xz; unpack it first"),
    (b"7z\xbc\xaf\x27\x1c", "it is a 7z archive; unpack it and add the files in it"),
    (b"Rar!\x1a\x07", "it is a RAR archive; unpack it and add the files in it"),
    (b"SQLite format 3\0", "it is an SQLite database; ask it with the SQL tool"),
    (b"\x7fELF", "it is a program"),
    (b"MZ", "it is a program"),
    (b"%!PS", "it is PostScript; convert it to PDF"),
    (b"AT&TFORM", "it is DjVu; convert it to PDF"),
    (b"\x00\x00\x01\x00", "it is an icon"),
];

pub(super) fn sniff<'a>(bytes: &'a [u8], name: &str, budget: &'a Budget<'a>) -> Result<Format<'a>> {
    let begins = |mark: &[u8]| bytes.starts_with(mark);
    if is_pdf(bytes) {
        return Ok(Format::Pdf);
    }
    if begins(b"PK\x03\x04") || begins(b"PK\x05\x06") {
        return archive(bytes, budget);
    }
    if begins(&compound::MAGIC) {
        return compound_file(bytes, budget);
    }
    if begins(b"{\\rtf") {
        return Ok(Format::Rtf);
    }
    if let Some((_, kind)) = IMAGES.iter().find(|(mark, _)| begins(mark)) {
        return Ok(Format::Image(kind));
    }
    if begins(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return Ok(Format::Image("webp"));
    }
    if begins(b"BM") && bytes.get(6..10) == Some(&[0, 0, 0, 0]) {
        return Ok(Format::Image("bmp"));
    }
    let other = OTHERS.iter().find(|(mark, _)| begins(mark)).map(|(_, what)| *what);
    let is_binary = |head: &[u8]| head.iter().any(|byte| *byte < b'\t' || *byte >= 0x80);
    if let Some(what) = other.filter(|_| !begins(b"MZ") && !begins(b"BZh") || is_binary(&bytes[..bytes.len().min(64)]))
    {
        return Err(ExtractError::UnknownFormat(what.to_owned()));
    }
    let mut decoded = decode(bytes.to_vec())
        .ok_or_else(|| ExtractError::UnknownFormat("it is neither text nor a document of a known kind".to_owned()))?;
    if decoded.text.trim().is_empty() {
        return Err(ExtractError::Empty);
    }
    decoded.text = with_line_feeds(decoded.text);
    if is_mailbox(&decoded.text) {
        return Ok(Format::Mailbox);
    }
    if is_mail(&decoded.text) {
        return Ok(Format::Mail);
    }
    let kind = match open_document::kind_of_flat(&decoded.text) {
        None => text_kind(&decoded.text, name),
        Some("text") => TextKind::OpenText,
        Some("spreadsheet") => TextKind::OpenSheets,
        Some("presentation") => TextKind::OpenSlides,
        Some(other) => return Err(ExtractError::UnknownFormat(open_document_of(other))),
    };
    Ok(Format::Text(kind, decoded))
}

fn open_document_of(kind: &str) -> String {
    format!("it is an OpenDocument file of a kind that isn't read (`{kind}`); save it as PDF")
}

/// Something may stand before it; a text about PDF has no end like one.
fn is_pdf(bytes: &[u8]) -> bool {
    let begin = &bytes[..bytes.len().min(PDF_WITHIN)];
    let end = &bytes[bytes.len().saturating_sub(2 * PDF_WITHIN)..];
    let has = |part: &[u8], mark: &[u8]| part.windows(mark.len()).any(|window| window == mark);
    bytes.starts_with(b"%PDF-") || has(begin, b"%PDF-") && (has(end, b"startxref") || has(end, b"%%EOF"))
}

fn archive<'a>(bytes: &'a [u8], budget: &'a Budget<'a>) -> Result<Format<'a>> {
    let archive = Archive::open(bytes, budget)?;
    if let Some((kind, main)) = find_main(&archive, budget)? {
        return Ok(Format::Office(kind, Office { archive, main }));
    }
    let kind = archive.read("mimetype")?.unwrap_or_default();
    let kind = String::from_utf8_lossy(&kind).trim().to_owned();
    let open = kind.strip_prefix("application/vnd.oasis.opendocument.");
    Ok(match open.unwrap_or(&kind).trim_end_matches("-template") {
        "text" => Format::OpenText(archive),
        "spreadsheet" => Format::OpenSheets(archive),
        "presentation" => Format::OpenSlides(archive),
        "application/epub+zip" => Format::Epub(archive),
        _ if archive.has("META-INF/container.xml") => Format::Epub(archive),
        _ => {
            let what = match () {
                () if open.is_some() => &open_document_of(open.unwrap_or_default()),
                () if archive.has("xl/workbook.bin") => "it is a binary workbook (XLSB); save it as XLSX",
                () if archive.names().next().is_none() => return Err(ExtractError::Empty),
                () => "it is a ZIP archive; unpack it and add the files in it",
            };
            return Err(ExtractError::UnknownFormat(what.to_owned()));
        }
    })
}

fn compound_file<'a>(bytes: &'a [u8], budget: &'a Budget<'a>) -> Result<Format<'a>> {
    let file = Compound::open(bytes, budget)?;
    if file.has("EncryptedPackage") {
        return Err(ExtractError::PasswordProtected);
    }
    if file.has(msg::PROPERTIES) {
        return Ok(Format::Outlook(file));
    }
    if file.has("Workbook") || file.has("Book") {
        return Ok(Format::OldSheets(file));
    }
    let what = match () {
        () if file.has("WordDocument") => "it is a Word document from before 2007; save it as DOCX",
        () if file.has("PowerPoint Document") => "it is a presentation from before 2007; save it as PPTX",
        () => "it is a compound file of an unknown program",
    };
    Err(ExtractError::UnknownFormat(what.to_owned()))
}

/// Fields of mails that begin one; two of them make a mail.
const MAIL_FIELDS: &str = "from to cc subject date message-id received return-path mime-version delivered-to \
    content-type reply-to dkim-signature x-mailer";

/// Whether it begins with the line that stands before each mail of a mailbox, and a mail.
fn is_mailbox(text: &str) -> bool {
    let begin = text.trim_start_matches(['\u{feff}', '\n']);
    begin.starts_with("From ") && begin.split_once('\n').is_some_and(|(_, mail)| is_mail(mail))
}

fn is_mail(text: &str) -> bool {
    let mut found = 0;
    for line in text.lines().take(100) {
        if line.starts_with([' ', '\t']) && found > 0 {
            continue;
        }
        let Some((field, _)) = line.split_once(':') else { break };
        if field.is_empty() || !field.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            break;
        }
        found += usize::from(is_one_of(&field.to_ascii_lowercase(), MAIL_FIELDS));
    }
    let lower = text.get(..text.floor_char_boundary(64 << 10)).unwrap_or_default().to_ascii_lowercase();
    let has = |field: &str| lower.starts_with(field) || lower.contains(&format!("\n{field}"));
    // A web page with its pictures is written like a mail.
    let is_page = has("mime-version:") && lower.contains("multipart/related");
    found >= 2
        && (is_page || has("from:") || has("received:"))
        && (has("date:") || has("message-id:") || has("mime-version:") || has("subject:"))
}

fn text_kind(text: &str, name: &str) -> TextKind {
    let extension = extension(name).unwrap_or_default();
    let begin = text.trim_start();
    let head = begin.get(..begin.floor_char_boundary(2048)).unwrap_or_default().to_ascii_lowercase();
    let is_page = ["<!doctype html", "<html", "<head", "<body"].iter().any(|tag| head.starts_with(tag))
        || head.starts_with('<') && head.contains("<html");
    match extension.as_str() {
        _ if is_calendar(text) => TextKind::Calendar,
        _ if is_page => TextKind::Html,
        "html" | "htm" | "xhtml" | "shtml" if begin.starts_with('<') => TextKind::Html,
        "md" | "markdown" | "mdown" | "mkd" | "mdx" => TextKind::Markdown,
        "csv" | "psv" | "tsv" | "tab" => TextKind::Table,
        "json" | "jsonl" | "ndjson" | "geojson" | "ipynb" => TextKind::Json,
        extension if is_one_of(extension, CODE) => TextKind::Code,
        "" if begin.starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(begin).is_ok() => {
            TextKind::Json
        }
        _ if begin.starts_with("#!") || begin.starts_with("<?xml") || begin.starts_with("<?php") => TextKind::Code,
        _ => TextKind::Plain,
    }
}

/// Extensions of programs and settings.
const CODE: &str = "asm bash bat c cc cfg clj cmake conf cpp cs css cxx dart diff erl ex exs f90 fish go gradle \
    graphql groovy h hcl hpp hs ini java jl js jsx kt kts less lisp lua m mk ml mli mm nix patch php pl pm properties \
    proto ps1 py pyi r rb rs s sass scala scm scss sh sql svelte swift tcl tf toml ts tsx v vb vhdl vim vue xml xsd \
    xsl yaml yml zig zsh";

/// What the name says that the file is, as far as it is at odds with what it is: for a warning.
pub(super) fn named_otherwise(name: &str, doc_type: &str) -> Option<String> {
    const KNOWN: &[&str] = &[
        "pdf", "docx", "xlsx", "pptx", "odt", "ods", "odp", "epub", "xls", "msg", "rtf", "eml", "mbox", "ics", "png",
        "jpeg", "gif", "tiff", "webp", "bmp",
    ];
    let extension = extension(name)?;
    let said = match extension.as_str() {
        "jpg" => "jpeg",
        "tif" => "tiff",
        "htm" | "xhtml" => "html",
        "docm" | "dotx" => "docx",
        "xlsm" | "xltx" => "xlsx",
        "pptm" | "ppsx" | "potx" => "pptx",
        "ott" | "fodt" => "odt",
        "ots" | "fods" => "ods",
        "otp" | "fodp" => "odp",
        "mbx" => "mbox",
        "ical" | "ifb" | "vcs" => "ics",
        other => other,
    };
    let speaks =
        KNOWN.contains(&said) || KNOWN.contains(&doc_type) && ["txt", "md", "html", "csv", "json"].contains(&said);
    (speaks && said != doc_type).then_some(extension)
}
