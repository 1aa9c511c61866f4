//! Fonts of RTF, each of which says how the bytes of its letters are encoded.

use super::super::code_page::encoding_of_code_page;
use super::super::symbol_font::show_text;
use encoding_rs::{Encoding, WINDOWS_1252};
use std::collections::HashMap;

/// How the bytes of letters are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Letters {
    /// As the file says it of all its letters.
    Usual,
    Encoded(&'static Encoding),
    /// Each byte is a sign of the font.
    Signs,
    Unknown,
}

#[derive(Debug)]
struct Font {
    name: String,
    letters: Letters,
}

/// The fonts of a file by their numbers.
#[derive(Debug)]
pub(super) struct Fonts {
    table: HashMap<i32, Font>,
    /// The one that the table is at.
    open: i32,
    usual: Letters,
    /// Some letters could not be read.
    pub has_unknown: bool,
}

impl Fonts {
    pub fn new() -> Self {
        let usual = Letters::Encoded(WINDOWS_1252);
        Self { table: HashMap::new(), open: 0, usual, has_unknown: false }
    }

    /// Takes the code page that the file names.
    pub fn set_code_page(&mut self, page: i32) {
        self.usual = letters_of_page(page);
    }

    /// Takes a word of the table of fonts.
    pub fn read_word(&mut self, word: &str, number: Option<i32>) {
        let number = number.unwrap_or(0);
        if word == "f" {
            self.open = number;
        }
        let font = self.table.entry(self.open).or_insert(Font { name: String::new(), letters: Letters::Usual });
        match word {
            "fcharset" => font.letters = letters_of_charset(number),
            "cpg" => font.letters = letters_of_page(number),
            _ => {}
        }
    }

    /// Takes a letter of a font's name.
    pub fn read_name(&mut self, letter: u8) {
        if let Some(font) = self.table.get_mut(&self.open).filter(|_| letter != b';') {
            font.name.push(char::from(letter));
        }
    }

    /// What a text in Unicode says in a font.
    pub fn show(&mut self, text: String, font: Option<i32>) -> String {
        let font = font.and_then(|font| self.table.get(&font)).filter(|font| font.letters == Letters::Signs);
        let Some(font) = font else { return text };
        let (text, has_unknown) = show_text(font.name.trim(), &text);
        self.has_unknown |= has_unknown;
        text
    }

    /// What bytes say in a font.
    pub fn decode(&mut self, bytes: &[u8], font: Option<i32>) -> String {
        let font = font.and_then(|font| self.table.get(&font));
        let letters = font.map(|font| font.letters).filter(|letters| *letters != Letters::Usual).unwrap_or(self.usual);
        match (letters, font) {
            (Letters::Encoded(encoding), _) => encoding.decode_without_bom_handling(bytes).0.into_owned(),
            (Letters::Signs, Some(font)) => {
                let codes: String = bytes.iter().map(|byte| char::from(*byte)).collect();
                let (text, has_unknown) = show_text(font.name.trim(), &codes);
                self.has_unknown |= has_unknown;
                text
            }
            _ => {
                self.has_unknown |= !bytes.is_ascii();
                bytes.iter().map(|byte| if byte.is_ascii() { char::from(*byte) } else { '\u{fffd}' }).collect()
            }
        }
    }
}

fn letters_of_page(page: i32) -> Letters {
    u32::try_from(page).ok().and_then(encoding_of_code_page).map_or(Letters::Unknown, Letters::Encoded)
}

/// By the numbers that Windows gives to sets of characters.
fn letters_of_charset(charset: i32) -> Letters {
    let page = match charset {
        0 => 1252,
        1 => return Letters::Usual,
        2 => return Letters::Signs,
        77 => 10_000,
        78 | 128 => 932,
        79 | 129 => 949,
        80 | 134 => 936,
        81 | 136 => 950,
        83 | 84 | 177 | 181 => 1255,
        85 | 161 => 1253,
        86 | 162 => 1254,
        87 | 222 => 874,
        88 | 238 => 1250,
        89 | 204 => 1251,
        163 => 1258,
        178..=180 => 1256,
        186 => 1257,
        _ => return Letters::Unknown,
    };
    letters_of_page(page)
}

#[cfg(test)]
mod tests {
    use super::Fonts;

    #[test]
    fn bytes_are_letters_of_their_font() {
        let mut fonts = Fonts::new();
        for (number, charset, bytes, text) in [
            (0, 204, &b"\xc4\xee\xe3"[..], "Дог"),
            (1, 128, b"\x93\xfa\x96\x7b", "日本"),
            (2, 238, b"\xa3\xf3d\x9f", "Łódź"),
            (3, 161, b"\xc1\xe8\xde\xed\xe1", "Αθήνα"),
            (4, 0, b"caf\xe9", "café"),
            (5, 1, b"caf\xe9", "café"),
        ] {
            fonts.read_word("f", Some(number));
            fonts.read_word("fcharset", Some(charset));
            assert_eq!(fonts.decode(bytes, Some(number)), text, "{charset}");
        }
        assert!(!fonts.has_unknown);
        fonts.set_code_page(932);
        assert_eq!(
            (fonts.decode(b"\x93\xfa", Some(5)).as_str(), fonts.decode(b"\x93\xfa", None).as_str()),
            ("日", "日")
        );
        fonts.read_word("f", Some(6));
        fonts.read_word("fcharset", Some(2));
        b"Symbol;".iter().for_each(|letter| fonts.read_name(*letter));
        assert_eq!(fonts.decode(b"a", Some(6)), "α");
        fonts.read_word("f", Some(7));
        fonts.read_word("fcharset", Some(130));
        assert_eq!(fonts.decode(b"a\xfe", Some(7)), "a\u{fffd}");
        assert!(fonts.has_unknown);
    }
}
