//! XLS of Excel 97 to 2003: records in a stream of a compound file.

use super::compound::Compound;
use super::draft::Draft;
use super::error::{ExtractError, Result};
use super::number_format::{Format, general};
use super::numbers::{f64_at, size_at, u16_at, u32_at, utf_16};
use super::office::Remark;
use super::rich_text::{RichText, Script, TextStyle};
use super::sheets::{COLUMNS, add_running, column_name};
use super::table;
use encoding_rs::WINDOWS_1252;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

const BOF: u16 = 0x0809;
const EOF: u16 = 0x000a;
const SHEET: u16 = 0x0085;
const STRINGS: u16 = 0x00fc;
const CONTINUE: u16 = 0x003c;
const PASSWORD: u16 = 0x002f;
const FORMAT: u16 = 0x041e;
const CELL_FORMAT: u16 = 0x00e0;
const FONT: u16 = 0x0031;
const FROM_1904: u16 = 0x0022;
const SHARED_TEXT: u16 = 0x00fd;
const TEXT: u16 = 0x0204;
const NUMBER: u16 = 0x0203;
const RK: u16 = 0x027e;
const RKS: u16 = 0x00bd;
const FORMULA: u16 = 0x0006;
const FORMULA_TEXT: u16 = 0x0207;
const TRUTH: u16 = 0x0205;
const HEADER: u16 = 0x0014;
const FOOTER: u16 = 0x0015;
const NOTE: u16 = 0x001c;
const OBJECT: u16 = 0x005d;
const OBJECT_TEXT: u16 = 0x01b6;
/// Of a formula: it is computed when the file is opened.
const TO_CALCULATE: u16 = 2;
const CHART: u16 = 0x0020;
/// The first version whose texts are Unicode.
const EXCEL_97: u16 = 0x0600;

type Rows = BTreeMap<u16, BTreeMap<u16, String>>;

struct Records<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Records<'a> {
    fn peek(&self) -> Option<(u16, &'a [u8])> {
        let (kind, length) = (u16_at(self.bytes, self.at)?, usize::from(u16_at(self.bytes, self.at + 2)?));
        Some((kind, self.bytes.get(self.at + 4..self.at + 4 + length)?))
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (kind, data) = self.peek()?;
        self.at += 4 + data.len();
        Some((kind, data))
    }
}

#[derive(Default)]
struct Book {
    strings: Vec<String>,
    own_formats: HashMap<u16, Arc<Format>>,
    formats: Vec<Arc<Format>>,
    /// For each of these, whether cells are struck out.
    struck: Vec<bool>,
    fonts: Vec<TextStyle>,
    from_1904: bool,
    sheets: Vec<(usize, String)>,
}

pub(super) fn read(file: &Compound<'_>, draft: &mut Draft<'_>) -> Result<()> {
    let stream = match file.read("Workbook")? {
        Some(stream) => stream,
        None => file.read("Book")?.ok_or_else(|| ExtractError::broken("it has no workbook"))?,
    };
    let book = book(&stream)?;
    let (mut uncounted, mut charts) = (0, 0);
    for (at, name) in &book.sheets {
        draft.page(Some(name.clone()))?;
        let sheet = book.sheet(Records { bytes: &stream, at: *at });
        let rows: Vec<Vec<String>> = sheet.rows.values().map(line).collect();
        sheet.header.iter().try_for_each(|line| draft.paragraph(line))?;
        table::add(&rows, draft)?;
        // Texts that no comment is about are those of boxes.
        let mut texts = sheet.texts;
        for (place, object, author) in sheet.notes {
            if let Some(text) = texts.remove(&object) {
                draft.paragraph(&Remark { author, text }.written(&place))?;
            }
        }
        texts.values().try_for_each(|text| draft.paragraph(text))?;
        sheet.footer.iter().try_for_each(|line| draft.paragraph(line))?;
        uncounted += sheet.uncounted;
        charts += sheet.charts;
    }
    if uncounted > 0 {
        draft.warn(format!(
            "Formulas that no spreadsheet has computed yet ({uncounted}) stand as `{FORMULA_SIGN}`. Open the file in a \
             spreadsheet, save it as XLSX, and add that."
        ));
    }
    if charts > 0 {
        draft.warn(format!("Charts in it are not read ({charts}). Save it as XLSX and add that."));
    }
    Ok(())
}

/// In place of a value that was not computed.
const FORMULA_SIGN: &str = "=?";

/// What a sheet holds.
#[derive(Default)]
struct Sheet {
    rows: Rows,
    header: Vec<String>,
    footer: Vec<String>,
    /// Texts of objects by their numbers.
    texts: BTreeMap<u16, String>,
    /// Cells with comments, the objects that hold these, and who wrote them.
    notes: Vec<(String, u16, String)>,
    uncounted: usize,
    charts: usize,
}

