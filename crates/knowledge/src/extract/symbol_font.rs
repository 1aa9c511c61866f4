//! Fonts whose letters are signs, such as Symbol and Wingdings: which characters those are.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Where Office puts the codes of such fonts, so that nobody takes them for letters.
const PRIVATE: std::ops::RangeInclusive<u32> = 0xf000..=0xf0ff;

/// By font in lower case and code.
static SIGNS: LazyLock<HashMap<&'static str, HashMap<u32, char>>> = LazyLock::new(|| {
    let mut fonts: HashMap<&str, HashMap<u32, char>> = HashMap::new();
    let lines = include_str!("../../data/symbol-fonts.txt").lines().filter(|line| !line.starts_with('#'));
    for line in lines {
        let mut fields = line.splitn(3, '|');
        if let (Some(font), Some(Ok(first)), Some(signs)) =
            (fields.next(), fields.next().map(|code| u32::from_str_radix(code, 16)), fields.next())
        {
            fonts.entry(font).or_default().extend((first..).zip(signs.chars()));
        }
    }
    fonts
});

/// A sign of a font by its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Character(char),
    /// The font has a sign that no character is known for.
    Unknown,
}

/// `None`: it is a character already, since the font is a usual one.
pub(super) fn find_sign(font: &str, code: u32) -> Option<Sign> {
    let is_private = PRIVATE.contains(&code);
    let as_it_is = || if is_private { Some(Sign::Unknown) } else { None };
    if !is_private && code > 0xff {
        return None;
    }
    let Some(signs) = SIGNS.get(font.trim().to_lowercase().as_str()) else { return as_it_is() };
    Some(signs.get(&(code & 0xff)).map_or(Sign::Unknown, |sign| Sign::Character(*sign)))
}

/// A text in such a font, with what its signs mean. The second part: whether signs in it are unknown, which are left out.
pub(super) fn show_text(font: &str, text: &str) -> (String, bool) {
    let mut has_unknown = false;
    let shown = text
        .chars()
        .filter_map(|letter| match find_sign(font, letter.into()) {
            Some(Sign::Character(sign)) => Some(sign),
            Some(Sign::Unknown) if letter.is_whitespace() => Some(letter),
            Some(Sign::Unknown) => {
                has_unknown = true;
                None
            }
            None => Some(letter),
        })
        .collect();
    (shown, has_unknown)
}

#[cfg(test)]
mod tests {
    use super::{Sign, find_sign, show_text};

    #[test]
    fn signs_of_fonts_are_characters() {
        for (font, code, sign) in [
            ("Wingdings", 0xf0fe, '☑'),
            ("Wingdings", 0xa8, '☐'),
            ("Wingdings", 0xf0fc, '✓'),
            ("Wingdings", 0x4a, '☺'),
            ("Wingdings 2", 0xf052, '☑'),
            ("Symbol", 0xf061, 'α'),
            ("Symbol", 0xf0b0, '°'),
            ("symbol", 0xf0e5, '∑'),
            ("Symbol", 0xf0a3, '≤'),
        ] {
            assert_eq!(find_sign(font, code), Some(Sign::Character(sign)), "{font} {code:x}");
        }
        assert_eq!(find_sign("Arial", 0x61), None);
        assert_eq!(find_sign("Arial", 0xf061), Some(Sign::Unknown));
        assert_eq!(find_sign("Wingdings", 0x3b1), None);
        assert_eq!(show_text("Wingdings", "\u{f0fc} \u{f0d0}"), ("✓ ".to_owned(), true));
    }
}
