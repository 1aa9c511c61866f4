//! Mails that a parser doesn't read as they are: encoded words that were cut within a letter or name a wrong encoding, heads
//! with raw letters, and parts that nothing closes.

use super::contradiction::contradicting;
use super::decode;
use base64::Engine as _;
use base64::alphabet::STANDARD as ALPHABET;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use mail_parser::decoders::charsets::map::charset_decoder;
use mail_parser::decoders::quoted_printable::quoted_printable_decode;
use std::borrow::Cow;

/// Parts within parts whose boundaries are remembered.
const BOUNDARIES: usize = 100;

/// A mail as a parser can read it.
#[derive(Debug)]
pub struct ReadableMail<'m> {
    pub bytes: Cow<'m, [u8]>,
    /// It ends before its last part does.
    pub is_cut: bool,
}

/// What parts the parts of a mail.
struct Boundary {
    name: Vec<u8>,
    /// Begun by a line, and not closed.
    is_open: bool,
}

impl Boundary {
    fn closing_line(&self) -> Vec<u8> {
        [b"--", self.name.as_slice(), b"--\r\n"].concat()
    }
}

/// The mail with heads that a parser reads letter by letter: neighbouring encoded words and pieces of a parameter are joined
/// before anybody decodes them, and raw letters are in UTF-8. Parts that nothing closes are closed. Bodies stay as they are.
pub fn make_readable(mail: &[u8]) -> ReadableMail<'_> {
    let mut out: Option<Vec<u8>> = None;
    let mut boundaries: Vec<Boundary> = Vec::new();
    let (mut in_head, mut holds_mail, mut at) = (true, false, 0);
    while at < mail.len() {
        let end = if in_head { end_of_field(mail, at) } else { end_of_line(mail, at) };
        let line = &mail[at..end];
        let mut written = Cow::Borrowed(line);
        if in_head && line.trim_ascii().is_empty() {
            in_head = std::mem::take(&mut holds_mail);
        } else if in_head {
            let lower = line.to_ascii_lowercase();
            if lower.starts_with(b"content-type:") {
                holds_mail = contains(&lower, b"message/rfc822");
                let name = boundary(line).filter(|_| boundaries.len() < BOUNDARIES);
                boundaries.extend(name.map(|name| Boundary { name, is_open: false }));
            }
            written = readable_field(line);
        } else if let Some(rest) = line.strip_prefix(b"--") {
            let rest = rest.trim_ascii_end();
            let closed = rest.strip_suffix(b"--");
            let found =
                boundaries.iter().rposition(|one| rest == one.name || closed.is_some_and(|closed| closed == one.name));
            if let Some(found) = found {
                in_head = rest == boundaries[found].name;
                let closing = closing_lines(&boundaries[found + 1..]);
                if !closing.is_empty() {
                    written = Cow::Owned([&closing, line].concat());
                }
                boundaries.truncate(if in_head { found + 1 } else { found });
                boundaries.iter_mut().skip(found).for_each(|one| one.is_open = true);
            }
        }
        if let (Cow::Owned(_), None) = (&written, &out) {
            out = Some(mail[..at].to_vec());
        }
        if let Some(out) = &mut out {
            out.extend_from_slice(&written);
        }
        at = end;
    }
    let closing = closing_lines(&boundaries);
    if !closing.is_empty() {
        let out = out.get_or_insert_with(|| mail.to_vec());
        out.extend_from_slice(b"\r\n\r\n");
        out.extend_from_slice(&closing);
    }
    ReadableMail { bytes: out.map_or(Cow::Borrowed(mail), Cow::Owned), is_cut: !closing.is_empty() }
}

fn closing_lines(boundaries: &[Boundary]) -> Vec<u8> {
    boundaries.iter().rev().filter(|one| one.is_open).flat_map(Boundary::closing_line).collect()
}

fn end_of_line(mail: &[u8], at: usize) -> usize {
    memchr::memchr(b'\n', &mail[at..]).map_or(mail.len(), |found| at + found + 1)
}

/// With the lines that go on with it, which begin with white space.
fn end_of_field(mail: &[u8], at: usize) -> usize {
    let mut end = end_of_line(mail, at);
    if mail[at..end].trim_ascii().is_empty() {
        return end;
    }
    while matches!(mail.get(end), Some(b' ' | b'\t')) {
        let next = end_of_line(mail, end);
        if mail[end..next].trim_ascii().is_empty() {
            break;
        }
        end = next;
    }
    end
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(text, part).is_some()
}

