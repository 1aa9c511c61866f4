//! Which letter a glyph shows, by its name, and the encodings and widths that fonts take for granted.

use std::collections::HashMap;
use std::sync::LazyLock;

const GLYPHS: &str = include_str!("../../../data/pdf/glyphs.txt");
const ENCODINGS: &str = include_str!("../../../data/pdf/encodings.txt");
const WIDTHS: &str = include_str!("../../../data/pdf/widths.txt");

static LETTERS: LazyLock<HashMap<&str, char>> = LazyLock::new(|| {
    let mut letters = HashMap::new();
    for line in GLYPHS.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split(' ');
        let letter = words.next().and_then(|code| u32::from_str_radix(code, 16).ok()).and_then(char::from_u32);
        if let Some(letter) = letter {
            letters.extend(words.map(|name| (name, letter)));
        }
    }
    letters
});

static NAMED: LazyLock<HashMap<&str, HashMap<u8, String>>> = LazyLock::new(|| {
    let mut all = HashMap::new();
    for line in ENCODINGS.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split(' ');
        let Some(name) = words.next() else { continue };
        let pairs = words.filter_map(|word| word.split_once(':'));
        all.insert(
            name,
            pairs.filter_map(|(code, glyph)| Some((u8::from_str_radix(code, 16).ok()?, glyph.to_owned()))).collect(),
        );
    }
    all
});

static STANDARD_WIDTHS: LazyLock<HashMap<&str, HashMap<&str, f32>>> = LazyLock::new(|| {
    let (mut all, mut font) = (HashMap::new(), "");
    for line in WIDTHS.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split(' ');
        match (words.next(), line.strip_prefix("font ")) {
            (_, Some(name)) => font = name,
            (Some(width), None) => {
                let width: f32 = width.parse().unwrap_or(500.0);
                let widths: &mut HashMap<&str, f32> = all.entry(font).or_default();
                widths.extend(words.map(|name| (name, width)));
            }
            _ => {}
        }
    }
    all
});

/// The name of the glyph of each code in `Standard`, `MacRoman`, `WinAnsi`, `Symbol` or `ZapfDingbats`.
pub(super) fn named(name: &str) -> HashMap<u8, String> {
    NAMED.get(name).cloned().unwrap_or_default()
}

/// From 18 and from 80 on; a replacement character where there is none. The others are those of Latin-1.
const DOC_ACCENTS: &str = "˘ˇˆ˙˝˛˚˜";
const DOC_SIGNS: &str = "•†‡…—–ƒ⁄‹›−‰„“”‘’‚™ﬁﬂŁŒŠŸŽıłœšž\u{fffd}€";

/// Text in `PDFDocEncoding`, as strings outside of pages have it. Bytes that it leaves open are left out.
pub(super) fn doc_encoded(bytes: &[u8]) -> String {
    let letter = |byte: u8| match byte {
        0x18..=0x1f => DOC_ACCENTS.chars().nth(usize::from(byte) - 0x18),
        0x80..=0xa0 => DOC_SIGNS.chars().nth(usize::from(byte) - 0x80).filter(|letter| *letter != '\u{fffd}'),
        0xad => None,
        byte => Some(char::from(byte)),
    };
    bytes.iter().filter_map(|byte| letter(*byte)).collect()
}

/// The text that a glyph of this name shows.
pub(super) fn text(glyph: &str) -> Option<String> {
    // What follows a point only says which variant it is.
    let name = glyph.split('.').next().filter(|name| !name.is_empty())?;
    if let Some(letter) = LETTERS.get(name) {
        return Some(expanded(*letter));
    }
    if name.contains('_') {
        return name.split('_').map(text).collect();
    }
    let hex = |digits: &str| u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
    if let Some(digits) = name.strip_prefix("uni").filter(|digits| digits.len() >= 4 && digits.len() % 4 == 0) {
        let fours = digits.as_bytes().chunks(4).map(|four| std::str::from_utf8(four).ok().and_then(hex));
        return fours.collect();
    }
    let digits = name.strip_prefix('u').filter(|digits| (4..=6).contains(&digits.len()))?;
    hex(digits).map(String::from)
}

/// Letters that stand for several.
pub(super) fn expanded(letter: char) -> String {
    let text = match letter {
        '\u{fb00}' => "ff",
        '\u{fb01}' => "fi",
        '\u{fb02}' => "fl",
        '\u{fb03}' => "ffi",
        '\u{fb04}' => "ffl",
        '\u{fb05}' | '\u{fb06}' => "st",
        '\u{a0}' | '\u{2002}'..='\u{200a}' => " ",
        '\u{ad}' => "-",
        '\u{200b}'..='\u{200f}' | '\u{feff}' => "",
        letter => return letter.to_string(),
    };
    text.to_owned()
}

/// Widths in thousandths by the names of glyphs, for fonts that every program has.
pub(super) fn standard_widths(font: &str) -> Option<&'static HashMap<&'static str, f32>> {
    let lower = font.to_ascii_lowercase();
    let (bold, italic) = (lower.contains("bold"), lower.contains("italic") || lower.contains("oblique"));
    let name = match () {
        () if lower.contains("helvetica") || lower.contains("arial") => {
            if bold {
                "Helvetica-Bold"
            } else {
                "Helvetica"
            }
        }
        () if lower.contains("times") => match (bold, italic) {
            (false, false) => "Times-Roman",
            (true, false) => "Times-Bold",
            (false, true) => "Times-Italic",
            (true, true) => "Times-BoldItalic",
        },
        () if lower.contains("symbol") => "Symbol",
        () if lower.contains("dingbats") => "ZapfDingbats",
        () => return None,
    };
    STANDARD_WIDTHS.get(name)
}
