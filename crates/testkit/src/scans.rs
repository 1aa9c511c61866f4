//! Pages as scanners and cameras give them: known texts, rendered and then spoiled in ways that are the same each time.

use ab_glyph::{Font, FontRef, GlyphId, PxScale, ScaleFont as _, point};
use image::{GrayImage, Luma, imageops};
use serde::Deserialize;
use std::path::Path;

/// A5 at 300 dots per inch.
const PAGE: (u32, u32) = (1748, 2480);
const MARGIN: f32 = 160.0;
/// 11 points at 300 dots per inch.
const SIZE: f32 = 46.0;
const LEADING: f32 = 1.35;
const GUTTER: f32 = 90.0;
const FONT: &str = "/usr/share/fonts/truetype/dejavu/DejaVuSerif.ttf";

/// A text that is rendered.
#[derive(Debug, Clone, Deserialize)]
pub struct PageText {
    pub id: String,
    pub language: String,
    /// `plain` or `two_columns`.
    pub layout: String,
    pub text: String,
}

/// What has happened to a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spoiled {
    Clean,
    /// By 90, 180 or 270 degrees.
    Turned,
    /// Grain and specks.
    Noisy,
    /// Grey on grey.
    Pale,
    /// By 2 to 7 degrees.
    Skewed,
    /// Darker to one corner.
    Shadowed,
    /// With the dark edges of the glass.
    Bordered,
    /// At 100 dots per inch.
    Small,
}

impl Spoiled {
    pub const ALL: [Self; 8] =
        [Self::Clean, Self::Turned, Self::Noisy, Self::Pale, Self::Skewed, Self::Shadowed, Self::Bordered, Self::Small];

    /// In lower case.
    pub fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }
}

/// The texts, each with how its page is spoiled.
pub fn page_texts() -> Vec<(PageText, Spoiled)> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../evals/data/ocr/texts.jsonl");
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let texts = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{}: {error}", file.display())));
    // Ten of each language: every language gets every kind.
    texts.zip(Spoiled::ALL.into_iter().cycle()).collect()
}

