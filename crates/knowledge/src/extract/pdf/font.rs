//! Fonts as far as text needs them: how a string falls into codes, what each shows, and how wide it is.

use super::cmap::CMap;
use super::encoding;
use encoding_rs::{BIG5, EUC_JP, EUC_KR, GBK, SHIFT_JIS};
use hayro_syntax::object::{Array, Dict, Name, Object, Stream};
use std::collections::HashMap;

/// Most of a font program that is searched for its encoding.
const PROGRAM: usize = 1 << 20;
/// Descriptor flags.
const FIXED_PITCH: i32 = 1;
const SYMBOLIC: i32 = 1 << 2;
const FORCE_BOLD: i32 = 1 << 18;
const HEAVY: f32 = 600.0;

#[derive(Debug)]
pub(super) struct Font {
    to_text: Option<CMap>,
    codes: Codes,
    pub is_mono: bool,
    pub is_bold: bool,
    /// Of a width: thousandths, but for fonts whose glyphs are drawings.
    scale: f32,
}

#[derive(Debug)]
enum Codes {
    Simple { texts: HashMap<u8, String>, widths: HashMap<u8, f32>, missing: f32 },
    Composite { kind: Composite, widths: HashMap<u32, f32>, default: f32 },
}

#[derive(Debug)]
enum Composite {
    /// Two bytes are the number of a glyph.
    Identity,
    Table(CMap),
    /// Codes are text themselves.
    Utf16,
    Legacy(&'static encoding_rs::Encoding),
}

/// A code of a string.
pub(super) struct Shown {
    /// `None` if the font doesn't say what it shows.
    pub text: Option<String>,
    /// In parts of the font's size.
    pub width: f32,
    pub is_space: bool,
}

fn string(name: Option<Name<'_>>) -> String {
    name.map(|name| String::from_utf8_lossy(name.as_ref()).into_owned()).unwrap_or_default()
}

impl Font {
    pub fn read(dict: &Dict<'_>, decode: &dyn Fn(&Stream<'_>) -> Option<Vec<u8>>) -> Self {
        let kind = string(dict.get::<Name<'_>>("Subtype"));
        let name = string(dict.get::<Name<'_>>("BaseFont"));
        let to_text =
            dict.get::<Stream<'_>>("ToUnicode").and_then(|stream| decode(&stream)).map(|bytes| CMap::read(&bytes));
        let below = dict.get::<Array<'_>>("DescendantFonts").and_then(|fonts| fonts.iter::<Dict<'_>>().next());
        let descriptor = &below.as_ref().unwrap_or(dict).get::<Dict<'_>>("FontDescriptor").unwrap_or_default();
        let flags = descriptor.get::<i32>("Flags").unwrap_or(0);
        let lower = name.to_ascii_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let is_mono = flags & FIXED_PITCH != 0
            || has(&["mono", "courier", "typewriter", "cmtt", "consol", "menlo", "lmtt", "fixed"]);
        let is_bold = flags & FORCE_BOLD != 0
            || has(&["bold", "black", "heavy", "cmbx", "demi", "sfbx"])
            || descriptor.get::<f32>("FontWeight").is_some_and(|weight| weight >= HEAVY);
        let codes = match &below {
            Some(below) if kind == "Type0" => composite(dict, below, decode),
            _ => Simple { dict, descriptor, kind: &kind, name: &name, flags, decode }.codes(),
        };
        let matrix = dict.get::<Array<'_>>("FontMatrix").and_then(|matrix| matrix.iter::<f32>().next());
        let scale = if kind == "Type3" { matrix.unwrap_or(0.001).abs() } else { 0.001 };
        Self { to_text, codes, is_mono, is_bold, scale }
    }

    /// Calls `show` for each code of a string.
    pub fn show(&self, string: &[u8], mut show: impl FnMut(Shown)) {
        let mut rest = string;
        while !rest.is_empty() {
            let (code, length) = self.code(rest);
            let bytes = &rest[..length];
            rest = &rest[length..];
            let text = self.to_text.as_ref().and_then(|map| map.text(code)).or_else(|| self.own_text(code, bytes));
            let text = text.filter(|text| !text.contains(['\0', char::REPLACEMENT_CHARACTER]));
            show(Shown { text, width: self.width(code) * self.scale, is_space: length == 1 && code == 32 });
        }
    }

    fn code(&self, rest: &[u8]) -> (u32, usize) {
        let first = u32::from(rest[0]);
        let pair = |length: usize| match rest.get(1) {
            Some(second) if length == 2 => (first << 8 | u32::from(*second), 2),
            _ => (first, 1),
        };
        match &self.codes {
            Codes::Simple { .. } => (first, 1),
            Codes::Composite { kind: Composite::Identity | Composite::Utf16, .. } => pair(2),
            Codes::Composite { kind: Composite::Table(map), .. } => map.code(rest).unwrap_or_else(|| pair(2)),
            Codes::Composite { kind: Composite::Legacy(encoding), .. } => {
                let is_lead = match first {
                    0..=0x80 | 0xff => false,
                    0xa0..=0xdf => *encoding != SHIFT_JIS,
                    _ => true,
                };
                pair(if is_lead { 2 } else { 1 })
            }
        }
    }

    fn own_text(&self, code: u32, bytes: &[u8]) -> Option<String> {
        match &self.codes {
            Codes::Simple { texts, .. } => texts.get(&u8::try_from(code).ok()?).cloned(),
            Codes::Composite { kind: Composite::Utf16, .. } => char::from_u32(code).map(encoding::expanded),
            Codes::Composite { kind: Composite::Legacy(encoding), .. } => {
                Some(encoding.decode_without_bom_handling(bytes).0.into_owned())
            }
            Codes::Composite { .. } => None,
        }
    }

    fn width(&self, code: u32) -> f32 {
        match &self.codes {
            Codes::Simple { widths, missing, .. } => {
                u8::try_from(code).ok().and_then(|code| widths.get(&code).copied()).unwrap_or(*missing)
            }
            Codes::Composite { kind, widths, default } => {
                let glyph = match kind {
                    Composite::Table(map) => map.glyph(code).unwrap_or(code),
                    _ => code,
                };
                let half = matches!(kind, Composite::Legacy(_)) && code < 0x100;
                widths.get(&glyph).copied().unwrap_or(if half { default / 2.0 } else { *default })
            }
        }
    }
}

fn composite(dict: &Dict<'_>, below: &Dict<'_>, decode: &dyn Fn(&Stream<'_>) -> Option<Vec<u8>>) -> Codes {
    let kind = match dict.get::<Stream<'_>>("Encoding").and_then(|stream| decode(&stream)) {
        Some(bytes) => Composite::Table(CMap::read(&bytes)),
        None => predefined(&string(dict.get::<Name<'_>>("Encoding"))),
    };
    let widths = below.get::<Array<'_>>("W").map(|list| glyph_widths(&list)).unwrap_or_default();
    Codes::Composite { kind, widths, default: below.get::<f32>("DW").unwrap_or(1000.0) }
}

/// Tables that every program is to have. Those of Unicode and of older encodings need no table here.
fn predefined(name: &str) -> Composite {
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    match () {
        () if name.starts_with("Uni") => Composite::Utf16,
        () if has(&["GB", "GBK"]) => Composite::Legacy(GBK),
        () if has(&["B5", "ETen", "HKscs"]) => Composite::Legacy(BIG5),
        () if has(&["KSC"]) => Composite::Legacy(EUC_KR),
        () if has(&["RKSJ"]) => Composite::Legacy(SHIFT_JIS),
        () if name.starts_with("EUC") => Composite::Legacy(EUC_JP),
        () => Composite::Identity,
    }
}

/// A list of `first [width …]` and `first last width`.
fn glyph_widths(array: &Array<'_>) -> HashMap<u32, f32> {
    let mut widths = HashMap::new();
    let mut items = array.iter::<Object<'_>>();
    while let Some(first) = items.next() {
        let Some(first) = number(&first) else { continue };
        match items.next() {
            Some(Object::Array(several)) => {
                widths.extend((first..).zip(several.iter::<f32>()));
            }
            Some(last) => {
                let (Some(last), Some(width)) = (number(&last), items.next().and_then(Object::into_f32)) else { break };
                widths.extend((first..=last.min(first.saturating_add(0xffff))).map(|glyph| (glyph, width)));
            }
            None => break,
        }
        if widths.len() > 0x20_0000 {
            break;
        }
    }
    widths
}

fn number(object: &Object<'_>) -> Option<u32> {
    match object {
        Object::Number(number) => u32::try_from(number.as_i64()).ok(),
        _ => None,
    }
}

/// A font whose codes are bytes, as it is read.
struct Simple<'f> {
    dict: &'f Dict<'f>,
    descriptor: &'f Dict<'f>,
    kind: &'f str,
    name: &'f str,
    flags: i32,
    decode: &'f dyn Fn(&Stream<'_>) -> Option<Vec<u8>>,
}

impl Simple<'_> {
    fn codes(&self) -> Codes {
        let names = self.glyph_names();
        let texts = names.iter().filter_map(|(code, glyph)| encoding::text(glyph).map(|text| (*code, text))).collect();
        let first = self.dict.get::<i32>("FirstChar").and_then(|first| u8::try_from(first).ok()).unwrap_or(0);
        let mut missing = self.descriptor.get::<f32>("MissingWidth").unwrap_or(0.0);
        let widths = if let Some(list) = self.dict.get::<Array<'_>>("Widths") {
            (first..=u8::MAX).zip(list.iter::<f32>()).collect()
        } else {
            let standard = encoding::standard_widths(self.name);
            missing = if standard.is_some() { 500.0 } else { 600.0 };
            let width = |glyph: &String| standard.and_then(|widths| widths.get(glyph.as_str()).copied());
            names.iter().filter_map(|(code, glyph)| width(glyph).map(|width| (*code, width))).collect()
        };
        Codes::Simple { texts, widths, missing }
    }

    /// The names of the glyphs by their codes: those of its base, and those that it names itself.
    fn glyph_names(&self) -> HashMap<u8, String> {
        let Self { dict, descriptor, kind, name, flags, decode } = *self;
        let own = dict.get::<Dict<'_>>("Encoding");
        let base = own.as_ref().map_or_else(|| dict.get("Encoding"), |own| own.get("BaseEncoding"));
        let is_embedded = ["FontFile", "FontFile2", "FontFile3"].iter().any(|key| descriptor.contains_key(key));
        let mut differences = HashMap::new();
        let base = match string(base).as_str() {
            "WinAnsiEncoding" => "WinAnsi",
            "MacRomanEncoding" => "MacRoman",
            "StandardEncoding" => "Standard",
            _ if name.contains("Symbol") && !is_embedded => "Symbol",
            _ if name.contains("Dingbats") => "ZapfDingbats",
            _ => {
                let program = descriptor.get::<Stream<'_>>("FontFile").and_then(|stream| decode(&stream));
                if let Some(program) = program {
                    differences = built_in(&program[..program.len().min(PROGRAM)]);
                }
                // What a TrueType font doesn't say is mostly what Windows would.
                let western = kind == "TrueType" && (flags & SYMBOLIC == 0 || differences.is_empty());
                if western { "WinAnsi" } else { "Standard" }
            }
        };
        let mut code = 0_u8;
        let list = own.and_then(|own| own.get::<Array<'_>>("Differences"));
        for item in list.iter().flat_map(hayro_syntax::object::Array::iter::<Object<'_>>) {
            match item {
                Object::Number(number) => code = u8::try_from(number.as_i64()).unwrap_or(0),
                Object::Name(glyph) => {
                    differences.insert(code, string(Some(glyph)));
                    code = code.wrapping_add(1);
                }
                _ => {}
            }
        }
        let mut names = encoding::named(base);
        names.extend(differences);
        names
    }
}

/// The encoding that stands in the readable part of a Type 1 font: `dup 65 /A put`.
fn built_in(program: &[u8]) -> HashMap<u8, String> {
    let end = program.windows(5).position(|five| five == b"eexec").unwrap_or(program.len());
    let head = String::from_utf8_lossy(&program[..end]);
    let Some((_, encoding)) = head.split_once("/Encoding") else { return HashMap::new() };
    let mut words = encoding.split_ascii_whitespace().take(4096);
    let mut found = HashMap::new();
    while let Some(word) = words.next() {
        match word {
            "dup" => {
                let (code, glyph) = (words.next().and_then(|code| code.parse().ok()), words.next());
                if let (Some(code), Some(glyph)) = (code, glyph.and_then(|glyph| glyph.strip_prefix('/'))) {
                    found.insert(code, glyph.to_owned());
                }
            }
            "readonly" | "def" if !found.is_empty() => break,
            _ => {}
        }
    }
    found
}
