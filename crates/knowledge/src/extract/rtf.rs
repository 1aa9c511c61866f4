//! The text of RTF.

mod fonts;
mod form;
mod packed;

pub(super) use packed::unpacked;

use super::draft::Draft;
use super::error::Result;
use super::mail::body_text;
use super::office::Remark;
use super::rich_text::{RichText, Script, TextStyle};
use super::text::is_one_of;
use fonts::Fonts;
use form::FormField;

/// Groups that hold no text of the document.
const SILENT: &str = "colortbl stylesheet info object themedata datastore latentstyles listtable \
    listoverridetable rsidtbl generator xmlnstbl fldinst filetbl revtbl colorschememapping htmltag mhtmltag";

/// What a text in RTF says.
#[derive(Debug, Default)]
struct Rtf {
    header: String,
    /// Notes and comments stand behind their paragraphs.
    body: String,
    footer: String,
    pictures: usize,
    has_object: bool,
    has_unknown_letters: bool,
}

/// What a group is a part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Body,
    Header,
    Footer,
    Note,
    Comment,
    Author,
    Fonts,
    /// Entries of a list in a form.
    Entry,
    Nowhere,
}

#[derive(Clone, Copy)]
struct Group {
    place: Place,
    /// Letters that follow a Unicode letter for programs that don't know it.
    skip: usize,
    look: Look,
}

/// How the text of a group looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Look {
    style: TextStyle,
    font: Option<i32>,
    /// It was deleted while changes are tracked.
    is_deleted: bool,
}

impl Look {
    /// Takes a word that changes it; whether it is one.
    fn read_word(&mut self, word: &str, number: Option<i32>) -> bool {
        let is_on = number != Some(0);
        match word {
            "plain" => *self = Self::default(),
            "f" => self.font = number,
            "deleted" => self.is_deleted = is_on,
            "strike" | "striked" => self.style.is_struck = is_on,
            "super" | "up" if is_on => self.style.script = Script::Raised,
            "sub" | "dn" if is_on => self.style.script = Script::Lowered,
            "super" | "up" | "sub" | "dn" | "nosupersub" => self.style.script = Script::Normal,
            _ => return false,
        }
        true
    }
}

/// Adds the paragraphs of a text in RTF.
pub(super) fn read(rtf: &[u8], draft: &mut Draft<'_>) -> Result<()> {
    let found = parse(rtf);
    (0..found.pictures).for_each(|_| draft.count_picture());
    if found.has_object {
        draft.warn("An object of another program in it is not read. Add it as a file of its own.");
    }
    if found.has_unknown_letters {
        draft.warn(
            "Some of its letters are of fonts whose encoding isn't known, and are not read. Save it as DOCX, and add that.",
        );
    }
    [found.header, found.body, found.footer].iter().try_for_each(|text| body_text(text, draft))
}