/// A page as it comes from the scanner.
pub fn scan(text: &PageText, spoiled: Spoiled) -> GrayImage {
    let seed = text.id.bytes().fold(7u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    spoil(&render(&text.text, text.layout == "two_columns"), spoiled, seed)
}

/// Black on white, 300 dots per inch.
pub fn render(text: &str, two_columns: bool) -> GrayImage {
    let bytes =
        std::fs::read(FONT).unwrap_or_else(|_| panic!("the font {FONT} is not there; run `scripts/setup.sh test`"));
    let font = FontRef::try_from_slice(&bytes).unwrap_or_else(|error| panic!("{FONT}: {error}"));
    let scaled = font.as_scaled(PxScale::from(SIZE));
    let columns = if two_columns { 2.0 } else { 1.0 };
    let width = (PAGE.0 as f32 - 2.0 * MARGIN - GUTTER * (columns - 1.0)) / columns;
    let lines = broken(text, width, |word| {
        let ids: Vec<GlyphId> = word.chars().map(|letter| font.glyph_id(letter)).collect();
        ids.iter().map(|id| scaled.h_advance(*id)).sum()
    });
    let per_column = if two_columns { lines.len().div_ceil(2) } else { lines.len() };
    let mut page = GrayImage::from_pixel(PAGE.0, PAGE.1, Luma([255]));
    for (index, line) in lines.iter().enumerate() {
        let (column, row) = (index / per_column.max(1), index % per_column.max(1));
        let mut x = MARGIN + column as f32 * (width + GUTTER);
        let y = MARGIN + (row as f32 + 1.0) * SIZE * LEADING;
        for letter in line.chars() {
            let id = font.glyph_id(letter);
            let glyph = id.with_scale_and_position(PxScale::from(SIZE), point(x, y));
            x += scaled.h_advance(id);
            let Some(outline) = font.outline_glyph(glyph) else { continue };
            let bounds = outline.px_bounds();
            outline.draw(|dx, dy, ink| {
                let (x, y) = (bounds.min.x as u32 + dx, bounds.min.y as u32 + dy);
                if x < PAGE.0 && y < PAGE.1 {
                    let shade = page.get_pixel_mut(x, y);
                    shade.0[0] = shade.0[0].min(255 - (ink * 255.0) as u8);
                }
            });
        }
    }
    page
}

fn broken(text: &str, width: f32, measure: impl Fn(&str) -> f32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if measure(&format!("{line} {word}")) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn spoil(page: &GrayImage, spoiled: Spoiled, seed: u64) -> GrayImage {
    let mut random = Random(seed);
    match spoiled {
        Spoiled::Clean => page.clone(),
        Spoiled::Turned => match seed % 3 {
            0 => imageops::rotate90(page),
            1 => imageops::rotate180(page),
            _ => imageops::rotate270(page),
        },
        Spoiled::Noisy => each(page, |_, _, shade| match random.share() {
            speck if speck < 0.01 => 0.0,
            speck if speck < 0.02 => 255.0,
            _ => shade + 30.0 * random.bell(),
        }),
        Spoiled::Pale => each(page, |_, _, shade| 160.0 + shade / 255.0 * 35.0 + 2.5 * random.bell()),
        Spoiled::Skewed => {
            let angle = (2.0 + 5.0 * random.share()) * if random.share() < 0.5 { -1.0 } else { 1.0 };
            let (sin, cos) = angle.to_radians().sin_cos();
            let (middle_x, middle_y) = (page.width() as f32 / 2.0, page.height() as f32 / 2.0);
            each(page, |x, y, _| {
                let (dx, dy) = (x - middle_x, y - middle_y);
                between(page, middle_x + cos * dx - sin * dy, middle_y + sin * dx + cos * dy)
            })
        }
        Spoiled::Shadowed => {
            let reach = (page.width() + page.height()) as f32;
            each(page, |x, y, shade| shade * (1.0 - 0.68 * (x + y) / reach) + 3.0 * random.bell())
        }
        Spoiled::Bordered => {
            let (width, height) = (page.width() as f32, page.height() as f32);
            each(page, |x, y, shade| {
                let is_edge = x < 90.0 || x > width - 45.0 || y > height - 60.0 || y < 30.0 + x / 60.0;
                if is_edge { 25.0 + 6.0 * random.bell() } else { shade - 10.0 }
            })
        }
        Spoiled::Small => imageops::resize(page, page.width() / 3, page.height() / 3, imageops::FilterType::Triangle),
    }
}

fn each(page: &GrayImage, mut shade: impl FnMut(f32, f32, f32) -> f32) -> GrayImage {
    GrayImage::from_fn(page.width(), page.height(), |x, y| {
        let own = f32::from(page.get_pixel(x, y).0[0]);
        Luma([shade(x as f32, y as f32, own).clamp(0.0, 255.0) as u8])
    })
}

fn between(page: &GrayImage, x: f32, y: f32) -> f32 {
    let (left, top) = (x.floor(), y.floor());
    let at = |x: f32, y: f32| {
        let inside = x >= 0.0 && y >= 0.0 && x < page.width() as f32 && y < page.height() as f32;
        if inside { f32::from(page.get_pixel(x as u32, y as u32).0[0]) } else { 255.0 }
    };
    let (right, low) = (x - left, y - top);
    let above = at(left, top) * (1.0 - right) + at(left + 1.0, top) * right;
    let below = at(left, top + 1.0) * (1.0 - right) + at(left + 1.0, top + 1.0) * right;
    above * (1.0 - low) + below * low
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn share(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 24) as f32
    }

    /// Nearly normal, around 0 with a deviation of 1.
    fn bell(&mut self) -> f32 {
        (0..4).map(|_| self.share()).sum::<f32>().mul_add(1.0, -2.0) * 1.732
    }
}

/// Share of the letters of `text` that were read wrongly, left out or added; white space is folded.
pub fn character_errors(text: &str, read: &str) -> f64 {
    let folded = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").chars().collect::<Vec<char>>();
    let (text, read) = (folded(text), folded(read));
    let mut row: Vec<usize> = (0..=read.len()).collect();
    for (index, letter) in text.iter().enumerate() {
        let mut before = row[0];
        row[0] = index + 1;
        for (column, other) in read.iter().enumerate() {
            let changed = before + usize::from(letter != other);
            before = row[column + 1];
            row[column + 1] = changed.min(before + 1).min(row[column] + 1);
        }
    }
    row[read.len()] as f64 / text.len().max(1) as f64
}

/// A PDF of one page whose only content is a picture, as scanners write it.
pub fn pdf_of_scans(pages: &[GrayImage]) -> Vec<u8> {
    let mut pdf = b"%PDF-1.4\n".to_vec();
    let mut offsets = Vec::new();
    let mut object = |pdf: &mut Vec<u8>, head: String, stream: Option<&[u8]>| {
        offsets.push(pdf.len());
        pdf.extend(format!("{} 0 obj\n{head}\n", offsets.len()).into_bytes());
        if let Some(stream) = stream {
            pdf.extend(b"stream\n");
            pdf.extend(stream);
            pdf.extend(b"\nendstream\n");
        }
        pdf.extend(b"endobj\n");
    };
    let kids: Vec<String> = (0..pages.len()).map(|page| format!("{} 0 R", 3 + page * 3)).collect();
    object(&mut pdf, "<< /Type /Catalog /Pages 2 0 R >>".to_owned(), None);
    object(&mut pdf, format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), kids.len()), None);
    for (index, page) in pages.iter().enumerate() {
        let number = 3 + index * 3;
        let (width, height) = (page.width() as f32 * 0.24, page.height() as f32 * 0.24);
        let content = format!("q {width} 0 0 {height} 0 0 cm /Im Do Q");
        let head = format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width} {height}] /Contents {} 0 R /Resources << /XObject << /Im {} 0 R >> >> >>",
            number + 1,
            number + 2
        );
        object(&mut pdf, head, None);
        object(&mut pdf, format!("<< /Length {} >>", content.len()), Some(content.as_bytes()));
        let mut jpeg = Vec::new();
        let encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(&mut jpeg, 85);
        page.write_with_encoder(encoder).unwrap_or_else(|error| panic!("a page can't be written: {error}"));
        let head = format!(
            "<< /Type /XObject /Subtype /Image /Width {} /Height {} /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /DCTDecode /Length {} >>",
            page.width(),
            page.height(),
            jpeg.len()
        );
        object(&mut pdf, head, Some(&jpeg));
    }
    let table = pdf.len();
    pdf.extend(format!("xref\n0 {}\n0000000000 65535 f \n", offsets.len() + 1).into_bytes());
    for offset in &offsets {
        pdf.extend(format!("{offset:010} 00000 n \n").into_bytes());
    }
    pdf.extend(
        format!("trailer << /Size {} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n", offsets.len() + 1).into_bytes(),
    );
    pdf
}

#[cfg(test)]
mod tests {
    use super::{Spoiled, character_errors, page_texts};

    #[test]
    fn errors_are_counted_by_letters() {
        assert!((character_errors("a  b\nc", "a b c") - 0.0).abs() < 1e-6);
        assert!((character_errors("abcd", "abxd") - 0.25).abs() < 1e-6);
        assert!((character_errors("abcd", "") - 1.0).abs() < 1e-6);
        assert!((character_errors("ab", "abab") - 1.0).abs() < 1e-6);
    }

    #[test]
    fn every_language_has_every_kind() {
        let all = page_texts();
        assert_eq!(all.len(), 40);
        for language in ["en", "de", "fr", "es"] {
            for kind in Spoiled::ALL {
                assert!(all.iter().any(|(text, one)| text.language == language && *one == kind), "{language} {kind:?}");
            }
        }
    }
}
