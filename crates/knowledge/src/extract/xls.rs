//! XLS of Excel 97 to 2003: records in a stream of a compound file.

use super::compound::Compound;
use super::draft::Draft;
use super::error::{ExtractError, Result};
use super::number_format::{Format, custom, general};
use super::numbers::{f64_at, size_at, u16_at, u32_at, utf_16};
use super::sheets::COLUMNS;
use super::table;
use encoding_rs::WINDOWS_1252;
use std::collections::{BTreeMap, HashMap};

const BOF: u16 = 0x0809;
const EOF: u16 = 0x000a;
const SHEET: u16 = 0x0085;
const STRINGS: u16 = 0x00fc;
const CONTINUE: u16 = 0x003c;
const PASSWORD: u16 = 0x002f;
const FORMAT: u16 = 0x041e;
const CELL_FORMAT: u16 = 0x00e0;
const FROM_1904: u16 = 0x0022;
const SHARED_TEXT: u16 = 0x00fd;
const TEXT: u16 = 0x0204;
const NUMBER: u16 = 0x0203;
const RK: u16 = 0x027e;
const RKS: u16 = 0x00bd;
const FORMULA: u16 = 0x0006;
const FORMULA_TEXT: u16 = 0x0207;
const TRUTH: u16 = 0x0205;
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
    own_formats: HashMap<u16, Format>,
    formats: Vec<Format>,
    from_1904: bool,
    sheets: Vec<(usize, String)>,
}

pub(super) fn read(file: &Compound<'_>, draft: &mut Draft<'_>) -> Result<()> {
    let stream = match file.read("Workbook")? {
        Some(stream) => stream,
        None => file.read("Book")?.ok_or_else(|| ExtractError::broken("it has no workbook"))?,
    };
    let book = book(&stream)?;
    for (at, name) in &book.sheets {
        draft.page(Some(name.clone()))?;
        let rows: Vec<Vec<String>> = book.rows(Records { bytes: &stream, at: *at }).values().map(line).collect();
        table::add(&rows, draft)?;
    }
    Ok(())
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
            FORMAT => {
                if let (Some(id), Some(code)) = (u16_at(data, 0), short_text(data, 2, 2)) {
                    book.own_formats.insert(id, custom(&code));
                }
            }
            CELL_FORMAT => {
                let id = u16_at(data, 2).unwrap_or(0);
                book.formats.push(book.own_formats.get(&id).copied().unwrap_or_else(|| Format::built_in(id)));
            }
            STRINGS => {
                let mut pieces = vec![data];
                while let Some((CONTINUE, more)) = records.peek() {
                    pieces.push(more);
                    records.next();
                }
                book.strings = Strings { pieces, piece: 0, at: 8 }.all();
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
        self.take(runs * 4 + extra)?;
        Some(text)
    }
}

impl Book {
    fn rows(&self, records: Records<'_>) -> Rows {
        let mut rows = Rows::new();
        let (mut open, mut formula) = (0, None);
        for (kind, data) in records {
            let place = || Some((u16_at(data, 0)?, u16_at(data, 2)?));
            let text = match kind {
                BOF => {
                    open += 1;
                    continue;
                }
                EOF if open <= 1 => break,
                EOF => {
                    open -= 1;
                    continue;
                }
                // Charts within sheets have records of their own.
                _ if open > 1 => continue,
                SHARED_TEXT => size_at(data, 6).and_then(|at| self.strings.get(at).cloned()),
                TEXT => short_text(data, 6, 2),
                NUMBER => f64_at(data, 6).map(|number| self.show(u16_at(data, 4), number)),
                RK => u32_at(data, 6).map(|packed| self.show(u16_at(data, 4), unpacked(packed))),
                TRUTH => data.get(6).map(|on| (if *on == 1 { "TRUE" } else { "FALSE" }).to_owned()),
                FORMULA if data.get(12..14) == Some(&[0xff, 0xff]) => {
                    formula = place();
                    None
                }
                FORMULA => f64_at(data, 6).map(|number| self.show(u16_at(data, 4), number)),
                FORMULA_TEXT => {
                    if let (Some((row, column)), Some(text)) = (formula.take(), short_text(data, 0, 2)) {
                        rows.entry(row).or_default().insert(column, text);
                    }
                    None
                }
                RKS => {
                    self.several(data, &mut rows);
                    None
                }
                _ => None,
            };
            if let (Some((row, column)), Some(text)) = (place(), text) {
                rows.entry(row).or_default().insert(column, text);
            }
        }
        rows
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

    fn show(&self, format: Option<u16>, number: f64) -> String {
        let format = format.and_then(|at| self.formats.get(usize::from(at)));
        format.map_or_else(|| general(number), |format| format.show(number, self.from_1904))
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
