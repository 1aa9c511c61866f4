//! The text of RTF, and RTF as mails have it packed.

use super::numbers::u32_at;
use super::text::is_one_of;
use encoding_rs::{Encoding, WINDOWS_1252};

/// Groups that hold no text of the document.
const SILENT: &str = "fonttbl colortbl stylesheet info pict object header footer headerl headerr footerl footerr \
    themedata datastore latentstyles listtable listoverridetable rsidtbl generator xmlnstbl fldinst filetbl revtbl \
    colorschememapping htmltag mhtmltag";

#[derive(Clone, Copy)]
struct Group {
    silent: bool,
    /// Letters that follow a Unicode letter for programs that don't know it.
    skip: usize,
}

/// Paragraphs are lines; what can't be understood is left out.
pub(super) fn text(rtf: &[u8]) -> String {
    let mut reader = Reader { rest: rtf, out: String::new(), bytes: Vec::new(), encoding: WINDOWS_1252 };
    let mut groups = vec![Group { silent: false, skip: 1 }];
    let mut skip = 0_usize;
    while let Some((first, after)) = reader.rest.split_first() {
        reader.rest = after;
        let Some(group) = groups.last().copied() else { break };
        match first {
            b'{' => groups.push(group),
            b'}' => {
                groups.pop();
                skip = 0;
            }
            b'\\' => {
                let (word, number) = reader.control();
                if word == "*" || is_one_of(&word, SILENT) {
                    if let Some(group) = groups.last_mut() {
                        group.silent = true;
                    }
                } else if word == "uc" {
                    if let Some(group) = groups.last_mut() {
                        group.skip = number.and_then(|number| usize::try_from(number).ok()).unwrap_or(1);
                    }
                } else if skip > 0 && (word == "'" || word.len() == 1) {
                    skip -= 1;
                } else if !group.silent {
                    skip = if word == "u" { group.skip } else { skip };
                    reader.word(&word, number);
                }
            }
            b'\r' | b'\n' => {}
            _ if skip > 0 => skip -= 1,
            byte if !group.silent => reader.bytes.push(*byte),
            _ => {}
        }
    }
    reader.flush();
    reader.out
}

struct Reader<'a> {
    rest: &'a [u8],
    out: String,
    /// In the encoding of the file.
    bytes: Vec<u8>,
    encoding: &'static Encoding,
}

impl Reader<'_> {
    /// A control word with its number, or a control symbol.
    fn control(&mut self) -> (String, Option<i32>) {
        let letters = self.rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        if letters == 0 {
            let Some((symbol, after)) = self.rest.split_first() else { return (String::new(), None) };
            self.rest = after;
            if *symbol == b'\'' {
                let code = after.get(..2).and_then(|code| std::str::from_utf8(code).ok());
                self.rest = after.get(2..).unwrap_or_default();
                return ("'".to_owned(), code.and_then(|code| i32::from_str_radix(code, 16).ok()));
            }
            return (char::from(*symbol).to_string(), None);
        }
        let word = String::from_utf8_lossy(&self.rest[..letters]).into_owned();
        self.rest = &self.rest[letters..];
        let digits =
            self.rest.iter().enumerate().take_while(|(at, byte)| byte.is_ascii_digit() || *at == 0 && **byte == b'-');
        let digits = digits.count();
        let number = std::str::from_utf8(&self.rest[..digits]).ok().and_then(|digits| digits.parse().ok());
        self.rest = &self.rest[digits..];
        self.rest = self.rest.strip_prefix(b" ").unwrap_or(self.rest);
        (word, number)
    }

    fn flush(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        self.out.push_str(&self.encoding.decode_without_bom_handling(&bytes).0);
    }

    fn word(&mut self, word: &str, number: Option<i32>) {
        match word {
            "'" => self.bytes.extend(number.and_then(|number| u8::try_from(number).ok())),
            "\\" | "{" | "}" => self.bytes.extend(word.bytes()),
            "ansicpg" => {
                let label = format!("windows-{}", number.unwrap_or(1252));
                self.encoding = Encoding::for_label(label.as_bytes()).unwrap_or(WINDOWS_1252);
            }
            "u" => {
                self.flush();
                // Above 32,767 it is written as a negative number.
                let unit = number.and_then(|number| u32::try_from(number & 0xffff).ok());
                self.out.extend(unit.and_then(char::from_u32));
            }
            _ => {
                let text = match word {
                    "par" | "sect" | "page" => "\n\n",
                    "line" | "row" => "\n",
                    "tab" | "cell" => "\t",
                    "~" => " ",
                    "_" => "-",
                    "emdash" => "—",
                    "endash" => "–",
                    "bullet" => "•",
                    "lquote" => "‘",
                    "rquote" => "’",
                    "ldblquote" => "“",
                    "rdblquote" => "”",
                    _ => return,
                };
                self.flush();
                self.out.push_str(text);
            }
        }
    }
}

const PACKED: u32 = 0x7546_5a4c;
const PLAIN: u32 = 0x414c_454d;
const RING: usize = 4096;
/// What the ring is filled with at first.
const DICTIONARY: &[u8] = b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx";

/// Packed RTF of a mail, `None` if it is none. It grows by less than nine times.
pub(super) fn unpacked(packed: &[u8]) -> Option<Vec<u8>> {
    let kind = u32_at(packed, 8)?;
    let data = packed.get(16..)?;
    match kind {
        PLAIN => return Some(data.to_vec()),
        PACKED => {}
        _ => return None,
    }
    let mut ring = [0_u8; RING];
    ring[..DICTIONARY.len()].copy_from_slice(DICTIONARY);
    let (mut write, mut out, mut at) = (DICTIONARY.len(), Vec::new(), 0);
    while let Some(flags) = data.get(at) {
        at += 1;
        for bit in 0..8 {
            if flags & (1 << bit) == 0 {
                let Some(byte) = data.get(at) else { return Some(out) };
                at += 1;
                ring[write] = *byte;
                write = (write + 1) % RING;
                out.push(*byte);
                continue;
            }
            let Some(pair) = data.get(at..at + 2) else { return Some(out) };
            at += 2;
            let reference = usize::from(u16::from_be_bytes([pair[0], pair[1]]));
            let (offset, length) = (reference >> 4, (reference & 15) + 2);
            if offset == write {
                return Some(out);
            }
            for step in 0..length {
                let byte = ring[(offset + step) % RING];
                ring[write] = byte;
                write = (write + 1) % RING;
                out.push(byte);
            }
        }
    }
    Some(out)
}
