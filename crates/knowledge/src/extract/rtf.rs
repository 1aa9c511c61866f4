//! The text of RTF, and RTF as mails have it packed.

use super::draft::Draft;
use super::error::Result;
use super::mail::body_text;
use super::numbers::u32_at;
use super::office::Remark;
use super::text::is_one_of;
use encoding_rs::{Encoding, WINDOWS_1252};

/// Groups that hold no text of the document.
const SILENT: &str = "fonttbl colortbl stylesheet info object themedata datastore latentstyles listtable \
    listoverridetable rsidtbl generator xmlnstbl fldinst filetbl revtbl colorschememapping htmltag mhtmltag";

/// What a text in RTF says.
#[derive(Debug, Default)]
pub(super) struct Rtf {
    pub header: String,
    /// Comments stand behind their paragraphs.
    pub body: String,
    pub footer: String,
    pub pictures: usize,
    pub has_object: bool,
}

/// What a group is a part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Body,
    Header,
    Footer,
    Comment,
    Author,
    Nowhere,
}

#[derive(Clone, Copy)]
struct Group {
    place: Place,
    /// Letters that follow a Unicode letter for programs that don't know it.
    skip: usize,
}

/// Adds the paragraphs of a text in RTF.
pub(super) fn read(rtf: &[u8], draft: &mut Draft<'_>) -> Result<()> {
    let found = parse(rtf);
    (0..found.pictures).for_each(|_| draft.count_picture());
    if found.has_object {
        draft.warn("An object of another program in it is not read. Add it as a file of its own.");
    }
    [found.header, found.body, found.footer].iter().try_for_each(|text| body_text(text, draft))
}

/// Paragraphs are lines; what can't be understood is left out.
fn parse(rtf: &[u8]) -> Rtf {
    let mut reader = Reader::new(rtf);
    let mut groups = vec![Group { place: Place::Body, skip: 1 }];
    let mut skip = 0_usize;
    while let Some((first, after)) = reader.rest.split_first() {
        reader.rest = after;
        let Some(group) = groups.last().copied() else { break };
        match first {
            b'{' => groups.push(group),
            b'}' => {
                groups.pop();
                let outer = groups.last().map_or(Place::Nowhere, |group| group.place);
                reader.leave(group.place, outer);
                skip = 0;
            }
            b'\\' => {
                let (word, number) = reader.control();
                if word == "shppict" || word == "pict" && group.place == Place::Body {
                    reader.found.pictures += 1;
                }
                reader.found.has_object |= word == "object";
                if let Some(place) = place_of(&word) {
                    // The text of a drawing stands in a group that old programs skip.
                    let is_kept =
                        group.place != Place::Nowhere || matches!(place, Place::Comment | Place::Author | Place::Body);
                    if let Some(group) = groups.last_mut().filter(|_| is_kept) {
                        group.place = place;
                    }
                    reader.enter(place);
                } else if word == "uc" {
                    if let Some(group) = groups.last_mut() {
                        group.skip = number.and_then(|number| usize::try_from(number).ok()).unwrap_or(1);
                    }
                } else if skip > 0 && (word == "'" || word.len() == 1) {
                    skip -= 1;
                } else if group.place != Place::Nowhere {
                    reader.enter(group.place);
                    skip = if word == "u" { group.skip } else { skip };
                    reader.word(&word, number);
                }
            }
            b'\r' | b'\n' => {}
            _ if skip > 0 => skip -= 1,
            byte if group.place != Place::Nowhere => {
                reader.enter(group.place);
                reader.bytes.push(*byte);
            }
            _ => {}
        }
    }
    reader.flush();
    reader.end_paragraph();
    reader.found
}

/// Where the text of a group goes that begins with this word; `None`: where that around it goes.
fn place_of(word: &str) -> Option<Place> {
    Some(match word {
        "header" | "headerl" | "headerr" | "headerf" => Place::Header,
        "footer" | "footerl" | "footerr" | "footerf" => Place::Footer,
        "annotation" => Place::Comment,
        "atnauthor" => Place::Author,
        "shptxt" => Place::Body,
        "pict" | "nonshppict" | "*" => Place::Nowhere,
        word if is_one_of(word, SILENT) => Place::Nowhere,
        _ => return None,
    })
}

struct Reader<'a> {
    rest: &'a [u8],
    found: Rtf,
    /// Where the text goes that comes.
    place: Place,
    author: String,
    comment: String,
    /// Comments on the paragraph that is open.
    after: Vec<String>,
    /// In the encoding of the file.
    bytes: Vec<u8>,
    encoding: &'static Encoding,
}

impl<'a> Reader<'a> {
    fn new(rest: &'a [u8]) -> Self {
        Self {
            rest,
            found: Rtf::default(),
            place: Place::Body,
            author: String::new(),
            comment: String::new(),
            after: Vec::new(),
            bytes: Vec::new(),
            encoding: WINDOWS_1252,
        }
    }

    fn out(&mut self) -> &mut String {
        match self.place {
            Place::Header => &mut self.found.header,
            Place::Footer => &mut self.found.footer,
            Place::Comment => &mut self.comment,
            Place::Author => &mut self.author,
            Place::Body | Place::Nowhere => &mut self.found.body,
        }
    }

    fn enter(&mut self, place: Place) {
        if place != self.place && place != Place::Nowhere {
            self.flush();
            self.place = place;
        }
    }

    /// At the end of a group.
    fn leave(&mut self, inner: Place, outer: Place) {
        if inner == outer {
            return;
        }
        self.flush();
        match inner {
            Place::Comment => {
                let (author, text) = (std::mem::take(&mut self.author), std::mem::take(&mut self.comment));
                if !text.trim().is_empty() {
                    self.after.push(Remark { author, text }.written(""));
                }
            }
            Place::Header => self.found.header.push_str("\n\n"),
            Place::Footer => self.found.footer.push_str("\n\n"),
            _ => {}
        }
    }

    fn end_paragraph(&mut self) {
        for comment in std::mem::take(&mut self.after) {
            self.found.body.push_str("\n\n");
            self.found.body.push_str(&comment);
        }
    }

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
        let text = self.encoding.decode_without_bom_handling(&bytes).0;
        self.out().push_str(&text);
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
                self.out().extend(unit.and_then(char::from_u32));
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
                if word == "par" && self.place == Place::Body {
                    self.end_paragraph();
                }
                self.out().push_str(text);
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
