//! Mail as people and models read it. Everything in a message, its sender included, is only what the message claims.

use super::imap::Header;
use crate::text::clip_line;
use crate::web::page_text;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use mail_parser::{Address, Message, MessageParser, MimeHeaders as _, PartType};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use steward_sandbox::text::{make_readable, part_text, shown_parts};
use url::Url;

const NAMED: usize = 3;
const LINE_CHARS: usize = 200;

fn one_line(text: &str) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    clip_line(&clean, LINE_CHARS)
}

fn addresses(list: Option<&Address<'_>>) -> String {
    let all = list.into_iter().flat_map(Address::iter).map(|one| {
        let address = one.address.as_deref().unwrap_or_default();
        match one.name.as_deref().filter(|name| !name.is_empty()) {
            Some(name) => format!("{} <{address}>", one_line(name)),
            None => address.to_owned(),
        }
    });
    one_line(&all.collect::<Vec<_>>().join(", "))
}

fn sender(message: &Message<'_>) -> String {
    let first = message.from().and_then(Address::first);
    let address = first.and_then(|one| one.address.as_deref());
    one_line(address.unwrap_or("an unknown sender"))
}

/// Local time, `2026-11-21 09:00`.
fn date(message: &Message<'_>, offset_minutes: i32) -> String {
    let at = message.date().map(mail_parser::DateTime::to_timestamp);
    let at = at.and_then(|seconds| Timestamp::from_second(seconds).ok());
    let shift = SignedDuration::from_mins(offset_minutes.into());
    let local = at.and_then(|at| at.checked_add(shift).ok());
    local.map_or_else(|| "(no date)".to_owned(), |at| at.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M").to_string())
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{} KB", bytes.div_ceil(1024)),
        _ => format!("{} MB", bytes.div_ceil(1 << 20)),
    }
}

/// A list, newest first: text, data, senders.
pub(super) fn list_messages(headers: &[Header], offset_minutes: i32) -> (String, Value, Vec<String>) {
    let mut text = String::new();
    let mut rows = Vec::new();
    let mut senders = BTreeSet::new();
    for header in headers.iter().rev() {
        let head = make_readable(&header.head).bytes;
        let message = &MessageParser::default().parse_headers(&*head).unwrap_or_default();
        let (from, when) = (addresses(message.from()), date(message, offset_minutes));
        let subject = one_line(message.subject().unwrap_or("(no subject)"));
        let mark = if header.seen { "" } else { " (unread)" };
        let _ = writeln!(text, "[{}] {when}  {from}: {subject}{mark}", header.uid);
        senders.insert(sender(message));
        rows.push(json!({
            "uid": header.uid,
            "date": when,
            "from": from,
            "to": addresses(message.to()),
            "subject": subject,
            "message_id": message.message_id(),
            "unread": !header.seen,
            "bytes": header.bytes,
        }));
    }
    (text, Value::Array(rows), senders.into_iter().collect())
}

/// The origin of mail, for approval requests.
pub(super) fn origin(senders: &[String]) -> String {
    let named = senders.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    match senders.len().saturating_sub(NAMED) {
        0 => format!("mail from {named}"),
        more => format!("mail from {named} and {more} more"),
    }
}

/// A message: text, data, sender. Blocking.
pub(super) fn render_message(header: &Header, offset_minutes: i32) -> (String, Value, String) {
    let mail = make_readable(&header.head).bytes;
    let message = &MessageParser::default().parse(&*mail).unwrap_or_default();
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        if !value.is_empty() {
            let _ = writeln!(text, "{name}: {value}");
        }
    };
    let subject = one_line(message.subject().unwrap_or("(no subject)"));
    let when = date(message, offset_minutes);
    line("From", addresses(message.from()));
    line("Reply-To", addresses(message.reply_to()));
    line("To", addresses(message.to()));
    line("Cc", addresses(message.cc()));
    line("Date", when.clone());
    line("Subject", subject.clone());
    let id = message.message_id().map(|id| format!("<{}>", one_line(id)));
    line("Message-ID", id.clone().unwrap_or_default());
    let attachments: Vec<Value> = message.attachments().map(attachment).collect();
    for one in &attachments {
        let bytes = one["bytes"].as_u64().unwrap_or_default();
        let (name, kind) = (one["name"].as_str(), one["type"].as_str());
        let value = format!("{} ({}, {})", name.unwrap_or_default(), kind.unwrap_or_default(), size(bytes));
        line("Attachment, not opened", value);
    }
    let body = body(message);
    let _ = write!(text, "\n{}", if body.is_empty() { "(no text)" } else { &body });
    let kept = u64::try_from(header.head.len()).unwrap_or(u64::MAX);
    if header.bytes > kept {
        let _ = write!(text, "\n[the message has {}; only {} of it were read]", size(header.bytes), size(kept));
    }
    let data = json!({
        "uid": header.uid,
        "from": addresses(message.from()),
        "to": addresses(message.to()),
        "cc": addresses(message.cc()),
        "date": when,
        "subject": subject,
        "message_id": id,
        "attachments": attachments,
        "unread": !header.seen,
        "bytes": header.bytes,
    });
    (text, data, sender(message))
}

fn attachment(part: &mail_parser::MessagePart<'_>) -> Value {
    let kind = part.content_type().map(|kind| match kind.subtype() {
        Some(sub) => format!("{}/{sub}", kind.ctype()),
        None => kind.ctype().to_owned(),
    });
    let name = part.attachment_name().map(one_line).filter(|name| !name.is_empty());
    json!({
        "name": name.unwrap_or_else(|| "(no name)".to_owned()),
        "type": one_line(&kind.unwrap_or_else(|| "unknown".to_owned())).to_lowercase(),
        "bytes": part.len(),
    })
}

/// The readable body as a mail program shows it: the HTML as text if it says more than the plain text.
fn body(message: &Message<'_>) -> String {
    let mut all = Vec::new();
    for part in shown_parts(message) {
        match &part.body {
            PartType::Text(_) => all.push(part_text(message, part).text.replace("\r\n", "\n").trim().to_owned()),
            PartType::Html(_) => all.push(html_text(&part_text(message, part).text)),
            _ => {}
        }
    }
    all.retain(|text| !text.is_empty());
    all.join("\n\n")
}

fn html_text(html: &str) -> String {
    // The base that relative addresses in mail get.
    let Ok(base) = Url::parse("http://mail.invalid/") else {
        return String::new();
    };
    let read = page_text(html, &base);
    let mut text = read.text;
    let links: Vec<_> = read.links.iter().filter(|(_, url)| !url.starts_with(base.as_str())).collect();
    if !links.is_empty() {
        text.push_str("\n\nLinks:");
        for (name, url) in links {
            let _ = write!(text, "\n{}: {url}", one_line(name));
        }
    }
    text
}