fn line(cells: &BTreeMap<u16, String>) -> Vec<String> {
    let last = cells.last_key_value().map_or(0, |(column, _)| usize::from(*column) + 1).min(COLUMNS);
    let mut row = vec![String::new(); last];
    for (column, text) in cells {
        if let Some(cell) = row.get_mut(usize::from(*column)) {
            cell.clone_from(text);
        }
    }
    row
}

fn book(stream: &[u8]) -> Result<Book> {
    let mut records = Records { bytes: stream, at: 0 };
    let mut book = Book::default();
    let version = records.next().filter(|(kind, _)| *kind == BOF).and_then(|(_, data)| u16_at(data, 0));
    match version {
        Some(EXCEL_97) => {}
        Some(_) => {
            let what = "it is of a version before Excel 97; open it in a current program and save it as XLSX";
            return Err(ExtractError::UnknownFormat(what.to_owned()));
        }
        None => return Err(ExtractError::broken("its workbook has no beginning")),
    }
    let mut ended = false;
    while let Some((kind, data)) = records.next() {
        match kind {
            PASSWORD => return Err(ExtractError::PasswordProtected),
            SHEET => {
                // Byte 5 tells sheets from charts and macros.
                if let (Some(at), Some(0)) = (size_at(data, 0), data.get(5)) {
                    let name = short_text(data, 6, 1).unwrap_or_default();
                    book.sheets.push((at, name));
                }
            }
            FROM_1904 => book.from_1904 = u16_at(data, 0) == Some(1),
            FONT => book.fonts.push(font_style(data)),
            FORMAT => {
                if let (Some(id), Some(code)) = (u16_at(data, 0), short_text(data, 2, 2)) {
                    book.own_formats.insert(id, Arc::new(Format::of(&code)));
                }
            }
            CELL_FORMAT => {
                let id = u16_at(data, 2).unwrap_or(0);
                let format = book.own_formats.entry(id).or_insert_with(|| Arc::new(Format::built_in(id)));
                book.formats.push(Arc::clone(format));
                let font = u16_at(data, 0).and_then(|font| font_at(&book.fonts, font));
                book.struck.push(font.is_some_and(|font| font.is_struck));
            }
            STRINGS => {
                let mut pieces = vec![data];
                while let Some((CONTINUE, more)) = records.peek() {
                    pieces.push(more);
                    records.next();
                }
                book.strings = Strings { pieces, piece: 0, at: 8, fonts: &book.fonts }.all();
            }
            EOF => {
                ended = true;
                break;
            }
            _ => {}
        }
    }
    if !ended {
        return Err(ExtractError::broken("its workbook is cut off"));
    }
    Ok(book)
}

/// A text whose length takes `width` bytes.
fn short_text(data: &[u8], at: usize, width: usize) -> Option<String> {
    let length = if width == 1 { usize::from(*data.get(at)?) } else { usize::from(u16_at(data, at)?) };
    let from = at + width + 1;
    if data.get(at + width)? & 1 == 0 {
        Some(WINDOWS_1252.decode_without_bom_handling(data.get(from..from + length)?).0.into_owned())
    } else {
        Some(utf_16(data.get(from..from + length * 2)?))
    }
}

/// The table of shared texts, which goes on in further records wherever one is full.
struct Strings<'a> {
    pieces: Vec<&'a [u8]>,
    piece: usize,
    at: usize,
    fonts: &'a [TextStyle],
}

impl Strings<'_> {
    fn all(mut self) -> Vec<String> {
        let mut all = Vec::new();
        while let Some(text) = self.one() {
            all.push(text);
        }
        all
    }

    fn take(&mut self, count: usize) -> Option<Vec<u8>> {
        let mut all = Vec::new();
        while all.len() < count {
            let rest = self.pieces.get(self.piece)?.get(self.at..).unwrap_or_default();
            if rest.is_empty() {
                self.piece += 1;
                self.at = 0;
                continue;
            }
            let taken = rest.len().min(count - all.len());
            all.extend_from_slice(&rest[..taken]);
            self.at += taken;
        }
        Some(all)
    }

    fn number(&mut self, bytes: usize) -> Option<usize> {
        let bytes = self.take(bytes)?;
        Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
    }

    fn one(&mut self) -> Option<String> {
        let length = self.number(2)?;
        let mut flags = self.number(1)?;
        let runs = if flags & 8 != 0 { self.number(2)? } else { 0 };
        let extra = if flags & 4 != 0 { self.number(4)? } else { 0 };
        let mut text = String::new();
        let mut left = length;
        while left > 0 {
            let rest = self.pieces.get(self.piece)?.len().saturating_sub(self.at);
            if rest == 0 {
                // A text that goes on says again how wide its letters are.
                self.piece += 1;
                self.at = 0;
                flags = self.number(1)?;
                continue;
            }
            let width = if flags & 1 == 0 { 1 } else { 2 };
            let letters = left.min((rest / width).max(1));
            let bytes = self.take(letters * width)?;
            if width == 1 {
                text.push_str(&bytes.iter().map(|byte| char::from(*byte)).collect::<String>());
            } else {
                text.push_str(&utf_16(&bytes));
            }
            left -= letters;
        }
        let runs = self.take(runs * 4)?;
        self.take(extra)?;
        Some(show_runs(text, &runs, self.fonts))
    }
}

