//! The texts of a mail's parts, also where they don't say how they are encoded, or say what their bytes contradict.

use super::contradiction::contradicting;
use super::flowed::join_lines;
use super::{decode, seven_bit};
use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::charsets::map::charset_decoder;
use mail_parser::decoders::quoted_printable::quoted_printable_decode;
use mail_parser::{Encoding, Message, MessagePart, MimeHeaders as _, PartType};
use std::borrow::Cow;

/// Letters of the name of an encoding that a warning repeats.
const LABEL_CHARS: usize = 40;

#[derive(Debug, Default)]
pub struct PartText<'m> {
    pub text: Cow<'m, str>,
    /// Why it may not be what was written.
    pub warning: Option<String>,
}

/// The text of a part, with the lines joined that are to be.
pub fn part_text<'m>(message: &'m Message<'_>, part: &'m MessagePart<'_>) -> PartText<'m> {
    let mut found = decode_part(message, part);
    let says = |name: &str, value: &str| {
        let said = part.content_type().and_then(|kind| kind.attribute(name));
        said.is_some_and(|said| said.eq_ignore_ascii_case(value))
    };
    if matches!(part.body, PartType::Text(_)) && says("format", "flowed") {
        found.text = Cow::Owned(join_lines(&found.text, says("delsp", "yes")));
    }
    found
}

fn decode_part<'m>(message: &'m Message<'_>, part: &'m MessagePart<'_>) -> PartText<'m> {
    let (PartType::Text(text) | PartType::Html(text)) = &part.body else { return PartText::default() };
    let as_parsed = || PartText { text: Cow::Borrowed(text.as_ref()), warning: None };
    if text.is_ascii() && !text.contains(['\u{1b}', '\u{e}', '~']) {
        return as_parsed();
    }
    let label = part.content_type().and_then(|kind| kind.attribute("charset"));
    let decoder = label.and_then(|label| charset_decoder(label.as_bytes()));
    // Where this is not what the parser read, its offsets are of something else.
    let is_same = |bytes: &Vec<u8>| match decoder {
        Some(decoder) => decoder(bytes).trim_end() == text.trim_end(),
        None => String::from_utf8_lossy(bytes).trim_end() == text.trim_end(),
    };
    let Some(bytes) = part_bytes(message, part).filter(is_same) else {
        return seven_bit::decode(text)
            .map_or_else(as_parsed, |(text, _)| PartText { text: text.into(), warning: None });
    };
    let is_ascii = bytes.is_ascii();
    let has_sign = memchr::memmem::find(&bytes, "\u{fffd}".as_bytes()).is_some();
    let found = match label {
        // What a page says of itself is better than a guess.
        Some(label) => {
            contradicting(&bytes, label, decoder.map(|_| text.as_ref())).map(|found| decode(bytes).unwrap_or(found))
        }
        None => decode(bytes),
    };
    let label: String = label.unwrap_or("no encoding").chars().take(LABEL_CHARS).collect();
    match found {
        Some(found) => {
            let warning = found.guessed.filter(|_| !is_ascii && label != "no encoding").map(|name| {
                format!("The mail says that its text is in {label}, which its bytes contradict; it was read as {name}.")
            });
            PartText { text: Cow::Owned(found.text), warning }
        }
        None if text.contains('\u{fffd}') && !has_sign => {
            let warning =
                format!("Some letters of the mail are not in the encoding that it names ({label}), and can't be read.");
            PartText { warning: Some(warning), ..as_parsed() }
        }
        None => as_parsed(),
    }
}

/// What stands in the mail, without its transfer encoding.
fn part_bytes(message: &Message<'_>, part: &MessagePart<'_>) -> Option<Vec<u8>> {
    let raw = message.raw_message.get(part.offset_body as usize..part.offset_end as usize)?;
    match part.encoding {
        Encoding::None => Some(raw.to_vec()),
        Encoding::QuotedPrintable => quoted_printable_decode(raw),
        Encoding::Base64 => base64_decode(raw),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::part_text;
    use mail_parser::MessageParser;

    const JAPANESE: &str = "会議は五月十日の午後三時から大阪支店で行います。";
    const RUSSIAN: &str = "Оплатите, пожалуйста, счёт до пятницы. Сумма: 4200 рублей.";

    #[test]
    fn bodies_in_another_encoding_than_they_say_are_read() {
        let of = |label: &str, text: &str| {
            encoding_rs::Encoding::for_label(label.as_bytes()).unwrap().encode(text).0.into_owned()
        };
        for (kind, bytes, expect, guessed) in [
            ("text/plain; charset=us-ascii", of("shift_jis", JAPANESE), JAPANESE, Some("Shift_JIS")),
            ("text/plain; charset=iso-8859-1", of("shift_jis", JAPANESE), JAPANESE, Some("Shift_JIS")),
            ("text/plain; charset=\"US-ASCII\"", "Größe für Müller".into(), "Größe für Müller", None),
            ("text/html; charset=us-ascii", "<p>Größe: 5 €</p>".into(), "<p>Größe: 5 €</p>", None),
            ("text/plain; charset=us-ascii", of("koi8-r", RUSSIAN), RUSSIAN, Some("KOI8")),
            ("text/plain; charset=utf-8", of("koi8-r", RUSSIAN), RUSSIAN, Some("KOI8")),
            ("text/plain; charset=gb2312", of("euc-jp", JAPANESE), JAPANESE, Some("EUC-JP")),
            ("text/csv; charset=x-user-defined; name=a.csv", "k;ä".into(), "k;ä", None),
            ("text/plain; charset=iso-8859-1", of("windows-1252", "Preis: 5 ü, Größe"), "Preis: 5 ü, Größe", None),
            ("text/plain; charset=koi8-r", of("koi8-r", RUSSIAN), RUSSIAN, None),
        ] {
            let head = format!("Subject: x\r\nContent-Type: {kind}\r\n\r\n");
            let mail = [head.as_bytes(), &bytes, b"\r\n"].concat();
            let message = MessageParser::default().parse(&mail).unwrap();
            let found = part_text(&message, &message.parts[0]);
            assert_eq!(found.text.trim_end(), expect, "{kind}");
            let warning = found.warning.unwrap_or_default();
            assert_eq!(
                (warning.is_empty(), warning.contains(guessed.unwrap_or_default())),
                (guessed.is_none(), true),
                "{warning}"
            );
        }
        let mail =
            "Subject: x\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nGrößen, schön und für alle\r\n".as_bytes();
        let mail = [mail, b"\xff\r\n"].concat();
        let message = MessageParser::default().parse(&mail).unwrap();
        let found = part_text(&message, &message.parts[0]);
        assert!(found.text.starts_with("Größen, schön") && found.warning.unwrap().contains("utf-8"));
    }
}
