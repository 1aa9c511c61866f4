//! Mails: their head as a table of a few lines, their text, and what is attached to them.

use super::draft::{Draft, one_line};
use super::error::{ExtractError, Result};
use super::html;
use super::text;
use mail_parser::{Address, Message, MessageParser, MimeHeaders as _, PartType};
use steward_sandbox::text::{part_text, readable_heads};

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
    let mail = readable_heads(bytes);
    let message = MessageParser::default().parse(&*mail).ok_or_else(|| ExtractError::broken("it is no whole mail"))?;
    draft.title = message.subject().map(str::to_owned);
    draft.page(None)?;
    write(&message, draft, attached, 0)
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
    let mut plain = false;
    for part in message.text_bodies() {
        match &part.body {
            PartType::Text(_) => {
                let body = part_text(message, part);
                body_text(&body, draft)?;
                plain |= !body.trim().is_empty();
            }
            PartType::Html(_) if !plain => drop(html::read(&part_text(message, part), draft)?),
            _ => {}
        }
    }
    for part in message.attachments() {
        let name = part.attachment_name().map(one_line).filter(|name| !name.is_empty());
        match &part.body {
            PartType::Message(inner) => {
                draft.page(Some(name.unwrap_or_else(|| "attached mail".to_owned())))?;
                write(inner, draft, attached, depth + 1)?;
            }
            PartType::Binary(content) | PartType::InlineBinary(content) => {
                attached(content, &name.unwrap_or_else(|| "attachment".to_owned()), draft)?;
            }
            PartType::Text(_) | PartType::Html(_) if name.is_some() => {
                attached(part_text(message, part).as_bytes(), &name.unwrap_or_default(), draft)?;
            }
            _ => {}
        }
    }
    Ok(())
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
