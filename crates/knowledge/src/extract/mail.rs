//! Mails: their head as a table of a few lines, their text as a mail program shows it, invitations, and what is attached to
//! them. Mailboxes have a page for each mail.

use super::calendar::{entries, is_calendar};
use super::draft::{Draft, one_line};
use super::error::{ExtractError, Result};
use super::html;
use super::mailbox::mails;
use super::text;
use mail_parser::{Address, Message, MessageParser, MessagePart, MimeHeaders as _, PartType};
use std::borrow::Cow;
use steward_sandbox::text::{PartText, ReadableMail, make_readable, part_text, shown_parts};

/// Reads a file that is attached.
pub(super) type ReadAttached<'f> = &'f mut dyn FnMut(&[u8], &str, &mut Draft<'_>) -> Result<()>;

/// What stands above the text of a mail.
pub(super) fn head(lines: &[(&str, String)], draft: &mut Draft<'_>) -> Result<()> {
    let lines: Vec<String> = lines
        .iter()
        .map(|(name, value)| (name, one_line(value)))
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    draft.paragraph(&lines.join("\n"))
}

pub(super) fn read(bytes: &[u8], draft: &mut Draft<'_>, attached: ReadAttached<'_>) -> Result<()> {
    let bytes = with_line_feeds(bytes);
    let mail = make_readable(&bytes);
    warn_if_cut(&mail, draft);
    let message =
        MessageParser::default().parse(&mail.bytes).ok_or_else(|| ExtractError::broken("it is no whole mail"))?;
    draft.title = message.subject().map(str::to_owned);
    draft.page(None)?;
    write(&message, draft, attached, 0)
}

/// Reads the mails of a mailbox, each on a page of its own.
pub(super) fn read_mailbox(bytes: &[u8], draft: &mut Draft<'_>, attached: ReadAttached<'_>) -> Result<()> {
    let bytes = with_line_feeds(bytes);
    let mails = mails(&bytes);
    for (at, mail) in mails.iter().enumerate() {
        let mail = make_readable(mail);
        warn_if_cut(&mail, draft);
        let Some(message) = MessageParser::default().parse(&mail.bytes) else {
            draft.warn(format!("Mail {} of the mailbox is no whole mail, and is not read.", at + 1));
            continue;
        };
        let subject = message.subject().map(one_line).filter(|subject| !subject.is_empty());
        draft.page(Some(subject.unwrap_or_else(|| format!("Mail {}", at + 1))))?;
        write(&message, draft, attached, 0)?;
    }
    // Not the subject of the first one.
    draft.title = (mails.len() > 1).then(|| format!("{} mails", mails.len()));
    Ok(())
}

fn warn_if_cut(mail: &ReadableMail<'_>, draft: &mut Draft<'_>) {
    if mail.is_cut {
        draft
            .warn("A mail ends before its last part does: nothing says where that ends, so some of it may be missing.");
    }
}

/// The text of a part; a doubt about its letters becomes a warning.
fn warned_text<'m>(message: &'m Message<'_>, part: &'m MessagePart<'_>, draft: &mut Draft<'_>) -> Cow<'m, str> {
    let PartText { text, warning } = part_text(message, part);
    if let Some(warning) = warning {
        draft.warn(warning);
    }
    text
}

/// Old programs end lines with carriage returns alone, which a parser doesn't know.
fn with_line_feeds(mail: &[u8]) -> Cow<'_, [u8]> {
    if mail.contains(&b'\n') || !mail.contains(&b'\r') {
        return Cow::Borrowed(mail);
    }
    Cow::Owned(mail.iter().map(|byte| if *byte == b'\r' { b'\n' } else { *byte }).collect())
}

