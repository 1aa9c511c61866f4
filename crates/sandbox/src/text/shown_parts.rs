//! Which alternatives of a mail a mail program shows.

use super::part_text;
use mail_parser::decoders::html::html_to_text;
use mail_parser::{Message, MessagePart, PartType};
use std::collections::HashSet;

/// The parts that are the mail's text: the HTML if it says something that the plain text doesn't, else the plain text.
/// Many programs write no more than "view this in a browser" as plain text, or nothing.
pub fn shown_parts<'m, 'x>(message: &'m Message<'x>) -> Vec<&'m MessagePart<'x>> {
    let parts = |ids: &[u32]| -> Vec<&'m MessagePart<'x>> {
        ids.iter().filter_map(|id| message.parts.get(usize::try_from(*id).ok()?)).collect()
    };
    let (plain, html) = (parts(&message.text_body), parts(&message.html_body));
    let is_same = message.text_body == message.html_body;
    if !is_same && says_more(&text_of(message, &html), &text_of(message, &plain)) { html } else { plain }
}

/// Whether a text has a word that another one lacks.
fn says_more(text: &str, other: &str) -> bool {
    let words = |text: &str| -> HashSet<String> {
        let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    };
    !words(text).is_subset(&words(other))
}

/// Whether a page has a word that a plain text lacks.
pub fn html_says_more(html: &str, plain: &str) -> bool {
    says_more(&html_to_text(html), plain)
}

fn text_of(message: &Message<'_>, parts: &[&MessagePart<'_>]) -> String {
    let texts = parts.iter().map(|part| match &part.body {
        PartType::Html(_) => html_to_text(&part_text(message, part).text),
        _ => part_text(message, part).text.into_owned(),
    });
    texts.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::shown_parts;
    use mail_parser::{MessageParser, PartType};

    fn shown(plain: &str, html: &str) -> &'static str {
        let mail = format!(
            "Subject: x\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\n{plain}\r\n\
             --b\r\nContent-Type: text/html\r\n\r\n{html}\r\n--b--\r\n"
        );
        let message = MessageParser::default().parse(&mail).unwrap();
        match shown_parts(&message).as_slice() {
            [part] if matches!(part.body, PartType::Html(_)) => "html",
            [_] => "plain",
            _ => "other",
        }
    }

    #[test]
    fn html_is_shown_if_it_says_more() {
        for (plain, html, expected) in [
            ("", "<p>The price is 60.</p>", "html"),
            ("View this in a browser.", "<p>Invoice <b>88,00</b></p>", "html"),
            (
                "Hello Bo, see you.",
                "<html><head><style>p{x:y}</style></head><p>Hello <b>Bo</b>, see&nbsp;you.</p>",
                "plain",
            ),
            ("Words", "<img src='cid:x'>", "plain"),
            // ISO-2022-JP, which nobody declares.
            ("\u{1b}$B6b3[\u{1b}(B", "<p>\u{1b}$B6b3[\u{1b}(B</p><p>\u{1b}$BG<4|\u{1b}(B</p>", "html"),
            (
                "\u{1b}$B6b3[\u{1b}(B \u{1b}$BG<4|\u{1b}(B",
                "<p>\u{1b}$B6b3[\u{1b}(B</p><p>\u{1b}$BG<4|\u{1b}(B</p>",
                "plain",
            ),
        ] {
            assert_eq!(shown(plain, html), expected, "{html}");
        }
        let mail = b"Subject: x\r\nContent-Type: text/html\r\n\r\n<p>Only this</p>\r\n";
        let message = MessageParser::default().parse(mail).unwrap();
        assert_eq!(shown_parts(&message).len(), 1);
    }
}
