//! Bytes of a text, seen as parts of words and numbers.

pub const LOWER: u8 = 1;
pub const UPPER: u8 = 2;
pub const DIGIT: u8 = 4;
/// A part of a letter outside ASCII.
pub const HIGH: u8 = 8;
/// A sign that something may begin or stand around: `@ + ( :`.
pub const SIGN: u8 = 16;
/// The first byte of a character outside ASCII that is no letter: spaces, quotes, dashes, pictures.
pub const OTHER: u8 = 32;

pub const WORD: u8 = LOWER | UPPER | DIGIT | HIGH;
pub const LETTER: u8 = LOWER | UPPER | HIGH;

pub static CLASS: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0_u8;
    loop {
        table[byte as usize] = match byte {
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'0'..=b'9' => DIGIT,
            b'@' | b'+' | b'(' | b':' => SIGN,
            0xC2 | 0xE2 | 0xEF | 0xF0..=0xFF => OTHER,
            0x80..=0xFF => HIGH,
            _ => 0,
        };
        if byte == 255 {
            return table;
        }
        byte += 1;
    }
}

pub fn class(byte: u8) -> u8 {
    CLASS[usize::from(byte)]
}

/// How many bytes a character has that begins with `lead`.
pub const fn width(lead: u8) -> usize {
    match lead {
        0..=0xBF => 1,
        0xC0..=0xDF => 2,
        0xE0..=0xEF => 3,
        _ => 4,
    }
}

pub fn is_word(text: &str, at: usize) -> bool {
    text.as_bytes().get(at).is_some_and(|byte| class(*byte) & WORD != 0)
}

pub fn ends_in_word(text: &str, end: usize) -> bool {
    let bytes = text.as_bytes();
    let Some(mut at) = end.checked_sub(1) else { return false };
    while at > 0 && bytes[at] & 0xC0 == 0x80 {
        at -= 1;
    }
    class(bytes[at]) & WORD != 0
}

/// The end of the letters and digits that begin at `at`.
pub fn word_end(text: &str, at: usize) -> usize {
    let rest = &text.as_bytes()[at.min(text.len())..];
    at + rest.iter().position(|byte| class(*byte) & WORD == 0).unwrap_or(rest.len())
}

/// The first place from `at` on that is no space; lines end it.
pub fn skip_spaces(text: &str, at: usize) -> usize {
    let rest = &text[at.min(text.len())..];
    let spaces = rest.char_indices().find(|(_, c)| !matches!(c, ' ' | '\t' | '\u{a0}' | '\u{202f}'));
    at + spaces.map_or(rest.len(), |(length, _)| length)
}

pub fn digit_at(text: &str, at: usize) -> bool {
    text.as_bytes().get(at).is_some_and(u8::is_ascii_digit)
}

/// The digits of `text` as numbers.
pub fn digits(text: &str) -> Vec<u8> {
    text.bytes().filter(u8::is_ascii_digit).map(|byte| byte - b'0').collect()
}
