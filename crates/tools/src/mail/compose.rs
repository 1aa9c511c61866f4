use crate::error::{ToolsError, refused};
use crate::handler::Context;
use jiff::tz::{Offset, TimeZone};
use std::fmt::Write as _;

/// Longest line of a message, octets (RFC 5322, 2.1.1).
const LINE: usize = 998;

/// Refuses line breaks, which would begin another header line.
pub(crate) fn header_safe(text: &str) -> Result<(), ToolsError> {
    if text.chars().any(char::is_control) {
        return Err(ToolsError::refused(
            "the subject and the addresses must be single lines without control characters",
        ));
    }
    Ok(())
}

/// Addresses separated by commas or semicolons, with or without a name before `<address>`.
pub(crate) fn recipients(to: &str) -> Result<Vec<String>, ToolsError> {
    header_safe(to)?;
    let list: Vec<String> =
        to.split([',', ';']).map(|one| one.trim().to_owned()).filter(|one| !one.is_empty()).collect();
    let bad = list.iter().find(|one| !is_address(one));
    match bad {
        Some(one) => Err(refused!("`{one}` is no mail address; write it as name@example.org")),
        None if list.is_empty() => Err(ToolsError::refused("`to` names nobody; give a mail address")),
        None => Ok(list),
    }
}

fn is_address(text: &str) -> bool {
    let bare = match (text.find('<'), text.strip_suffix('>')) {
        (Some(at), Some(inner)) => &inner[at + 1..],
        (None, None) => text,
        _ => return false,
    };
    let Some((local, domain)) = bare.rsplit_once('@') else {
        return false;
    };
    let plain = |part: &str| {
        !part.is_empty()
            && part.is_ascii()
            && !part.contains(|c: char| c.is_whitespace() || "<>()[]\\,;:\"@".contains(c))
    };
    plain(local) && plain(domain) && !domain.starts_with('.') && !domain.ends_with('.')
}

/// A display name that is not ASCII is encoded; the address itself is ASCII.
fn phrase(address: &str) -> String {
    match address.rfind('<') {
        Some(at) if !address.is_ascii() => {
            format!("{} {}", encoded(address[..at].trim(), 4), &address[at..])
        }
        _ => address.to_owned(),
    }
}

/// Encoded words (RFC 2047) of at most 75 characters, folded; ASCII stays, folded at spaces.
fn encoded(text: &str, used: usize) -> String {
    if text.is_ascii() && text.len() + used <= LINE {
        return text.to_owned();
    }
    let mut words = Vec::new();
    let mut word = String::new();
    for letter in text.chars() {
        let mut part = String::new();
        let mut buffer = [0; 4];
        for byte in letter.encode_utf8(&mut buffer).bytes() {
            match byte {
                b' ' => part.push('_'),
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => part.push(char::from(byte)),
                other => {
                    let _ = write!(part, "={other:02X}");
                }
            }
        }
        if word.len() + part.len() > 60 {
            words.push(std::mem::take(&mut word));
        }
        word.push_str(&part);
    }
    words.push(word);
    let words: Vec<String> = words.iter().map(|word| format!("=?UTF-8?Q?{word}?=")).collect();
    words.join("\r\n ")
}

fn quoted_printable(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let mut width = 0;
        let last = line.len().saturating_sub(1);
        for (at, byte) in line.bytes().enumerate() {
            let plain = matches!(byte, b'!'..=b'<' | b'>'..=b'~') || (byte == b' ' && at != last);
            let part = if plain { char::from(byte).to_string() } else { format!("={byte:02X}") };
            if width + part.len() > 75 {
                out.push_str("=\r\n");
                width = 0;
            }
            width += part.len();
            out.push_str(&part);
        }
        out.push_str("\r\n");
    }
    out
}

