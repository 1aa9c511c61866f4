//! PDF. Its structure is read by a library; here glyphs become text, and text becomes lines, columns, tables and blocks.

mod annotations;
mod blocks;
mod cmap;
mod columns;
mod content;
mod direction;
mod encoding;
mod font;
mod lines;
mod pictures;
mod running;
mod spans;
mod tables;

use super::draft::Draft;
use super::error::{ExtractError, Result};
use super::limits::Budget;
use annotations::{Fields, Remark};
use blocks::{Body, Kind, Piece};
use content::{Interpreter, Sources, interpret};
use encoding_rs::{UTF_16BE, UTF_16LE};
use hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use lines::Row;
use spans::Spans;
use steward_core::extracted::{Area, BlockKind};

/// A page with fewer letters and digits, and with pictures, is one of a scan.
const USEFUL: usize = 50;
/// Least share of a page that pictures of text cover.
const PICTURED: f32 = 0.05;

struct Read {
    spans: Spans,
    /// Letters of the content itself.
    letters: usize,
    rows: Vec<Vec<Row>>,
    remarks: Vec<Remark>,
}

pub(super) fn read(bytes: &[u8], draft: &mut Draft<'_>) -> Result<()> {
    let pdf = Pdf::new(bytes.to_vec()).map_err(refusal)?;
    let title = pdf.metadata().title.as_ref().map(|title| text_string(title));
    draft.title = title.filter(|title| !is_a_file_name(title) && !is_placeholder(title));
    if pdf.pages().is_empty() {
        return Err(ExtractError::broken("it has no pages"));
    }
    let sources = Sources::new(draft.budget);
    let (mut pages, mut fields) = (Vec::new(), Fields::default());
    for page in pdf.pages().iter() {
        draft.budget.page()?;
        let mut interpreter = Interpreter::of(page, &sources, false)?;
        let letters = interpreter.spans.letters;
        let remarks = annotations::draw(&mut interpreter, page, &mut fields)?;
        let spans = interpreter.spans;
        let rows = columns::in_order(&spans);
        pages.push(Read { spans, letters, rows, remarks });
    }
    running::remove(pages.iter_mut().map(|page| (page.spans.height, &mut page.rows)).collect());
    let body = Body::of(pages.iter().flat_map(|page| page.rows.iter().flatten()));
    let pieces: Vec<Vec<Piece>> = pages
        .iter()
        .map(|page| page.rows.iter().flat_map(|rows| blocks::of(rows, &page.spans.rules, &body)).collect())
        .collect();
    let levels = blocks::levels(pieces.iter().flatten());
    for (page, pieces) in pages.iter().zip(pieces) {
        write(page, pieces, &levels, draft)?;
    }
    for value in annotations::without_a_place(&pdf, &fields, &sources) {
        draft.paragraph(&value)?;
    }
    for what in annotations::left_out(&pdf) {
        draft.warn(what);
    }
    Ok(())
}

/// What the pictures on a page show together; `None` if there is none that can be read.
pub(super) fn picture(bytes: &[u8], page: u32, budget: &Budget<'_>) -> Result<Option<image::GrayImage>> {
    let pdf = Pdf::new(bytes.to_vec()).map_err(refusal)?;
    let index = (page as usize).checked_sub(1);
    let found = index.and_then(|index| pdf.pages().get(index));
    let page = found.ok_or_else(|| ExtractError::broken(format!("it has no page {page}")))?;
    let (spans, drawn) = interpret(page, &Sources::new(budget), true)?;
    // Letters of fonts that don't say what they show would not be on it.
    if spans.unknown > spans.letters {
        return Ok(None);
    }
    Ok(pictures::composed(&drawn, spans.width, spans.height))
}

fn refusal(error: LoadPdfError) -> ExtractError {
    match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => ExtractError::PasswordProtected,
        LoadPdfError::Decryption(_) => ExtractError::broken("it is encrypted in a way that can't be read"),
        LoadPdfError::Invalid => ExtractError::broken("its table of contents can't be found, not even by searching"),
    }
}

fn write(read: &Read, pieces: Vec<Piece>, levels: &blocks::Levels, draft: &mut Draft<'_>) -> Result<()> {
    let spans = &read.spans;
    let page = draft.counted_page();
    let is_unreadable = spans.unknown > read.letters;
    page.is_scan = is_unreadable || read.letters < USEFUL && spans.pictures >= PICTURED;
    let number = page.number;
    if is_unreadable && spans.unknown >= USEFUL {
        draft.warn(format!("The fonts of page {number} don't say which letters they show."));
        return Ok(());
    }
    for piece in pieces {
        let kind = match piece.kind {
            Kind::Heading { size, bold } => BlockKind::Heading { level: levels.of(size, bold) },
            Kind::Paragraph => BlockKind::Paragraph,
            Kind::ListItem => BlockKind::ListItem,
            Kind::Table => BlockKind::Table,
            Kind::Code => BlockKind::Code,
        };
        let area = area(&piece, spans);
        draft.block_at(kind, &piece.text, area)?;
    }
    for Remark(text) in &read.remarks {
        draft.paragraph(text)?;
    }
    Ok(())
}

fn area(piece: &Piece, spans: &Spans) -> Option<Area> {
    let (width, height) = (spans.width, spans.height);
    let corner = |x, y| piece.turn.back((x, y), width, height);
    let ((ax, ay), (bx, by)) = (corner(piece.x0, piece.y0), corner(piece.x1, piece.y1));
    let share = |at: f32, whole: f32| (at / whole).clamp(0.0, 1.0);
    let (x0, x1) = (share(ax.min(bx), width), share(ax.max(bx), width));
    let (y0, y1) = (share(ay.min(by), height), share(ay.max(by), height));
    (x1 > x0 && y1 > y0).then_some(Area { x: x0, y: y0, width: x1 - x0, height: y1 - y0 })
}

/// Strings outside of pages are in UTF-16, UTF-8 or an encoding of their own.
fn text_string(bytes: &[u8]) -> String {
    let text = match bytes {
        [0xfe, 0xff, rest @ ..] => UTF_16BE.decode_without_bom_handling(rest).0,
        [0xff, 0xfe, rest @ ..] => UTF_16LE.decode_without_bom_handling(rest).0,
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest),
        bytes => encoding::doc_encoded(bytes).into(),
    };
    let lines = text.replace("\r\n", "\n").replace('\r', "\n");
    let lines = lines.replace('\t', " ");
    lines.chars().filter(|letter| *letter == '\n' || !letter.is_control()).collect()
}

/// Programs put the name of the source here.
fn is_a_file_name(title: &str) -> bool {
    let title = title.trim().to_ascii_lowercase();
    title.is_empty()
        || title.starts_with("microsoft word - ")
        || ["dvi", "tex", "doc", "docx", "indd", "ps", "pdf", "qxd", "odt", "rtf", "xls", "xlsx", "html"]
            .iter()
            .any(|end| title.rsplit_once('.').is_some_and(|(stem, extension)| extension == *end && !stem.contains(' ')))
}

/// Programs put this where nobody gave a title.
fn is_placeholder(title: &str) -> bool {
    let title = title.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase();
    let rest = title.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '-' || letter == ' ');
    ["untitled", "untitled document", "no title", "powerpoint presentation", "unspecified"].contains(&rest)
}