fn boundary(field: &[u8]) -> Option<Vec<u8>> {
    let lower = field.to_ascii_lowercase();
    let rest = &field[memchr::memmem::find(&lower, b"boundary=")? + 9..];
    let value = match rest.strip_prefix(b"\"") {
        Some(quoted) => quoted.split(|byte| *byte == b'"').next()?,
        None => rest.split(|byte| byte.is_ascii_whitespace() || *byte == b';').next()?,
    };
    (!value.is_empty()).then(|| value.to_vec())
}

fn readable_field(field: &[u8]) -> Cow<'_, [u8]> {
    let is_raw = std::str::from_utf8(field).is_err() || field.contains(&0x1b);
    let letters = is_raw.then(|| decode(field.to_vec())).flatten().map(|found| found.text.into_bytes());
    let letters = letters.map_or(Cow::Borrowed(field), Cow::Owned);
    [join_pieces, correct_parameters, join_words]
        .iter()
        .fold(letters, |field, step| step(&field).map_or(field, Cow::Owned))
}

/// An encoded word as RFC 2047 has it.
#[derive(Clone, Copy)]
struct EncodedWord<'a> {
    charset: &'a [u8],
    is_base64: bool,
    content: &'a [u8],
    end: usize,
}

impl<'a> EncodedWord<'a> {
    /// One that begins at `at`.
    fn read(field: &'a [u8], at: usize) -> Option<Self> {
        let rest = field.get(at..)?.strip_prefix(b"=?")?;
        let mut parts = rest.splitn(3, |byte| *byte == b'?');
        let (charset, encoding, rest) = (parts.next()?, parts.next()?, parts.next()?);
        let length = memchr::memmem::find(rest, b"?=")?;
        let is_base64 = encoding.eq_ignore_ascii_case(b"b");
        let known = is_base64 || encoding.eq_ignore_ascii_case(b"q");
        if charset.is_empty() || charset.iter().any(u8::is_ascii_whitespace) || !known {
            return None;
        }
        let end = field.len() - rest.len() + length + 2;
        Some(Self { charset, is_base64, content: &rest[..length], end })
    }

    /// Its bytes, whatever letters they are.
    fn bytes(self) -> Option<Vec<u8>> {
        if self.is_base64 {
            return base64_bytes(self.content);
        }
        let spaced: Vec<u8> = self.content.iter().map(|byte| if *byte == b'_' { b' ' } else { *byte }).collect();
        quoted_printable_decode(&spaced)
    }
}

fn base64_bytes(content: &[u8]) -> Option<Vec<u8>> {
    let lenient = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    let content: Vec<u8> = content.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    GeneralPurpose::new(&ALPHABET, lenient).decode(content).ok()
}

/// Words of one encoding that stand beside each other, as one, and in UTF-8 if they are not in the encoding that they name;
/// `None` if there are none.
fn join_words(field: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(found) = memchr::memmem::find(&field[at..], b"=?") {
        let start = at + found;
        let words = neighbours(field, start);
        let Some(last) = words.last() else {
            at = start + 2;
            continue;
        };
        at = last.end;
        let Some(bytes) = joined_bytes(&words) else { continue };
        let label = last.charset.split(|byte| *byte == b'*').next().unwrap_or_default();
        let corrected = in_other_encoding(&bytes, label);
        if words.len() > 1 || corrected.is_some() {
            let charset = if corrected.is_some() { b"utf-8".as_slice() } else { last.charset };
            let bytes = corrected.map_or(bytes, String::into_bytes);
            out.extend_from_slice(&field[from..start]);
            out.extend_from_slice(b"=?");
            out.extend_from_slice(charset);
            out.extend_from_slice(b"?B?");
            out.extend_from_slice(STANDARD.encode(bytes).as_bytes());
            out.extend_from_slice(b"?=");
            from = last.end;
        }
    }
    (from > 0).then(|| {
        out.extend_from_slice(&field[from..]);
        out
    })
}

/// The text if the bytes contradict the encoding that they are said to be in.
fn in_other_encoding(bytes: &[u8], label: &[u8]) -> Option<String> {
    let read = charset_decoder(label).map(|decode| decode(bytes));
    contradicting(bytes, std::str::from_utf8(label).ok()?, read.as_deref()).map(|found| found.text)
}