/// Paragraphs are lines; what can't be understood is left out.
fn parse(rtf: &[u8]) -> Rtf {
    let mut reader = Reader::new(rtf);
    let mut groups = vec![Group { place: Place::Body, skip: 1, look: Look::default() }];
    let mut skip = 0_usize;
    while let Some((first, after)) = reader.rest.split_first() {
        reader.rest = after;
        let Some(group) = groups.last().copied() else { break };
        match first {
            b'{' => groups.push(group),
            b'}' => {
                if let Some(shown) = reader.form.end(groups.len()) {
                    reader.enter(group.place, group.look);
                    reader.decode();
                    reader.push(&shown);
                }
                groups.pop();
                if let Some(outer) = groups.last() {
                    reader.leave(group.place, *outer);
                }
                skip = 0;
            }
            b'\\' => {
                let (word, number) = reader.control();
                reader.note_content(&word, number, group.place);
                if word == "field" && group.place != Place::Nowhere {
                    reader.form = FormField::begin(groups.len());
                }
                if let Some(place) = place_of(&word) {
                    // The text of a drawing stands in a group that old programs skip.
                    let is_kept = group.place != Place::Nowhere
                        || matches!(place, Place::Comment | Place::Author | Place::Body | Place::Entry);
                    if let Some(group) = groups.last_mut().filter(|_| is_kept) {
                        group.place = place;
                        if place == Place::Note {
                            group.look.style = TextStyle::default();
                        }
                        reader.enter(place, group.look);
                    }
                } else if group.place == Place::Fonts {
                    reader.fonts.read_word(&word, number);
                } else if word == "uc" {
                    if let Some(group) = groups.last_mut() {
                        group.skip = number.and_then(|number| usize::try_from(number).ok()).unwrap_or(1);
                    }
                } else if skip > 0 && (word == "'" || word.len() == 1) {
                    skip -= 1;
                } else if let Some(group) = groups.last_mut()
                    && group.look.read_word(&word, number)
                {
                    if group.place != Place::Nowhere {
                        reader.enter(group.place, group.look);
                    }
                } else if group.place != Place::Nowhere {
                    reader.enter(group.place, group.look);
                    skip = if word == "u" { group.skip } else { skip };
                    reader.word(&word, number);
                }
            }
            b'\r' | b'\n' => {}
            _ if skip > 0 => skip -= 1,
            byte if group.place == Place::Fonts => reader.fonts.read_name(*byte),
            byte if group.place != Place::Nowhere => {
                reader.enter(group.place, group.look);
                reader.bytes.push(*byte);
            }
            _ => {}
        }
    }
    reader.finish()
}

/// Where the text of a group goes that begins with this word; `None`: where that around it goes.
fn place_of(word: &str) -> Option<Place> {
    Some(match word {
        "header" | "headerl" | "headerr" | "headerf" => Place::Header,
        "footer" | "footerl" | "footerr" | "footerf" => Place::Footer,
        "footnote" => Place::Note,
        "annotation" => Place::Comment,
        "atnauthor" => Place::Author,
        "fonttbl" => Place::Fonts,
        "shptxt" => Place::Body,
        "ffl" => Place::Entry,
        "pict" | "nonshppict" | "*" => Place::Nowhere,
        word if is_one_of(word, SILENT) => Place::Nowhere,
        _ => return None,
    })
}

struct Reader<'a> {
    rest: &'a [u8],
    found: Rtf,
    fonts: Fonts,
    usual_font: Option<i32>,
    /// Where the text goes that comes, and how it looks.
    place: Place,
    look: Look,
    author: String,
    comment: String,
    note: String,
    /// Footnotes and endnotes.
    notes: [u32; 2],
    is_endnote: bool,
    form: FormField,
    entry: String,
    /// Comments and notes on the paragraph that is open.
    after: Vec<String>,
    /// In the encoding of the font.
    bytes: Vec<u8>,
    /// The first half of a letter that is written in two.
    first_half: Option<u16>,
    /// What goes to its place next.
    text: RichText,
}

impl<'a> Reader<'a> {
    fn new(rest: &'a [u8]) -> Self {
        Self {
            rest,
            found: Rtf::default(),
            fonts: Fonts::new(),
            usual_font: None,
            place: Place::Body,
            look: Look::default(),
            author: String::new(),
            comment: String::new(),
            note: String::new(),
            notes: [0; 2],
            is_endnote: false,
            form: FormField::default(),
            entry: String::new(),
            after: Vec::new(),
            bytes: Vec::new(),
            first_half: None,
            text: RichText::default(),
        }
    }

    fn finish(mut self) -> Rtf {
        self.flush();
        self.end_paragraph();
        self.found.has_unknown_letters = self.fonts.has_unknown;
        self.found
    }

    fn out(&mut self) -> &mut String {
        match self.place {
            Place::Header => &mut self.found.header,
            Place::Footer => &mut self.found.footer,
            Place::Note => &mut self.note,
            Place::Comment => &mut self.comment,
            Place::Author => &mut self.author,
            Place::Entry => &mut self.entry,
            Place::Body | Place::Fonts | Place::Nowhere => &mut self.found.body,
        }
    }

