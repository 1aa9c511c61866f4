//! Tables within a PDF that say which text the codes of a font show, or which glyphs they are.

use super::encoding::expanded;
use std::collections::HashMap;

/// Most entries that are taken from one table.
const ENTRIES: usize = 200_000;

#[derive(Debug, Default)]
pub(super) struct CMap {
    texts: HashMap<u32, String>,
    /// First and last code, and what the first one shows.
    ranges: Vec<(u32, u32, String)>,
    /// First and last code, and the number of the first glyph.
    glyphs: Vec<(u32, u32, u32)>,
    /// Bytes of a code, and first and last code.
    spaces: Vec<(usize, u32, u32)>,
}

enum Token<'a> {
    Hex(Vec<u8>),
    Number(u32),
    Open,
    Close,
    Word(&'a [u8]),
}

impl CMap {
    pub fn read(bytes: &[u8]) -> Self {
        let mut map = Self::default();
        let mut tokens = Tokens(bytes);
        while let Some(token) = tokens.next() {
            if let Token::Word(word) = token {
                match word {
                    b"begincodespacerange" => map.read_spaces(&mut tokens),
                    b"beginbfchar" => map.read_texts(&mut tokens),
                    b"beginbfrange" => map.read_ranges(&mut tokens),
                    b"begincidrange" => map.read_glyphs(&mut tokens, true),
                    b"begincidchar" => map.read_glyphs(&mut tokens, false),
                    _ => {}
                }
            }
        }
        map.ranges.sort_by_key(|range| range.0);
        map.glyphs.sort_by_key(|range| range.0);
        map
    }

    fn is_full(&self) -> bool {
        self.texts.len() + self.ranges.len() + self.glyphs.len() + self.spaces.len() > ENTRIES
    }

    fn read_spaces(&mut self, tokens: &mut Tokens<'_>) {
        while let (Some(Token::Hex(low)), Some(Token::Hex(high))) = (tokens.next(), tokens.next()) {
            if self.is_full() || !(1..=4).contains(&low.len()) {
                return;
            }
            self.spaces.push((low.len(), number(&low), number(&high)));
        }
    }

    fn read_texts(&mut self, tokens: &mut Tokens<'_>) {
        while let Some(Token::Hex(code)) = tokens.next() {
            let Some(Token::Hex(text)) = tokens.next() else { return };
            if self.is_full() {
                return;
            }
            self.texts.insert(number(&code), utf_16(&text));
        }
    }

    fn read_ranges(&mut self, tokens: &mut Tokens<'_>) {
        while let Some(Token::Hex(low)) = tokens.next() {
            let Some(Token::Hex(high)) = tokens.next() else { return };
            let (low, high) = (number(&low), number(&high));
            match tokens.next() {
                Some(Token::Hex(text)) => self.ranges.push((low, high, utf_16(&text))),
                Some(Token::Open) => {
                    let mut code = low;
                    while let Some(Token::Hex(text)) = tokens.next() {
                        if !self.is_full() {
                            self.texts.insert(code, utf_16(&text));
                        }
                        code = code.saturating_add(1);
                    }
                }
                _ => return,
            }
            if self.is_full() {
                return;
            }
        }
    }

    fn read_glyphs(&mut self, tokens: &mut Tokens<'_>, is_range: bool) {
        while let Some(Token::Hex(low)) = tokens.next() {
            let high = if is_range { tokens.next() } else { Some(Token::Hex(low.clone())) };
            let (Some(Token::Hex(high)), Some(Token::Number(glyph))) = (high, tokens.next()) else { return };
            if self.is_full() {
                return;
            }
            self.glyphs.push((number(&low), number(&high), glyph));
        }
    }

    /// What a code shows.
    pub fn text(&self, code: u32) -> Option<String> {
        if let Some(text) = self.texts.get(&code) {
            return Some(text.clone());
        }
        let (low, _, text) = within(&self.ranges, code, |range| (range.0, range.1))?;
        // Only the last letter counts on.
        let mut text = text.clone();
        let last = text.pop()?;
        text.push(char::from_u32(u32::from(last).checked_add(code - low)?)?);
        Some(text)
    }

