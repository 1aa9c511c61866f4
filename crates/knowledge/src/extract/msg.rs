//! MSG: a mail as Outlook saves it, a compound file with a stream for each property.

use super::code_page::encoding_of_code_page;
use super::compound::Compound;
use super::draft::Draft;
use super::error::Result;
use super::mail::{ReadAttached, body_text, head};
use super::numbers::{u32_at, utf_16};
use super::{html, rtf};
use encoding_rs::Encoding;
use steward_sandbox::text::{decode, decode_declared, html_says_more};

pub(super) const PROPERTIES: &str = "__properties_version1.0";
const SUBJECT: &str = "0037";
const SENDER: &str = "0C1A";
const SENDER_ADDRESS: &str = "5D01";
const TO: &str = "0E04";
const CC: &str = "0E03";
const HEADERS: &str = "007D";
const BODY: &str = "1000";
const BODY_HTML: &str = "1013";
const BODY_RTF: &str = "1009";
const FILE: &str = "3707";
const SHORT_FILE: &str = "3704";
const CONTENT: &str = "3701";

pub(super) fn read(file: &Compound<'_>, draft: &mut Draft<'_>, attached: ReadAttached<'_>) -> Result<()> {
    let subject = text(file, "", SUBJECT)?.unwrap_or_default();
    draft.title = Some(subject.clone());
    draft.page(None)?;
    draft.heading(1, &subject)?;
    let sender = text(file, "", SENDER)?.unwrap_or_default();
    let address = text(file, "", SENDER_ADDRESS)?.filter(|address| *address != sender);
    let from = address.map_or_else(|| sender.clone(), |address| format!("{sender} <{address}>"));
    let headers = text(file, "", HEADERS)?.unwrap_or_default();
    let date = headers.lines().find_map(|line| line.strip_prefix("Date:")).unwrap_or_default().to_owned();
    let of = |property| text(file, "", property).map(Option::unwrap_or_default);
    head(&[("From", from), ("To", of(TO)?), ("Cc", of(CC)?), ("Date", date)], draft)?;
    body(file, draft)?;
    for folder in attachments(file) {
        let name = text(file, &folder, FILE)?.or(text(file, &folder, SHORT_FILE)?);
        let name = name.unwrap_or_else(|| "attachment".to_owned());
        match binary(file, &folder, CONTENT)? {
            Some(content) => attached(&content, &name, draft)?,
            None => draft.warn(format!("`{name}`, which is attached, is not read; save it by itself and add it")),
        }
    }
    Ok(())
}

/// As a mail program shows it: the HTML if it says something that the plain text doesn't.
fn body(file: &Compound<'_>, draft: &mut Draft<'_>) -> Result<()> {
    let plain = text(file, "", BODY)?.filter(|body| !body.trim().is_empty());
    let page = match binary(file, "", BODY_HTML)? {
        Some(bytes) => Some(decoded(file, &bytes)?),
        None => text(file, "", BODY_HTML)?,
    };
    match (plain, page) {
        (None, Some(page)) => html::read(&page, draft).map(drop),
        (Some(plain), Some(page)) if html_says_more(&page, &plain) => html::read(&page, draft).map(drop),
        (Some(plain), _) => body_text(&plain, draft),
        (None, None) => match binary(file, "", BODY_RTF)?.and_then(|packed| rtf::unpacked(&packed)) {
            Some(body) => rtf::read(&body, draft),
            None => Ok(()),
        },
    }
}

/// What the machine wrote that made the file, by the code page that it names, else by the bytes.
fn decoded(file: &Compound<'_>, bytes: &[u8]) -> Result<String> {
    let page = file.read(PROPERTIES)?.as_deref().and_then(code_page);
    if let (Some(encoding), Err(_)) = (page, std::str::from_utf8(bytes)) {
        return Ok(decode_declared(bytes, encoding));
    }
    Ok(decode(bytes.to_vec()).map_or_else(|| String::from_utf8_lossy(bytes).into_owned(), |found| found.text))
}

/// The encoding of texts that aren't in Unicode, from the properties: 32 bytes, then 16 for each.
fn code_page(properties: &[u8]) -> Option<&'static Encoding> {
    const MESSAGE_CODE_PAGE: u32 = 0x3ffd_0003;
    const INTERNET_CODE_PAGE: u32 = 0x3fde_0003;
    let value = |wanted: u32| {
        let entries = properties.get(32..)?.chunks_exact(16);
        entries.filter(|entry| u32_at(entry, 0) == Some(wanted)).find_map(|entry| u32_at(entry, 8))
    };
    encoding_of_code_page(value(MESSAGE_CODE_PAGE).or_else(|| value(INTERNET_CODE_PAGE))?)
}

/// A property's text, in Unicode or in the encoding of the machine that wrote it.
fn text(file: &Compound<'_>, folder: &str, property: &str) -> Result<Option<String>> {
    if let Some(bytes) = file.read(&format!("{folder}__substg1.0_{property}001F"))? {
        return Ok(Some(utf_16(&bytes)));
    }
    file.read(&format!("{folder}__substg1.0_{property}001E"))?.map(|bytes| decoded(file, &bytes)).transpose()
}

fn binary(file: &Compound<'_>, folder: &str, property: &str) -> Result<Option<Vec<u8>>> {
    file.read(&format!("{folder}__substg1.0_{property}0102"))
}

fn attachments(file: &Compound<'_>) -> Vec<String> {
    let mut folders: Vec<String> = file
        .paths()
        .filter_map(|path| path.split_once('/'))
        .filter(|(folder, _)| folder.starts_with("__attach_version1.0_"))
        .map(|(folder, _)| format!("{folder}/"))
        .collect();
    folders.dedup();
    folders
}