fn font_style(font: &[u8]) -> TextStyle {
    const STRUCK: u16 = 8;
    let script = match u16_at(font, 8) {
        Some(1) => Script::Raised,
        Some(2) => Script::Lowered,
        _ => Script::Normal,
    };
    TextStyle { script, is_struck: u16_at(font, 2).is_some_and(|look| look & STRUCK != 0) }
}

/// The fonts are counted without one in the place of 4.
fn font_at(fonts: &[TextStyle], number: u16) -> Option<TextStyle> {
    fonts.get(usize::from(if number > 4 { number - 1 } else { number })).copied()
}

/// A text whose parts have fonts: where each begins, in units of UTF-16, and its font.
fn show_runs(text: String, runs: &[u8], fonts: &[TextStyle]) -> String {
    if runs.is_empty() || fonts.iter().all(|font| *font == TextStyle::default()) {
        return text;
    }
    let units: Vec<u16> = text.encode_utf16().collect();
    let (mut shown, mut style, mut from) = (RichText::default(), TextStyle::default(), 0);
    for run in runs.chunks_exact(4) {
        let start = u16_at(run, 0).map_or(from, usize::from).clamp(from, units.len());
        shown.add(&String::from_utf16_lossy(&units[from..start]), style);
        style = u16_at(run, 2).and_then(|font| font_at(fonts, font)).unwrap_or_default();
        from = start;
    }
    shown.add(&String::from_utf16_lossy(&units[from..]), style);
    shown.take()
}

impl Book {
    fn sheet(&self, mut records: Records<'_>) -> Sheet {
        let mut sheet = Sheet::default();
        let (mut open, mut formula, mut object) = (0, None, None);
        let (mut formulas, mut empty) = (0, Vec::new());
        while let Some((kind, data)) = records.next() {
            let place = || Some((u16_at(data, 0)?, u16_at(data, 2)?));
            let text = match kind {
                BOF => {
                    open += 1;
                    sheet.charts += usize::from(open > 1 && u16_at(data, 2) == Some(CHART));
                    continue;
                }
                EOF if open <= 1 => break,
                EOF => {
                    open -= 1;
                    continue;
                }
                // Charts within sheets have records of their own.
                _ if open > 1 => continue,
                SHARED_TEXT => {
                    let text = size_at(data, 6).and_then(|at| self.strings.get(at).cloned());
                    text.map(|text| self.show_text(u16_at(data, 4), text))
                }
                TEXT => short_text(data, 6, 2).map(|text| self.show_text(u16_at(data, 4), text)),
                NUMBER => f64_at(data, 6).map(|number| self.show(u16_at(data, 4), number)),
                RK => u32_at(data, 6).map(|packed| self.show(u16_at(data, 4), unpacked(packed))),
                // Byte 7 tells errors from truths.
                TRUTH if data.get(7) == Some(&1) => Some(error_name(data.get(6)).to_owned()),
                TRUTH => data.get(6).map(|on| truth(Some(on))),
                FORMULA if data.get(12..14) == Some(&[0xff, 0xff]) => {
                    formulas += 1;
                    match data.get(6) {
                        Some(1) => Some(truth(data.get(8))),
                        Some(2) => Some(error_name(data.get(8)).to_owned()),
                        Some(3) => {
                            empty.extend(place());
                            None
                        }
                        _ => {
                            formula = place();
                            None
                        }
                    }
                }
                FORMULA => {
                    formulas += 1;
                    let number = f64_at(data, 6);
                    let is_open = u16_at(data, 14).is_some_and(|flags| flags & TO_CALCULATE != 0);
                    if is_open && number == Some(0.0) {
                        sheet.uncounted += 1;
                        Some(FORMULA_SIGN.to_owned())
                    } else {
                        number.map(|number| self.show(u16_at(data, 4), number))
                    }
                }
                FORMULA_TEXT => {
                    if let (Some((row, column)), Some(text)) = (formula.take(), short_text(data, 0, 2)) {
                        sheet.rows.entry(row).or_default().insert(column, text);
                    }
                    continue;
                }
                RKS => {
                    self.several(data, &mut sheet.rows);
                    continue;
                }
                _ => {
                    beside(kind, data, &mut records, &mut object, &mut sheet);
                    continue;
                }
            };
            if let (Some((row, column)), Some(text)) = (place(), text) {
                sheet.rows.entry(row).or_default().insert(column, text);
            }
        }
        // Where no formula has a value, nobody computed them.
        if empty.len() == formulas {
            sheet.uncounted += empty.len();
            for (row, column) in empty {
                sheet.rows.entry(row).or_default().insert(column, FORMULA_SIGN.to_owned());
            }
        }
        sheet
    }