    pub fn glyph(&self, code: u32) -> Option<u32> {
        let (low, _, glyph) = within(&self.glyphs, code, |range| (range.0, range.1))?;
        glyph.checked_add(code - low)
    }

    /// The first code of a text and its length in bytes, `None` if the table doesn't say.
    pub fn code(&self, text: &[u8]) -> Option<(u32, usize)> {
        (1..=text.len().min(4)).find_map(|length| {
            let code = number(&text[..length]);
            let known = self.spaces.iter().any(|(bytes, low, high)| *bytes == length && (*low..=*high).contains(&code));
            known.then_some((code, length))
        })
    }
}

fn within<T>(ranges: &[T], code: u32, ends: impl Fn(&T) -> (u32, u32)) -> Option<&T> {
    let at = ranges.partition_point(|range| ends(range).0 <= code).checked_sub(1)?;
    ranges.get(at).filter(|range| code <= ends(range).1)
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().take(4).fold(0, |number, byte| number << 8 | u32::from(*byte))
}

fn utf_16(bytes: &[u8]) -> String {
    if let [byte] = bytes {
        return expanded(char::from(*byte));
    }
    let units = bytes.chunks_exact(2).map(|two| u16::from_be_bytes([two[0], two[1]]));
    let letters = char::decode_utf16(units).map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER));
    letters.map(expanded).collect()
}

struct Tokens<'a>(&'a [u8]);

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let (first, after) = self.0.split_first()?;
            match first {
                b'%' => {
                    let end = after.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(after.len());
                    self.0 = &after[end..];
                }
                b'<' if after.first() == Some(&b'<') => self.0 = &after[1..],
                b'<' => {
                    let end = after.iter().position(|byte| *byte == b'>')?;
                    self.0 = &after[end + 1..];
                    return Some(Token::Hex(hex(&after[..end])));
                }
                b'[' => {
                    self.0 = after;
                    return Some(Token::Open);
                }
                b']' => {
                    self.0 = after;
                    return Some(Token::Close);
                }
                byte if byte.is_ascii_whitespace() || matches!(byte, b'>' | b'(' | b')' | b'{' | b'}' | 0) => {
                    self.0 = after
                }
                _ => {
                    let is_end = |byte: &u8| byte.is_ascii_whitespace() || b"<>[](){}%".contains(byte);
                    let end = after.iter().position(is_end).map_or(self.0.len(), |end| end + 1);
                    let (word, rest) = self.0.split_at(end);
                    self.0 = rest;
                    let digits = std::str::from_utf8(word).ok().and_then(|word| word.parse().ok());
                    return Some(digits.map_or(Token::Word(word), Token::Number));
                }
            }
        }
    }
}

fn hex(digits: &[u8]) -> Vec<u8> {
    let mut digits: Vec<u8> = digits
        .iter()
        .filter_map(|digit| char::from(*digit).to_digit(16))
        .filter_map(|digit| u8::try_from(digit).ok())
        .collect();
    if digits.len() % 2 == 1 {
        digits.push(0);
    }
    digits.chunks_exact(2).map(|two| two[0] << 4 | two[1]).collect()
}

#[cfg(test)]
mod tests {
    use super::CMap;

    #[test]
    fn codes_become_text() {
        let map = CMap::read(
            b"/CIDInit /ProcSet findresource begin 1 begincodespacerange <0000> <FFFF> endcodespacerange \
              2 beginbfchar <0001> <0041> <0002> <00660069> endbfchar \
              2 beginbfrange <0010> <0012> <0061> <0020> <0021> [<0031> <D83DDE00>] endbfrange % end\n\
              1 begincidrange <0100> <01ff> 7 endcidrange",
        );
        for (code, text) in
            [(1, Some("A")), (2, Some("fi")), (0x12, Some("c")), (0x13, None), (0x21, Some("\u{1f600}"))]
        {
            assert_eq!(map.text(code).as_deref(), text, "{code}");
        }
        assert_eq!(map.code(b"\x01\x02\x03"), Some((0x0102, 2)));
        assert_eq!(map.glyph(0x101), Some(8));
        // Whatever it says, it ends.
        CMap::read(b"beginbfrange <00> <ffffffff> [ <41");
        CMap::read(b"begincodespacerange <> <>");
    }
}
