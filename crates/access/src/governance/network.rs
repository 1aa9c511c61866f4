//! E-mail addresses and addresses of machines.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::finding::{Confidence, Finding, PiiKind};
use super::scan::{HIGH, class, is_word};

/// Ends of file names that look like the end of a domain: `logo@2x.png`.
const FILES: [&str; 16] =
    ["png", "jpg", "jpeg", "gif", "svg", "webp", "js", "ts", "css", "html", "json", "py", "rs", "txt", "service", "md"];

/// Bytes of an address of a server up to the end of the name in it.
const LONGEST_LOGIN: usize = 256;

/// The address around the `@` at `at`.
pub fn email(text: &str, at: usize) -> Option<Finding> {
    let bytes = text.as_bytes();
    let local = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'.' | b'_' | b'%' | b'+' | b'-' | b'\'')
            || class(byte) & HIGH != 0
    };
    let mut start = at - bytes[..at].iter().rev().take_while(|byte| local(**byte)).count();
    // A space that is no letter may end in the same byte as one.
    start = text.ceil_char_boundary(start);
    while matches!(bytes[start], b'.' | b'\'' | b'-' | b'%') {
        start += 1;
    }
    let domain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-') || class(byte) & HIGH != 0;
    let mut end = at + 1 + bytes[at + 1..].iter().take_while(|byte| domain(**byte)).count();
    while end > at && matches!(bytes[end - 1], b'.' | b'-') {
        end -= 1;
    }
    let host = text.get(at + 1..end)?;
    let (name, top) = host.rsplit_once('.')?;
    let valid_top = top.len() >= 2 && top.chars().all(char::is_alphabetic) && !FILES.contains(&top);
    let labels = !name.is_empty() && host.split('.').all(|label| !label.is_empty() && !label.starts_with('-'));
    // `git@host.org:repository` is the address of a repository, `//user@host` that of a server.
    let machine = &text[start..at] == "git"
        || text[..start].ends_with("://")
        || text[..start].ends_with(':') && is_login(text, start - 1);
    let remote = bytes.get(end) == Some(&b':') && bytes.get(end + 1).is_some_and(u8::is_ascii_alphanumeric);
    let is_one = start < at && valid_top && labels && !machine && !remote;
    is_one.then(|| Finding::new(PiiKind::Email, start..end, Confidence::Certain))
}

/// Whether what ends at `end` is the name in the address of a server: `https://name`.
fn is_login(text: &str, end: usize) -> bool {
    let near = &text[text.ceil_char_boundary(end.saturating_sub(LONGEST_LOGIN))..end];
    near.rsplit(char::is_whitespace).next().is_some_and(|word| word.contains("://"))
}

/// The address from `at` on; none if the words before it speak of a `version`. Four small numbers are those of a chapter
/// or room unless an address is `announced`.
pub fn ipv4(text: &str, at: usize, version: bool, announced: bool) -> Option<Finding> {
    let bytes = text.as_bytes();
    let end = dotted(text, at)?;
    let address: Ipv4Addr = text[at..end].parse().ok()?;
    let goes_on = is_word(text, end)
        || matches!(bytes.get(end..end + 2), Some([b'-' | b'+' | b'_', next]) if next.is_ascii_alphanumeric());
    let of_nobody = address.is_loopback()
        || address.is_unspecified()
        || address.is_broadcast()
        || address.octets()[0] == 255
        || address.octets()[0] == 0
        || address.octets()[2..] == [0, 0];
    let outline = address.octets().iter().all(|octet| *octet < 24) && !announced;
    let network = bytes.get(end) == Some(&b'/') && address.octets()[3] == 0;
    let is_one = !(goes_on || of_nobody || network || version || outline);
    is_one.then(|| Finding::new(PiiKind::IpAddress, at..end, Confidence::Likely))
}

/// The end of four numbers with dots from `at` on.
pub fn dotted(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let end = at + bytes[at..].iter().take(16).take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    let end = end - usize::from(end > at && bytes[end - 1] == b'.');
    text[at..end].parse::<Ipv4Addr>().is_ok().then_some(end)
}

/// Between eight groups, with one more where the first or the last is left out.
const MAX_COLONS: usize = 8;

/// The address of eight groups around the `:` at `at`.
pub fn ipv6(text: &str, at: usize) -> Option<Finding> {
    let bytes = text.as_bytes();
    // Of a run of colons the first is looked at, and none has three.
    if at > 0 && bytes[at - 1] == b':' || bytes[at + 1..].starts_with(b"::") {
        return None;
    }
    let part = |byte: &&u8| byte.is_ascii_hexdigit() || **byte == b':';
    let start = at - bytes[..at].iter().rev().take(4).take_while(part).count();
    let mut colons = 0;
    let in_address = |byte: &&u8| {
        colons += usize::from(**byte == b':');
        colons <= MAX_COLONS && (part(byte) || **byte == b'.')
    };
    let mut end = at + bytes[at..].iter().take(46).take_while(in_address).count();
    if colons > MAX_COLONS {
        return None;
    }
    while end > at && matches!(bytes[end - 1], b'.') || text[..end].ends_with(':') && !text[..end].ends_with("::") {
        end -= 1;
    }
    let written = text.get(start..end)?;
    let colons = written.matches(':').count();
    if colons < 2
        || is_word(text, end)
        || (start > 0 && is_word(text, start - 1))
        || !written.bytes().any(|byte| byte.is_ascii_digit())
    {
        return None;
    }
    let address: Ipv6Addr = written.parse().ok()?;
    // Times such as `12::30`, and paths of code such as `a1::b2`, have only short groups.
    let short = address.segments()[0] < 0x100 && colons < 4;
    let is_one = !(address.is_loopback() || address.is_unspecified() || short);
    is_one.then(|| Finding::new(PiiKind::IpAddress, start..end, Confidence::Certain))
}