fn write(message: &Message<'_>, draft: &mut Draft<'_>, attached: ReadAttached<'_>, depth: usize) -> Result<()> {
    if depth > draft.budget.limits.files_within {
        return Err(ExtractError::TooDeep(format!(
            "more than {} mails are attached to each other",
            draft.budget.limits.files_within
        )));
    }
    if let Some(subject) = message.subject() {
        draft.heading(1, subject)?;
    }
    let date = message.date().map(mail_parser::DateTime::to_rfc3339).unwrap_or_default();
    head(
        &[
            ("From", addresses(message.from())),
            ("To", addresses(message.to())),
            ("Cc", addresses(message.cc())),
            ("Date", date),
        ],
        draft,
    )?;
    let before = draft.position();
    for part in shown_parts(message) {
        match &part.body {
            PartType::Text(_) => body_text(&warned_text(message, part, draft), draft)?,
            PartType::Html(_) => drop(html::read(&warned_text(message, part, draft), draft)?),
            _ => {}
        }
    }
    let has_text = draft.position() != before;
    let alternatives = alternatives(message);
    let others =
        message.attachments.iter().filter_map(|id| Some((*id, message.parts.get(usize::try_from(*id).ok()?)?)));
    // An invitation is an alternative of the text, and often attached once more.
    let mut invitations = Vec::new();
    for (id, part) in others.clone() {
        if let Some(text) =
            calendar_text(message, part).filter(|_| alternatives.contains(&id) || name_of(part).is_none())
        {
            let found = entries(&text);
            if found.is_empty() {
                draft.warn("An invitation in the mail has no event, and is not read.");
            }
            if !invitations.contains(&found) {
                found.iter().try_for_each(|entry| draft.paragraph(entry))?;
                invitations.push(found);
            }
        }
    }
    for (id, part) in others {
        let calendar = calendar_text(message, part);
        let is_alternative = alternatives.contains(&id);
        if is_signature(part) || calendar.is_some_and(|text| invitations.contains(&entries(&text))) {
            continue;
        }
        let name = name_of(part);
        match &part.body {
            PartType::Message(inner) => {
                draft.page(Some(name.unwrap_or_else(|| "attached mail".to_owned())))?;
                write(inner, draft, attached, depth + 1)?;
            }
            PartType::Binary(content) | PartType::InlineBinary(content) => {
                attached(content, &name.unwrap_or_else(|| "attachment".to_owned()), draft)?;
            }
            // The same text for programs that show it in another way.
            PartType::Text(_) | PartType::Html(_) if name.is_none() && is_alternative && has_text => {}
            PartType::Text(text) | PartType::Html(text) if name.is_some() || !text.trim().is_empty() => {
                let text = warned_text(message, part, draft);
                attached(text.as_bytes(), &name.unwrap_or_else(|| "attachment".to_owned()), draft)?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn name_of(part: &MessagePart<'_>) -> Option<String> {
    part.attachment_name().map(one_line).filter(|name| !name.is_empty())
}

/// Whether a part only proves who sent the mail; there is nothing to read in it.
fn is_signature(part: &MessagePart<'_>) -> bool {
    let kind = part.content_type().and_then(|kind| kind.subtype());
    kind.is_some_and(|kind| {
        ["pkcs7-signature", "x-pkcs7-signature", "pgp-signature"].iter().any(|one| one.eq_ignore_ascii_case(kind))
    })
}

/// The parts of which a mail program shows one.
fn alternatives(message: &Message<'_>) -> Vec<u32> {
    let of = |part: &MessagePart<'_>| match &part.body {
        PartType::Multipart(parts) => {
            let kind = part.content_type().and_then(|kind| kind.subtype().map(str::to_ascii_lowercase));
            if kind.as_deref() == Some("alternative") { parts.clone() } else { Vec::new() }
        }
        _ => Vec::new(),
    };
    message.parts.iter().flat_map(of).collect()
}

/// The text of a part that is a calendar, by its content.
fn calendar_text<'m>(message: &'m Message<'_>, part: &'m MessagePart<'_>) -> Option<Cow<'m, str>> {
    let text = match &part.body {
        PartType::Text(_) => part_text(message, part).text,
        PartType::Binary(content) | PartType::InlineBinary(content) => {
            Cow::Borrowed(std::str::from_utf8(content).ok()?)
        }
        _ => return None,
    };
    is_calendar(&text).then_some(text)
}

/// Paragraphs, on the page that is open.
pub(super) fn body_text(body: &str, draft: &mut Draft<'_>) -> Result<()> {
    for paragraph in text::paragraphs(&body.replace('\x0c', "\n\n")) {
        draft.paragraph(&paragraph)?;
    }
    Ok(())
}

fn addresses(list: Option<&Address<'_>>) -> String {
    let all = list.into_iter().flat_map(Address::iter).map(|one| {
        let address = one.address.as_deref().unwrap_or_default();
        match one.name.as_deref().filter(|name| !name.is_empty()) {
            Some(name) => format!("{name} <{address}>"),
            None => address.to_owned(),
        }
    });
    all.collect::<Vec<_>>().join(", ")
}