pub(crate) fn date_header(context: &Context) -> Result<String, ToolsError> {
    let broken = |error: jiff::Error| refused!("the clock is wrong: {error}");
    let offset = Offset::from_seconds(context.scope.utc_offset_minutes * 60).map_err(broken)?;
    let now = jiff::Timestamp::from_millisecond(context.scope.now.0).map_err(broken)?;
    jiff::fmt::rfc2822::to_string(&now.to_zoned(TimeZone::fixed(offset))).map_err(broken)
}

pub(super) struct Message<'a> {
    /// `None`: a draft, for a person to send.
    pub from: Option<&'a str>,
    pub to: &'a [String],
    pub cc: &'a [String],
    pub subject: &'a str,
    pub body: &'a str,
    pub id: &'a str,
    pub in_reply_to: Option<&'a str>,
}

impl Message<'_> {
    /// What isn't ASCII is encoded, so that any server takes it; short lines of a draft stay readable.
    pub fn text(&self, date: &str) -> String {
        let list = |all: &[String]| all.iter().map(|one| phrase(one)).collect::<Vec<_>>().join(",\r\n ");
        let mut text = self.from.map(|from| format!("From: {}\r\n", phrase(from))).unwrap_or_default();
        let _ = write!(text, "To: {}\r\n", list(self.to));
        if !self.cc.is_empty() {
            let _ = write!(text, "Cc: {}\r\n", list(self.cc));
        }
        let subject = encoded(self.subject, "Subject: ".len());
        let _ = write!(text, "Subject: {subject}\r\nDate: {date}\r\nMessage-ID: {}\r\n", self.id);
        if let Some(id) = self.in_reply_to {
            let _ = write!(text, "In-Reply-To: {id}\r\nReferences: {id}\r\n");
        }
        let draft = self.from.is_none();
        if draft {
            // Mail programs open a message with this mark for editing, and fill in the sender.
            text.push_str("X-Unsent: 1\r\n");
        }
        text.push_str("MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n");
        // A bare carriage return could end the message early in transit.
        let plain = |line: &str| line.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~'));
        let (encoding, body) = if self.body.lines().all(|line| line.len() <= LINE && (draft || plain(line))) {
            let lines: String = self.body.lines().flat_map(|line| [line, "\r\n"]).collect();
            (if self.body.is_ascii() { "7bit" } else { "8bit" }, lines)
        } else {
            ("quoted-printable", quoted_printable(self.body))
        };
        let _ = write!(text, "Content-Transfer-Encoding: {encoding}\r\n\r\n{body}");
        text
    }
}

pub(super) fn bare_address(address: &str) -> &str {
    let inner = address.rsplit_once('<').map(|(_, rest)| rest.trim_end_matches('>'));
    inner.unwrap_or(address).trim()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{encoded, is_address, quoted_printable, recipients};

    #[test]
    fn addresses() {
        for good in ["a@b.org", "Ann Lee <ann.lee+x@mail.example>", "root@localhost"] {
            assert!(is_address(good), "{good}");
        }
        for bad in ["", "ann", "@b", "a@", "a b@c.d", "a@b>", "<a@b", "a@.b", "a@b\"c"] {
            assert!(!is_address(bad), "{bad}");
        }
        assert_eq!(recipients("a@b.c; d@e.f,").unwrap().len(), 2);
        assert!(recipients("a@b.c\r\nBcc: x@y.z").unwrap_err().to_string().contains("single lines"));
    }

    #[test]
    fn words_and_bodies_are_encoded() {
        assert_eq!(encoded("plain text", 9), "plain text");
        assert_eq!(encoded("Grüße", 9), "=?UTF-8?Q?Gr=C3=BC=C3=9Fe?=");
        assert!(encoded(&"ü".repeat(100), 9).lines().all(|line| line.len() <= 76));
        let long = quoted_printable(&"x=é ".repeat(100));
        assert!(long.lines().all(|line| line.len() <= 76));
        assert!(long.contains("x=3D=C3=A9"));
    }
}
