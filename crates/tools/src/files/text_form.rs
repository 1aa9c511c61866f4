//! How the text of a file is written, so that what is written into it later is written alike.

use encoding_rs::{Encoding, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE};
use steward_sandbox::text::{BROKEN_UTF_8, decode};

/// How a file writes its text: its encoding, its byte order mark and its line ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextForm {
    encoding: &'static Encoding,
    /// Why nothing but ASCII can be added, or not even that.
    unknown: Option<Unknown>,
    mark: &'static [u8],
    ends: Ends,
    /// The last line has its end.
    ended: bool,
}

/// What most lines end in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    Lf,
    CrLf,
    /// As old programs of the Macintosh write them.
    Cr,
}

#[derive(Debug, Clone, Copy)]
struct Unknown {
    why: &'static str,
    takes_ascii: bool,
}

impl TextForm {
    pub fn of(bytes: &[u8]) -> Self {
        let (encoding, unknown) = encoding_of(bytes);
        let mark: &[u8] = match bytes {
            [0xef, 0xbb, 0xbf, ..] => b"\xef\xbb\xbf",
            [0xff, 0xfe, ..] => b"\xff\xfe",
            [0xfe, 0xff, ..] => b"\xfe\xff",
            _ => b"",
        };
        let rest = &bytes[mark.len()..];
        let mut lines = Lines::default();
        if encoding == UTF_16LE {
            rest.chunks_exact(2).for_each(|two| lines.see(u16::from_le_bytes([two[0], two[1]])));
        } else if encoding == UTF_16BE {
            rest.chunks_exact(2).for_each(|two| lines.see(u16::from_be_bytes([two[0], two[1]])));
        } else {
            for byte in rest {
                lines.see(u16::from(*byte));
            }
        }
        let ends = match lines {
            Lines { all: 0, returns: 1.., .. } => Ends::Cr,
            Lines { all, crlf, .. } if crlf * 2 > all => Ends::CrLf,
            _ => Ends::Lf,
        };
        let ended = rest.is_empty() || lines.before == if ends == Ends::Cr { CR } else { LF };
        Self { encoding, unknown, mark, ends, ended }
    }

    /// The name of its line ends, unless they are LF.
    pub fn other_ends(self) -> Option<&'static str> {
        match self.ends {
            Ends::Lf => None,
            Ends::CrLf => Some("CRLF"),
            Ends::Cr => Some("CR"),
        }
    }

    /// `None` for UTF-8, and where it isn't known.
    pub fn other_encoding(self) -> Option<&'static str> {
        (self.encoding != UTF_8 && self.unknown.is_none()).then(|| self.encoding.name())
    }

    /// `text` with the line ends of the file; those that it has as CRLF already are the same.
    pub fn with_line_ends(self, text: &str) -> String {
        match self.ends {
            Ends::Lf => text.to_owned(),
            Ends::CrLf => text.replace("\r\n", "\n").replace('\n', "\r\n"),
            Ends::Cr => text.replace("\r\n", "\r").replace('\n', "\r"),
        }
    }

    /// What is added to the end of the file: lines of their own, in its encoding. The error says what the file is in, and
    /// why the text can't be.
    pub fn added(self, text: &str) -> Result<Vec<u8>, String> {
        let start = if self.ended { "" } else { "\n" };
        let end = if text.ends_with(['\n', '\r']) || text.is_empty() { "" } else { "\n" };
        let text = self.with_line_ends(&format!("{start}{text}{end}"));
        match self.unknown {
            Some(unknown) if !(unknown.takes_ascii && text.is_ascii()) => Err(unknown.why.to_owned()),
            Some(_) => Ok(text.into_bytes()),
            None => self.encode(&text),
        }
    }

    /// The whole content in its encoding, with its mark. Where that isn't known, or the text itself says that it is in UTF-8,
    /// it is.
    pub fn whole(self, text: &str) -> Result<Vec<u8>, String> {
        if self.unknown.is_some() || names_utf_8(text) {
            return Ok(text.as_bytes().to_vec());
        }
        let marked = if text.is_empty() || text.starts_with('\u{feff}') { &[] } else { self.mark };
        Ok([marked, &self.encode(text)?].concat())
    }

    /// The text of bytes in its encoding, `None` if they are none.
    pub fn read(self, bytes: &[u8]) -> Option<String> {
        match self.unknown {
            Some(_) => String::from_utf8(bytes.to_vec()).ok(),
            None => self.encoding.decode_with_bom_removal(bytes).0.into_owned().into(),
        }
    }

    fn encode(self, text: &str) -> Result<Vec<u8>, String> {
        if self.encoding == UTF_16LE {
            return Ok(text.encode_utf16().flat_map(u16::to_le_bytes).collect());
        }
        if self.encoding == UTF_16BE {
            return Ok(text.encode_utf16().flat_map(u16::to_be_bytes).collect());
        }
        let (bytes, _, has_others) = self.encoding.encode(text);
        if !has_others {
            return Ok(bytes.into_owned());
        }
        let lacks = |letter: &char| self.encoding.encode(letter.encode_utf8(&mut [0; 4])).2;
        let letter = text.chars().find(lacks).unwrap_or('\u{fffd}');
        Err(format!("it is in {}, which has no `{letter}`", self.encoding.name()))
    }
}