fn neighbours(field: &[u8], start: usize) -> Vec<EncodedWord<'_>> {
    let mut words: Vec<EncodedWord<'_>> = Vec::new();
    let mut at = start;
    while let Some(word) = EncodedWord::read(field, at) {
        if words.first().is_some_and(|first| !first.charset.eq_ignore_ascii_case(word.charset)) {
            break;
        }
        words.push(word);
        at = word.end + field[word.end..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    }
    words
}

fn joined_bytes(words: &[EncodedWord<'_>]) -> Option<Vec<u8>> {
    // Some programs cut the letters of base64 itself, so that a word by itself means nothing.
    let is_cut = |word: &EncodedWord<'_>| !word.content.len().is_multiple_of(4) && !word.content.ends_with(b"=");
    if words.iter().all(|word| word.is_base64) && words[..words.len() - 1].iter().any(is_cut) {
        return base64_bytes(&words.iter().flat_map(|word| word.content).copied().collect::<Vec<u8>>());
    }
    words.iter().map(|word| word.bytes()).collect::<Option<Vec<_>>>().map(|all| all.concat())
}

/// `name*0*=utf-8''R%C3; name*1*=%BC` as `name*=utf-8''R%C3%BC` (RFC 2231); `None` if there are no such pieces.
fn join_pieces(field: &[u8]) -> Option<Vec<u8>> {
    let start = memchr::memmem::find(field, b"*0*=")?;
    let name_at = field[..start].iter().rposition(|byte| byte.is_ascii_whitespace() || *byte == b';')? + 1;
    let name = &field[name_at..start];
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || *byte == b';';
    let value = |at: usize| field[at..].split(is_end).next().unwrap_or_default();
    let mut whole = value(start + 4).to_vec();
    let mut end = start + 4 + whole.len();
    for number in 1_u32.. {
        let next = end + field[end..].iter().take_while(|byte| is_end(byte)).count();
        let mark = [name, format!("*{number}*=").as_bytes()].concat();
        let Some(rest) = field.get(next..).filter(|rest| rest.starts_with(&mark)) else { break };
        let piece = value(field.len() - rest.len() + mark.len());
        whole.extend_from_slice(piece);
        end = next + mark.len() + piece.len();
    }
    Some([&field[..name_at], name, b"*=", &whole, &field[end..]].concat())
}

/// Parameters such as `name*=us-ascii''R%C3%BC` (RFC 2231) in UTF-8 if they are not in the encoding that they name; `None` if
/// there are none.
fn correct_parameters(field: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(found) = memchr::memmem::find(&field[at..], b"*=") {
        let start = at + found + 2;
        let length = field[start..].iter().take_while(|byte| !byte.is_ascii_whitespace() && **byte != b';').count();
        at = start + length;
        let mut parts = field[start..at].splitn(3, |byte| *byte == b'\'');
        let (Some(label), Some(_), Some(content)) = (parts.next(), parts.next(), parts.next()) else { continue };
        let Some(text) = in_other_encoding(&without_percents(content), label) else { continue };
        out.extend_from_slice(&field[from..start]);
        out.extend_from_slice(b"utf-8''");
        out.extend(text.bytes().flat_map(|byte| format!("%{byte:02X}").into_bytes()));
        from = at;
    }
    (from > 0).then(|| {
        out.extend_from_slice(&field[from..]);
        out
    })
}

fn without_percents(content: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(content.len());
    let mut rest = content;
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).filter(|_| *first == b'%').and_then(|code| std::str::from_utf8(code).ok());
        if let Some(byte) = code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            out.push(byte);
            rest = &after[2..];
        } else {
            out.push(*first);
            rest = after;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::make_readable;
    use crate::text::part_text;
    use mail_parser::{MessageParser, MimeHeaders as _};

    fn subject(field: &[u8]) -> String {
        let mail = [b"From: a@example.org\r\nSubject: ", field, b"\r\n\r\nText\r\n"].concat();
        let mail = make_readable(&mail).bytes.into_owned();
        MessageParser::default().parse(&mail).unwrap().subject().unwrap_or_default().to_owned()
    }

    fn body(mail: &[u8]) -> String {
        let mail = make_readable(mail).bytes.into_owned();
        let message = MessageParser::default().parse(&mail).unwrap();
        let part = message.text_bodies().next().unwrap();
        part_text(&message, part).text.trim_end().to_owned()
    }

    #[test]
    fn encoded_words_are_joined_before_they_are_decoded() {
        for (field, expect) in [
            (&b"=?utf-8?B?UsM=?=\r\n =?utf-8?B?vGNrZ2FiZQ==?="[..], "Rückgabe"),
            (b"=?utf-8?Q?R=C3?= =?UTF-8?q?=BCck_gabe?=", "Rück gabe"),
            (b"=?utf-8?Q?R=C3?=\r\n\t=?utf-8?B?vA==?= end", "Rü end"),
            // The letters of base64 are cut.
            (b"=?utf-8?B?UsO8Y?=\r\n =?utf-8?B?2s=?=", "Rück"),
            (b"=?ISO-2022-JP?B?GyRCMnE=?=\r\n =?ISO-2022-JP?B?NUQbKEI=?=", "会議"),
            (b"=?utf-8?Q?one?= and =?utf-8?Q?two?=", "one and two"),
            (b"=?utf-8?Q?R=C3=BC?= =?iso-8859-1?Q?=FC?=", "Rüü"),
            (b"is a =? b and =?utf-8?X?c?=", "is a =? b and =?utf-8?X?c?="),
            // Letters that nobody encoded.
            (b"Gr\xfc\xdfe aus K\xf6ln", "Grüße aus Köln"),
            (b"\x1b$B2q5D\x1b(B", "会議"),
            ("Grüße".as_bytes(), "Grüße"),
            // The encoding is another one than they name.
            (b"=?us-ascii?Q?Gr=C3=BC=C3=9Fe?=", "Grüße"),
            (b"=?iso-8859-1?B?R3LDvMOfZQ==?= =?us-ascii?Q?_K=F6ln?=", "Grüße Köln"),
            (b"=?us-ascii?B?z9DMwdTJ1MU=?= now", "оплатите now"),
            (b"=?unknown-8bit?Q?Gr=FC=DFe_aus_K=F6ln?=", "Grüße aus Köln"),
            (b"=?utf-8?B?GyRCMnE1RBsoQg==?=", "会議"),
        ] {
            assert_eq!(subject(field), expect, "{}", String::from_utf8_lossy(field));
        }
    }

    #[test]
    fn bodies_without_an_encoding_are_read() {
        let check = |head: &str, text: &[u8], expect: &str| {
            let mail = [b"From: a@example.org\r\nSubject: x\r\n", head.as_bytes(), b"\r\n", text].concat();
            assert_eq!(body(&mail), expect, "{head}");
        };
        check("", b"\x1b$B2q5D\x1b(B at 9\r\n", "会議 at 9");
        check("Content-Type: text/plain\r\n", b"\x1b$)C\x0eH8@G\x0f\r\n", "회의");
        check("Content-Type: text/plain; charset=us-ascii\r\n", b"\x1b$B2q5D\x1b(B\r\n", "会議");
        check("", b"Gr\xfc\xdfe aus K\xf6ln, die Stra\xdfe ist na\xdf\r\n", "Grüße aus Köln, die Straße ist naß");
        let quoted = "Content-Transfer-Encoding: quoted-printable\r\n";
        check(quoted, b"Gr=FC=DFe aus K=F6ln, die Stra=DFe ist na=DF\r\n", "Grüße aus Köln, die Straße ist naß");
        check("Content-Type: text/plain; charset=utf-8\r\n", "Grüße".as_bytes(), "Grüße");
        check("Content-Type: text/plain; charset=iso-8859-1\r\n", b"Preis: 5 \xfc\r\n", "Preis: 5 ü");
        check(
            "Content-Type: text/plain; format=Flowed; delsp=yes\r\n",
            b"Sau \r\nerkraut \r\n\r\n4\r\n",
            "Sauerkraut\n\n4",
        );
    }

    #[test]
    fn names_of_attached_files_and_heads_of_parts_are_joined_too() {
        let mail = b"From: a@example.org\r\nContent-Type: multipart/mixed; boundary=\"B 1\"\r\n\r\nPreis: 5 \xfc\r\n--B 1\r\n\
            Content-Type: text/plain; charset=iso-8859-1\r\n\r\nPreis: =?utf-8?Q?=C3?= =?utf-8?Q?=BC?= \xfc\r\n--B 1\r\n\
            Content-Type: application/pdf\r\nContent-Disposition: attachment;\r\n filename*0*=utf-8''R%C3;\r\n filename*1*=%BCck.pdf; size=3\r\n\r\nabc\r\n\
            --B 1\r\nContent-Type: message/rfc822\r\n\r\nFrom: b@example.org\r\nSubject: =?utf-8?Q?R=C3?=\r\n =?utf-8?Q?=BCck?=\r\n\r\nx\r\n--B 1--\r\n";
        let readable = make_readable(mail).bytes.into_owned();
        let message = MessageParser::default().parse(&readable).unwrap();
        let text = part_text(&message, message.text_bodies().next().unwrap()).text.into_owned();
        assert_eq!(text.trim_end(), "Preis: =?utf-8?Q?=C3?= =?utf-8?Q?=BC?= ü");
        let mut attached = message.attachments();
        assert_eq!(attached.next().unwrap().attachment_name(), Some("Rück.pdf"));
        assert_eq!(attached.next().unwrap().message().unwrap().subject(), Some("Rück"));
    }

    #[test]
    fn names_in_another_encoding_than_they_say_are_read() {
        for (parameter, expect) in [
            ("filename*=us-ascii''Pl%C3%A4ne.txt", "Pläne.txt"),
            ("filename*=iso-8859-1''Pl%C3%A4ne.txt; size=3", "Pläne.txt"),
            ("filename*0*=us-ascii''Pl%C3; filename*1*=%A4ne.txt", "Pläne.txt"),
            ("filename*=iso-8859-1'de'Pl%E4ne.txt", "Pläne.txt"),
            ("filename=\"=?us-ascii?Q?Pl=C3=A4ne.txt?=\"", "Pläne.txt"),
        ] {
            let mail = format!("Subject: x\r\nContent-Disposition: attachment; {parameter}\r\n\r\nx\r\n");
            let mail = make_readable(mail.as_bytes()).bytes.into_owned();
            let message = MessageParser::default().parse(&mail).unwrap();
            assert_eq!(message.parts[0].attachment_name(), Some(expect), "{parameter}");
        }
    }

    #[test]
    fn parts_that_nothing_closes_are_closed() {
        const OUTER: &str = "Subject: x\r\nContent-Type: multipart/mixed; boundary=o\r\n\r\n--o\r\n";
        const INNER: &str = "Content-Type: multipart/alternative; boundary=i\r\n\r\n--i\r\n\
            Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\nSMO2aGUgMyBt";
        const FILE: &str =
            "Content-Type: application/pdf; name=a.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\nJVBERg==";
        const QUOTED: &str = "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nH=C3=B6he=20";
        for (mail, is_cut, text, file) in [
            (format!("{OUTER}{QUOTED}\r\n"), true, "Höhe", None),
            (format!("{OUTER}{QUOTED}"), true, "Höhe", None),
            (format!("{OUTER}{QUOTED}=\r\n"), true, "Höhe", None),
            (format!("{OUTER}{QUOTED}\r\n--o\r\n{FILE}\r\n"), true, "Höhe", Some("%PDF")),
            (format!("{OUTER}{INNER}\r\n--i--\r\n--o\r\n{FILE}"), true, "Höhe 3 m", Some("%PDF")),
            (format!("{OUTER}{INNER}\r\n--o\r\n{FILE}\r\n--o--\r\n"), false, "Höhe 3 m", Some("%PDF")),
            (format!("{OUTER}{INNER}\r\n"), true, "Höhe 3 m", None),
            (format!("{OUTER}{QUOTED}\r\n--o--\r\n"), false, "Höhe", None),
        ] {
            for mail in [mail.clone(), mail.replace("\r\n", "\n")] {
                let readable = make_readable(mail.as_bytes());
                assert_eq!(readable.is_cut, is_cut, "{mail}");
                let message = MessageParser::default().parse(&readable.bytes).unwrap();
                let part = message.text_bodies().next().unwrap();
                assert_eq!(part_text(&message, part).text.trim_end(), text, "{mail}");
                let content = message.attachments().next().map(|part| String::from_utf8_lossy(part.contents()));
                assert_eq!(content.as_deref(), file, "{mail}");
            }
        }
    }

    #[test]
    fn what_needs_nothing_stays() {
        for mail in
            [&b""[..], b"\r\n", b"Subject: x\r\n\r\n--b\r\n", b"From", b"A: =?", b"A: b\r\n c*0*=", b" \r\n x: y"]
        {
            make_readable(mail);
        }
        let mail = b"Subject: x\r\n\r\nSubject: =?utf-8?Q?R=C3?= =?utf-8?Q?=BC?=\r\n";
        assert_eq!(&*make_readable(mail).bytes, mail);
    }
}
