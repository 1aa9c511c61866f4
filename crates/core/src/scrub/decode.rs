//! Decodes escaped text and remembers where each piece was.

#[derive(Debug, Default)]
pub(super) struct View {
    pub bytes: Vec<u8>,
    /// Decoded pieces in order; between them the text is unchanged.
    units: Vec<Unit>,
}

#[derive(Debug, Clone, Copy)]
struct Unit {
    /// Position and length in the decoded text.
    at: usize,
    length: usize,
    /// Position in the original text.
    start: usize,
    end: usize,
}

impl View {
    /// The original range of `start..end` of the decoded text.
    pub fn origin(&self, start: usize, end: usize) -> (usize, usize) {
        (self.place(start).0, self.place(end.saturating_sub(1)).1)
    }

    fn place(&self, at: usize) -> (usize, usize) {
        let after = self.units.partition_point(|unit| unit.at <= at);
        let Some(unit) = after.checked_sub(1).and_then(|index| self.units.get(index)) else {
            return (at, at + 1);
        };
        if at < unit.at + unit.length {
            return (unit.start, unit.end);
        }
        let start = unit.end + (at - unit.at - unit.length);
        (start, start + 1)
    }
}

/// Undoes one way of escaping; `None` if nothing was escaped that way.
pub(super) type Decoder = fn(&[u8]) -> Option<View>;

pub(super) const DECODERS: [Decoder; 3] = [percent, escapes, html];

/// A decoded piece and the number of bytes it took.
type Piece = Option<(Decoded, usize)>;

enum Decoded {
    Byte(u8),
    Letter(char),
    Nothing,
}

/// Decodes each piece that begins with one of `marks` and that `piece` understands; `None` if there is none.
fn decode(text: &[u8], marks: &[u8], piece: impl Fn(&[u8]) -> Piece) -> Option<View> {
    let mut view = View::default();
    let mut at = 0;
    let mut copied = 0;
    while let Some(next) = text[at..].iter().position(|byte| marks.contains(byte)) {
        at += next;
        let Some((decoded, length)) = piece(&text[at..]) else {
            at += 1;
            continue;
        };
        view.bytes.extend_from_slice(&text[copied..at]);
        let before = view.bytes.len();
        match decoded {
            Decoded::Byte(byte) => view.bytes.push(byte),
            Decoded::Letter(letter) => {
                let mut buffer = [0; 4];
                view.bytes.extend_from_slice(letter.encode_utf8(&mut buffer).as_bytes());
            }
            Decoded::Nothing => {}
        }
        view.units.push(Unit { at: before, length: view.bytes.len() - before, start: at, end: at + length });
        at += length;
        copied = at;
    }
    if view.units.is_empty() {
        return None;
    }
    view.bytes.extend_from_slice(&text[copied..]);
    Some(view)
}

/// Percent-encoding: `%41`.
pub(super) fn percent(text: &[u8]) -> Option<View> {
    decode(text, b"%", percent_piece)
}

fn percent_piece(text: &[u8]) -> Piece {
    let value = hexadecimal(text.get(1..3)?)?;
    Some((Decoded::Byte(u8::try_from(value).ok()?), 3))
}

/// Percent-encoding where `+` stands for a space.
pub(super) fn form(text: &[u8]) -> Option<View> {
    decode(text, b"+%", |text| match text.first()? {
        b'+' => Some((Decoded::Byte(b' '), 1)),
        _ => percent_piece(text),
    })
}

/// Escapes of JSON and similar ones of other languages: `\x41`, `\u{41}`, `\U00000041`, `\'`.
fn escapes(text: &[u8]) -> Option<View> {
    decode(text, b"\\", escape_piece)
}

fn escape_piece(text: &[u8]) -> Piece {
    let byte = |byte| Some((Decoded::Byte(byte), 2));
    match text.get(1)? {
        b'n' => byte(b'\n'),
        b't' => byte(b'\t'),
        b'r' => byte(b'\r'),
        b'b' => byte(8),
        b'f' => byte(12),
        b'x' => {
            let value = hexadecimal(text.get(2..4)?)?;
            Some((Decoded::Byte(u8::try_from(value).ok()?), 4))
        }
        b'U' => Some((Decoded::Letter(letter(text.get(2..10)?)?), 10)),
        b'u' if text.get(2) == Some(&b'{') => {
            let rest = text.get(3..text.len().min(11))?;
            let length = rest.iter().position(|byte| *byte == b'}')?;
            Some((Decoded::Letter(letter(&rest[..length])?), length + 4))
        }
        b'u' => unit(text),
        sign if sign.is_ascii_punctuation() => byte(*sign),
        _ => None,
    }
}

/// `\u0041`, or a surrogate pair of them.
fn unit(text: &[u8]) -> Piece {
    let high = hexadecimal(text.get(2..6)?)?;
    if let Some(letter) = char::from_u32(high) {
        return Some((Decoded::Letter(letter), 6));
    }
    if text.get(6..8)? != b"\\u" {
        return None;
    }
    let low = hexadecimal(text.get(8..12)?)?;
    let units = [u16::try_from(high).ok()?, u16::try_from(low).ok()?];
    let letter = char::decode_utf16(units).next()?.ok()?;
    Some((Decoded::Letter(letter), 12))
}

/// HTML entities: `&amp;`, `&#65;`, `&#x41;`.
fn html(text: &[u8]) -> Option<View> {
    decode(text, b"&", |text| {
        let rest = text.get(1..text.len().min(14))?;
        let length = rest.iter().position(|byte| *byte == b';')?;
        let name = &rest[..length];
        let letter = match name {
            b"amp" | b"AMP" => '&',
            b"lt" | b"LT" => '<',
            b"gt" | b"GT" => '>',
            b"quot" | b"QUOT" => '"',
            b"apos" => '\'',
            b"nbsp" => ' ',
            b"sol" => '/',
            b"plus" => '+',
            b"equals" => '=',
            b"num" => '#',
            [b'#', b'x' | b'X', digits @ ..] => letter(digits)?,
            [b'#', digits @ ..] => {
                str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).and_then(char::from_u32)?
            }
            _ => return None,
        };
        Some((Decoded::Letter(letter), length + 2))
    })
}

/// Removes line breaks that were put into a long encoded text.
pub(super) fn joined(text: &[u8]) -> Option<View> {
    decode(text, b"\r\n", |_| Some((Decoded::Nothing, 1)))
}

fn letter(digits: &[u8]) -> Option<char> {
    hexadecimal(digits).and_then(char::from_u32)
}

fn hexadecimal(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u32::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
}