fn encoding_of(bytes: &[u8]) -> (&'static Encoding, Option<Unknown>) {
    let unknown = |why, takes_ascii| (UTF_8, Some(Unknown { why, takes_ascii }));
    if bytes.starts_with(b"\xff\xfe\0\0") || bytes.starts_with(b"\0\0\xfe\xff") {
        return unknown("it is in UTF-32, which can't be written", false);
    }
    let Some(found) = decode(bytes.to_vec()) else {
        return unknown("it is no text", true);
    };
    match Encoding::for_label(found.encoding.as_bytes()) {
        None if found.encoding == BROKEN_UTF_8 => (UTF_8, None),
        Some(one) if one != REPLACEMENT => {
            // Letters of both.
            let has_utf_8 = bytes.utf8_chunks().any(|chunk| !chunk.valid().is_ascii());
            if one.is_single_byte() && has_utf_8 {
                return unknown("it has letters in more than one encoding", true);
            }
            (one, None)
        }
        // Encodings that nobody writes any more.
        _ => unknown("it is in an East Asian encoding of seven bits, which can't be written", true),
    }
}

/// Whether a page or XML says that it is in UTF-8.
fn names_utf_8(text: &str) -> bool {
    const WITHIN: usize = 1024;
    let head: String = text.trim_start().chars().take(WITHIN).filter(|letter| !"\"' ".contains(*letter)).collect();
    let head = head.to_ascii_lowercase();
    head.starts_with('<') && (head.contains("encoding=utf-8") || head.contains("charset=utf-8"))
}

const CR: u16 = 13;
const LF: u16 = 10;

#[derive(Default)]
struct Lines {
    all: usize,
    crlf: usize,
    returns: usize,
    before: u16,
}