    /// Text comes that goes there and looks so.
    fn enter(&mut self, place: Place, look: Look) {
        if matches!(place, Place::Nowhere | Place::Fonts) {
            return;
        }
        if place != self.place {
            self.flush();
            self.place = place;
        }
        if look != self.look {
            self.decode();
            self.look = look;
        }
    }

    /// At the end of a group of this place.
    fn leave(&mut self, inner: Place, outer: Group) {
        if inner == outer.place {
            self.enter(inner, outer.look);
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
            Place::Note => {
                let text = std::mem::take(&mut self.note);
                let is_endnote = std::mem::take(&mut self.is_endnote);
                if !text.trim().is_empty() {
                    let number = &mut self.notes[usize::from(is_endnote)];
                    *number += 1;
                    let kind = if is_endnote { "Endnote" } else { "Footnote" };
                    self.after.push(format!("{kind} {number}: {}", text.trim()));
                }
            }
            Place::Entry => self.form.entries.push(std::mem::take(&mut self.entry)),
            Place::Header => self.found.header.push_str("\n\n"),
            Place::Footer => self.found.footer.push_str("\n\n"),
            _ => {}
        }
        self.enter(outer.place, outer.look);
    }

    fn end_paragraph(&mut self) {
        for text in std::mem::take(&mut self.after) {
            self.found.body.push_str("\n\n");
            self.found.body.push_str(&text);
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

    /// Takes what a word says of the whole file.
    fn note_content(&mut self, word: &str, number: Option<i32>, place: Place) {
        match word {
            "shppict" => self.found.pictures += 1,
            "pict" if place == Place::Body => self.found.pictures += 1,
            "object" => self.found.has_object = true,
            "ftnalt" => self.is_endnote = true,
            "fldrslt" => self.form.note_result(self.rest),
            "deff" => self.usual_font = number,
            "mac" => self.fonts.set_code_page(10_000),
            "ansicpg" => self.fonts.set_code_page(number.unwrap_or(1252)),
            // Bytes that may be anything.
            "bin" => {
                let length = number.and_then(|number| usize::try_from(number).ok()).unwrap_or(0);
                self.rest = self.rest.get(length..).unwrap_or_default();
            }
            _ => self.form.read_word(word, number),
        }
    }

    fn font(&self) -> Option<i32> {
        self.look.font.or(self.usual_font)
    }

    /// Adds the bytes that came so far.
    fn decode(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        if !bytes.is_empty() {
            let font = self.font();
            let text = self.fonts.decode(&bytes, font);
            self.push(&text);
        }
    }

    fn push(&mut self, text: &str) {
        if !self.look.is_deleted {
            self.text.add(text, self.look.style);
        }
    }

    fn flush(&mut self) {
        self.decode();
        let text = self.text.take();
        self.out().push_str(&text);
    }

    fn word(&mut self, word: &str, number: Option<i32>) {
        match word {
            "'" => self.bytes.extend(number.and_then(|number| u8::try_from(number).ok())),
            "\\" | "{" | "}" => self.bytes.extend(word.bytes()),
            "u" => {
                self.decode();
                // Above 32,767 it is written as a negative number, above 65,535 in two halves.
                let Some(unit) = number.and_then(|number| u16::try_from(number & 0xffff).ok()) else { return };
                if (0xd800..0xdc00).contains(&unit) {
                    self.first_half = Some(unit);
                    return;
                }
                let units = self.first_half.take().into_iter().chain([unit]);
                let text: String = char::decode_utf16(units).filter_map(std::result::Result::ok).collect();
                let font = self.font();
                let text = self.fonts.show(text, font);
                self.push(&text);
            }
            "chftn" if self.place == Place::Body => {
                self.decode();
                let number = (self.notes[0] + 1).to_string();
                if !self.look.is_deleted {
                    self.text.add(&number, TextStyle { script: Script::Raised, is_struck: false });
                }
            }
            "par" if self.place == Place::Body && !self.look.is_deleted => {
                self.flush();
                self.end_paragraph();
                self.found.body.push_str("\n\n");
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
                self.decode();
                self.push(text);
            }
        }
    }
}
