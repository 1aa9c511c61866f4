//! The content of JSON strings, whole or still arriving.

/// Decodes a whole string's content (without quotes). Unknown escapes keep their character, lone
/// surrogates become U+FFFD.
pub(crate) fn unescape(content: &str) -> String {
    unescape_part(content, true).0
}

/// Decodes as much of `content` as is certain, and says how many bytes that took: an escape cut at
/// the end is left for the next time unless `last`.
pub(crate) fn unescape_part(content: &str, last: bool) -> (String, usize) {
    let mut out = String::with_capacity(content.len());
    let mut pos = 0;
    while let Some(step) = content[pos..].find('\\') {
        out.push_str(&content[pos..pos + step]);
        pos += step;
        match escape(&content[pos..]) {
            Escape::Char(c, len) => {
                out.push(c);
                pos += len;
            }
            Escape::Cut if last => {
                return (out, content.len());
            }
            Escape::Cut => return (out, pos),
        }
    }
    out.push_str(&content[pos..]);
    (out, content.len())
}

enum Escape {
    Char(char, usize),
    Cut,
}

fn escape(text: &str) -> Escape {
    let Some(c) = text[1..].chars().next() else {
        return Escape::Cut;
    };
    match c {
        'n' => Escape::Char('\n', 2),
        't' => Escape::Char('\t', 2),
        'r' => Escape::Char('\r', 2),
        'b' => Escape::Char('\u{8}', 2),
        'f' => Escape::Char('\u{c}', 2),
        'u' => unicode(text),
        other => Escape::Char(other, 1 + other.len_utf8()),
    }
}

/// `text` starts with `\u`.
fn unicode(text: &str) -> Escape {
    let high = match hex(text) {
        Hex::Unit(unit) => unit,
        Hex::Cut => return Escape::Cut,
        Hex::Wrong => return Escape::Char('u', 2),
    };
    if !(0xD800..0xDC00).contains(&high) {
        return Escape::Char(char::from_u32(high).unwrap_or('\u{FFFD}'), 6);
    }
    let rest = &text[6..];
    if rest.is_empty() || rest == "\\" {
        return Escape::Cut;
    }
    if !rest.starts_with("\\u") {
        return Escape::Char('\u{FFFD}', 6);
    }
    match hex(rest) {
        Hex::Cut => Escape::Cut,
        Hex::Unit(low) if (0xDC00..0xE000).contains(&low) => {
            let code = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
            Escape::Char(char::from_u32(code).unwrap_or('\u{FFFD}'), 12)
        }
        _ => Escape::Char('\u{FFFD}', 6),
    }
}

enum Hex {
    Unit(u32),
    Cut,
    Wrong,
}

fn hex(text: &str) -> Hex {
    let mut unit = 0;
    for i in 2..6 {
        let Some(&byte) = text.as_bytes().get(i) else {
            return Hex::Cut;
        };
        let Some(digit) = char::from(byte).to_digit(16) else {
            return Hex::Wrong;
        };
        unit = unit * 16 + digit;
    }
    Hex::Unit(unit)
}