impl Lines {
    fn see(&mut self, unit: u16) {
        if unit == LF {
            self.all += 1;
            self.crlf += usize::from(self.before == CR);
        }
        self.returns += usize::from(unit == CR);
        self.before = unit;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::TextForm;

    #[test]
    fn what_is_added_is_written_as_the_file_is() {
        let check = |old: &[u8], text: &str, expect: &[u8]| {
            assert_eq!(TextForm::of(old).added(text).unwrap(), expect, "{old:?} + {text:?}");
        };
        check(b"a\r\nb\r\n", "c\nd", b"c\r\nd\r\n");
        check(b"a\r\nb", "c\r\nd\r\n", b"\r\nc\r\nd\r\n");
        check(b"a\nb\n", "c", b"c\n");
        check(b"a\nb", "c", b"\nc\n");
        check(b"one line", "c", b"\nc\n");
        check(b"", "\u{e9}", b"\xc3\xa9\n");
        check(b"a\r\nb\r\nc\n", "d", b"d\r\n");
        check(b"a\rb\r", "c\nd", b"c\rd\r");
        check(b"a\rb", "c", b"\rc\r");
        check(b"\xff\xfea\0\r\0\n\0", "\u{e9}\n", b"\xe9\0\r\0\n\0");
        check(b"\xfe\xff\0a", "b", b"\0\n\0b\0\n");
        check(b"a\0b\0\r\0\n\0", "c", b"c\0\r\0\n\0");
        check(b"\xef\xbb\xbfa\r\n", "\u{e9}", b"\xc3\xa9\r\n");
        check(b"Gr\xf6\xdfe: 5\r\nStra\xdfe: Nord\r\n", "H\u{f6}he: 7", b"H\xf6he: 7\r\n");
        check(b"Gr\xf6\xdfe: 5\nStra\xdfe: Nord", "30 \u{20ac}", b"\n30 \x80\n");
        check("Gr\u{f6}\u{df}e, sch\u{f6}n \u{fc}ber".as_bytes(), "\u{e9}", b"\n\xc3\xa9\n");
        check(b"<?xml version=\"1.0\" encoding=\"iso-8859-1\"?>\n<a>\xfc</a>\n", "\u{e9}", b"\xe9\n");
    }

    #[test]
    fn east_asian_and_cyrillic_files_keep_their_encoding() {
        for (label, old, new) in [
            ("Shift_JIS", "会議は来週の火曜日に開催されます。\n", "場所は大阪です。\n"),
            ("EUC-JP", "会議は来週の火曜日に開催されます。\n", "場所は大阪です。\n"),
            ("ISO-2022-JP", "会議は来週の火曜日です。\n", "場所は大阪です。\n"),
            ("GBK", "会议将于下周二上午举行，请准时参加。\n", "地点不变。\n"),
            ("windows-1251", "Собрание жильцов начинается в семь часов вечера\n", "Подъезд два\n"),
        ] {
            let encoding = encoding_rs::Encoding::for_label(label.as_bytes()).unwrap();
            let form = TextForm::of(&encoding.encode(old).0);
            assert_eq!(form.added(new).unwrap(), encoding.encode(new).0.into_owned(), "{label}");
            assert_eq!(form.whole(new).unwrap(), encoding.encode(new).0.into_owned(), "{label}");
            assert_eq!(form.other_encoding(), Some(label));
        }
    }

    #[test]
    fn what_the_encoding_lacks_is_refused() {
        let refused = |old: &[u8], text: &str, why: &str| {
            let error = TextForm::of(old).added(text).unwrap_err();
            assert!(error.contains(why), "{error}");
        };
        refused(b"Gr\xf6\xdfe: 5\nStra\xdfe\n", "\u{4f1a}", "windows-1252, which has no `会`");
        refused(b"Gr\xf6\xdfe, Stra\xdfe, H\xc3\xb6he\n", "\u{f6}", "more than one encoding");
        refused(b"\x1b$)C\x0eH8@G\x0f\n", "\u{d68c}", "seven bits");
        refused(b"\xff\xfe\0\0a\0\0\0", "b", "UTF-32");
        refused(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01", "\u{f6}", "no text");
        assert_eq!(TextForm::of(b"Gr\xf6\xdfe, Stra\xdfe, H\xc3\xb6he\n").added("x").unwrap(), b"x\n");
    }

    #[test]
    fn a_whole_content_keeps_encoding_and_mark() {
        let check = |old: &[u8], text: &str, expect: &[u8]| {
            assert_eq!(TextForm::of(old).whole(text).unwrap(), expect, "{old:?} to {text:?}");
        };
        check(b"Gr\xf6\xdfe: 5\nStra\xdfe\n", "H\u{f6}he\n", b"H\xf6he\n");
        check(b"\xff\xfea\0", "\u{e9}", b"\xff\xfe\xe9\0");
        check(b"\xef\xbb\xbfa;b\n", "\u{e9}", b"\xef\xbb\xbf\xc3\xa9");
        check(b"\xef\xbb\xbfa;b\n", "\u{feff}x", b"\xef\xbb\xbfx");
        check(
            b"<p>Gr\xf6\xdfe, Stra\xdfe",
            "<meta charset=\"utf-8\">\u{e9}",
            "<meta charset=\"utf-8\">\u{e9}".as_bytes(),
        );
        check(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01", "\u{e9}", b"\xc3\xa9");
    }
}