    fn several(&self, data: &[u8], rows: &mut Rows) {
        let (Some(row), Some(first)) = (u16_at(data, 0), u16_at(data, 2)) else { return };
        let cells = data.get(4..data.len().saturating_sub(2)).unwrap_or_default().chunks_exact(6);
        for (column, cell) in (first..).zip(cells) {
            if let Some(packed) = u32_at(cell, 2) {
                rows.entry(row).or_default().insert(column, self.show(u16_at(cell, 0), unpacked(packed)));
            }
        }
    }

    fn show_text(&self, format: Option<u16>, text: String) -> String {
        let shown = match format.and_then(|at| self.formats.get(usize::from(at))) {
            Some(format) => format.show_text(text),
            None => text,
        };
        self.strike(format, shown)
    }

    fn strike(&self, format: Option<u16>, text: String) -> String {
        let is_struck = format.is_some_and(|at| self.struck.get(usize::from(at)) == Some(&true));
        if is_struck && !text.trim().is_empty() && !text.contains("~~") { format!("~~{text}~~") } else { text }
    }

    fn show(&self, format: Option<u16>, number: f64) -> String {
        let of_cell = format.and_then(|at| self.formats.get(usize::from(at)));
        let shown = of_cell.map_or_else(|| general(number), |format| format.show(number, self.from_1904));
        self.strike(format, shown)
    }
}

fn truth(byte: Option<&u8>) -> String {
    (if byte == Some(&1) { "TRUE" } else { "FALSE" }).to_owned()
}

fn error_name(code: Option<&u8>) -> &'static str {
    match code {
        Some(0x00) => "#NULL!",
        Some(0x07) => "#DIV/0!",
        Some(0x0f) => "#VALUE!",
        Some(0x17) => "#REF!",
        Some(0x1d) => "#NAME?",
        Some(0x24) => "#NUM!",
        _ => "#N/A",
    }
}

/// Reads what stands beside cells: headers and footers, comments, text boxes.
fn beside(kind: u16, data: &[u8], records: &mut Records<'_>, object: &mut Option<u16>, sheet: &mut Sheet) {
    match kind {
        HEADER => add_running(&short_text(data, 0, 2).unwrap_or_default(), &mut sheet.header),
        FOOTER => add_running(&short_text(data, 0, 2).unwrap_or_default(), &mut sheet.footer),
        // Its first part names it.
        OBJECT => *object = u16_at(data, 6),
        OBJECT_TEXT => {
            let length = u16_at(data, 10).map_or(0, usize::from);
            let mut text = String::new();
            while let Some((CONTINUE, more)) = records.peek() {
                records.next();
                let letters = more.get(1..).unwrap_or_default();
                if text.chars().count() < length {
                    match more.first() {
                        Some(0) => text.extend(letters.iter().map(|byte| char::from(*byte))),
                        Some(1) => text.push_str(&utf_16(letters)),
                        _ => {}
                    }
                }
            }
            let text: String = text.chars().take(length).collect();
            if let Some(object) = object.take().filter(|_| !text.trim().is_empty()) {
                sheet.texts.insert(object, text);
            }
        }
        NOTE => {
            if let (Some(row), Some(column), Some(object)) = (u16_at(data, 0), u16_at(data, 2), u16_at(data, 6)) {
                let place = format!("{}{}", column_name(column.into()), u32::from(row) + 1);
                sheet.notes.push((place, object, short_text(data, 8, 2).unwrap_or_default()));
            }
        }
        _ => {}
    }
}

/// A number in 30 bits: whole, or the upper bits of a float; in hundredths or not.
fn unpacked(packed: u32) -> f64 {
    let number = if packed & 2 == 0 {
        f64::from_bits(u64::from(packed & !3) << 32)
    } else {
        f64::from(packed.cast_signed() >> 2)
    };
    if packed & 1 == 0 { number } else { number / 100.0 }
}
