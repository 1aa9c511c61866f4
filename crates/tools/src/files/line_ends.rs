//! How the text of a file is written, so that what is written into it later is written alike.

type UnitBytes = fn(u16) -> [u8; 2];

/// How a file writes its text, by its byte order mark and its line ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextForm {
    utf_16: Option<UnitBytes>,
    /// Most lines end in CRLF.
    crlf: bool,
    /// The last line has its end.
    pub ended: bool,
}

impl TextForm {
    pub fn of(bytes: &[u8]) -> Self {
        let (utf_16, rest): (Option<UnitBytes>, _) = match bytes {
            [0xff, 0xfe, rest @ ..] => (Some(u16::to_le_bytes), rest),
            [0xfe, 0xff, rest @ ..] => (Some(u16::to_be_bytes), rest),
            _ => (None, bytes),
        };
        let mut lines = Lines::default();
        match utf_16 {
            Some(form) if form(1) == [1, 0] => {
                rest.chunks_exact(2).for_each(|two| lines.see(u16::from_le_bytes([two[0], two[1]])));
            }
            Some(_) => rest.chunks_exact(2).for_each(|two| lines.see(u16::from_be_bytes([two[0], two[1]]))),
            None => rest.iter().for_each(|byte| lines.see(u16::from(*byte))),
        }
        Self { utf_16, crlf: lines.crlf * 2 > lines.all, ended: lines.before == LF || rest.is_empty() }
    }

    pub fn has_crlf(self) -> bool {
        self.crlf
    }

    /// `text` with the line ends of the file; those that it has as CRLF already stay.
    pub fn with_line_ends(self, text: &str) -> String {
        if !self.crlf {
            return text.to_owned();
        }
        let mut out = String::with_capacity(text.len() + text.len() / 16);
        let mut before = '\0';
        for letter in text.chars() {
            if letter == '\n' && before != '\r' {
                out.push('\r');
            }
            out.push(letter);
            before = letter;
        }
        out
    }

    /// What is added to the end of the file: lines of their own, in its encoding.
    pub fn added(self, text: &str) -> Vec<u8> {
        let start = if self.ended { "" } else { "\n" };
        let end = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
        let text = self.with_line_ends(&format!("{start}{text}{end}"));
        match self.utf_16 {
            Some(form) => text.encode_utf16().flat_map(form).collect(),
            None => text.into_bytes(),
        }
    }
}

const CR: u16 = 13;
const LF: u16 = 10;

#[derive(Default)]
struct Lines {
    all: usize,
    crlf: usize,
    before: u16,
}

impl Lines {
    fn see(&mut self, unit: u16) {
        if unit == LF {
            self.all += 1;
            self.crlf += usize::from(self.before == CR);
        }
        self.before = unit;
    }
}

#[cfg(test)]
mod tests {
    use super::TextForm;

    #[test]
    fn what_is_added_is_written_as_the_file_is() {
        let check = |old: &[u8], text: &str, expect: &[u8]| {
            assert_eq!(TextForm::of(old).added(text), expect, "{old:?} + {text:?}");
        };
        check(b"a\r\nb\r\n", "c\nd", b"c\r\nd\r\n");
        check(b"a\r\nb", "c\r\nd\r\n", b"\r\nc\r\nd\r\n");
        check(b"a\nb\n", "c", b"c\n");
        check(b"a\nb", "c", b"\nc\n");
        check(b"one line", "c", b"\nc\n");
        check(b"", "c", b"c\n");
        check(b"a\r\nb\r\nc\n", "d", b"d\r\n");
        check(b"\xff\xfea\0\r\0\n\0", "\u{e9}\n", b"\xe9\0\r\0\n\0");
        check(b"\xfe\xff\0a", "b", b"\0\n\0b\0\n");
        check(b"\xef\xbb\xbfa\r\n", "b", b"b\r\n");
    }
}
