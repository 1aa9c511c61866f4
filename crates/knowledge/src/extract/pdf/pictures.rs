//! The pictures that a page of a scan is made of, put together as they are drawn.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "places and brightness of pixels"
)]

use super::super::error::Result;
use super::super::limits::Budget;
use crate::matrix::Matrix;
use hayro_syntax::object::stream::{FilterResult, ImageColorSpace, ImageDecodeParams};
use hayro_syntax::object::{Array, Name, Object, Stream};
use image::{GrayImage, Luma};

/// Pixels of a picture, and of a page that is put together.
const MOST_PIXELS: u64 = 120_000_000;
const PAGE_PIXELS: f32 = 40_000_000.0;
/// Dots per inch of such a page, as far as its pictures have them.
const DPI: (f32, f32) = (100.0, 300.0);
const POINTS_PER_INCH: f32 = 72.0;
/// Pixels that are looked at for one that is smaller, along each side.
const SAMPLES: usize = 4;

/// A picture where it is drawn.
pub(super) struct Drawn {
    matrix: Matrix,
    shades: GrayImage,
    /// How much it covers what is below it, unless it does so wholly.
    cover: Option<GrayImage>,
}

/// What a color's numbers mean.
#[derive(Clone)]
enum Colors {
    Gray,
    Rgb,
    Cmyk,
    /// Of inks; the number of them.
    Inks(usize),
    /// The shade of each number.
    Table(Vec<u8>),
}

impl Drawn {
    /// `None` if it can't be decoded.
    pub fn read(stream: &Stream<'_>, matrix: Matrix, budget: &Budget<'_>) -> Result<Option<Self>> {
        let Some(shades) = read(stream, budget)? else { return Ok(None) };
        let dict = stream.dict();
        if dict.get::<bool>("ImageMask").unwrap_or(false) {
            // What is black in a mask is painted; with what colour doesn't matter to who reads.
            let cover =
                GrayImage::from_fn(shades.width(), shades.height(), |x, y| Luma([255 - shades.get_pixel(x, y).0[0]]));
            let ink = GrayImage::from_pixel(shades.width(), shades.height(), Luma([0]));
            return Ok(Some(Self { matrix, shades: ink, cover: Some(cover) }));
        }
        let cover = match dict.get::<Stream<'_>>("SMask") {
            Some(mask) => read(&mask, budget)?,
            None => None,
        };
        Ok(Some(Self { matrix, shades, cover }))
    }

    fn dpi(&self) -> f32 {
        self.shades.width() as f32 / (self.matrix.width() / POINTS_PER_INCH).max(0.01)
    }
}

/// The shades of a picture, row by row from above.
fn read(stream: &Stream<'_>, budget: &Budget<'_>) -> Result<Option<GrayImage>> {
    let dict = stream.dict();
    let side = |long: &str, short: &str| dict.get::<u32>(long).or_else(|| dict.get::<u32>(short)).unwrap_or(0);
    let (width, height) = (side("Width", "W"), side("Height", "H"));
    let pixels = u64::from(width) * u64::from(height);
    if pixels == 0 || pixels > MOST_PIXELS {
        return Ok(None);
    }
    let is_mask = dict.get::<bool>("ImageMask").unwrap_or(false);
    let bits = if is_mask { 1 } else { dict.get::<u8>("BitsPerComponent").unwrap_or(8) };
    let colors = if is_mask { Colors::Gray } else { Colors::of(dict.get::<Object<'_>>("ColorSpace").as_ref()) };
    let params = ImageDecodeParams {
        is_indexed: matches!(colors, Colors::Table(_)),
        bpc: Some(bits),
        num_components: Some(colors.count() as u8),
        target_dimension: None,
        width,
        height,
    };
    let Ok(decoded) = stream.decoded_image(&params) else { return Ok(None) };
    budget.unpack(decoded.data.len())?;
    let inverted =
        dict.get::<Array<'_>>("Decode").and_then(|list| list.iter::<f32>().next()).is_some_and(|low| low > 0.5);
    Ok(shades(&decoded, (width, height, bits), &colors, inverted))
}

impl Colors {
    fn of(space: Option<&Object<'_>>) -> Self {
        match space {
            Some(Object::Name(name)) => Self::named(name),
            Some(Object::Array(parts)) => Self::of_parts(parts),
            _ => Self::Gray,
        }
    }

    fn named(name: &[u8]) -> Self {
        match name {
            b"DeviceRGB" | b"RGB" | b"CalRGB" => Self::Rgb,
            b"DeviceCMYK" | b"CMYK" => Self::Cmyk,
            _ => Self::Gray,
        }
    }

    fn of_parts(parts: &Array<'_>) -> Self {
        let mut parts = parts.flex_iter();
        let kind = parts.next::<Name<'_>>();
        match kind.as_deref() {
            Some(b"ICCBased") => match parts.next::<Stream<'_>>().and_then(|profile| profile.dict().get::<u8>("N")) {
                Some(3) => Self::Rgb,
                Some(4) => Self::Cmyk,
                _ => Self::Gray,
            },
            Some(b"Indexed" | b"I") => {
                let base = Self::of(parts.next::<Object<'_>>().as_ref());
                let _last = parts.next::<u32>();
                let table = match parts.next::<Object<'_>>() {
                    Some(Object::String(string)) => string.as_bytes().to_vec(),
                    Some(Object::Stream(stream)) => {
                        stream.decoded_data().map(std::borrow::Cow::into_owned).unwrap_or_default()
                    }
                    _ => Vec::new(),
                };
                Self::Table(table.chunks_exact(base.count()).map(|color| base.shade(color)).collect())
            }
            Some(b"Separation") => Self::Inks(1),
            Some(b"DeviceN") => {
                Self::Inks(parts.next::<Array<'_>>().map_or(1, |names| names.iter::<Name<'_>>().count()).max(1))
            }
            Some(name) => Self::named(name),
            None => Self::Gray,
        }
    }

    fn count(&self) -> usize {
        match self {
            Self::Gray | Self::Table(_) => 1,
            Self::Rgb => 3,
            Self::Cmyk => 4,
            Self::Inks(count) => *count,
        }
    }

    fn shade(&self, color: &[u8]) -> u8 {
        let part = |index: usize| u32::from(color.get(index).copied().unwrap_or(0));
        match self {
            Self::Gray => part(0) as u8,
            Self::Rgb => ((299 * part(0) + 587 * part(1) + 114 * part(2)) / 1000) as u8,
            Self::Cmyk => {
                let ink = (299 * part(0) + 587 * part(1) + 114 * part(2)) / 1000;
                ((255 - ink) * (255 - part(3)) / 255) as u8
            }
            Self::Inks(_) => 255 - color.iter().copied().max().unwrap_or(0),
            Self::Table(shades) => shades.get(part(0) as usize).copied().unwrap_or(255),
        }
    }
}

fn shades(
    decoded: &FilterResult<'_>,
    (width, height, bits): (u32, u32, u8),
    colors: &Colors,
    inverted: bool,
) -> Option<GrayImage> {
    let told = decoded.image_data.as_ref();
    let (width, height) = told.map_or((width, height), |told| (told.width, told.height));
    let bits = usize::from(told.map_or(bits, |told| told.bits_per_component));
    let of_decoder = match told.and_then(|told| told.color_space) {
        Some(ImageColorSpace::Gray) if colors.count() != 1 => Some(Colors::Gray),
        Some(ImageColorSpace::Rgb) => Some(Colors::Rgb),
        Some(ImageColorSpace::Cmyk) => Some(Colors::Cmyk),
        _ => None,
    };
    let colors = of_decoder.as_ref().unwrap_or(colors);
    let count = colors.count();
    let row_bytes = (width as usize * count * bits).div_ceil(8);
    let is_table = matches!(colors, Colors::Table(_));
    let mut found = GrayImage::from_pixel(width, height, Luma([255]));
    let mut color = vec![0u8; count];
    for (y, row) in decoded.data.chunks_exact(row_bytes.max(1)).take(height as usize).enumerate() {
        for x in 0..width as usize {
            for (part, value) in color.iter_mut().enumerate() {
                *value = sample(row, x * count + part, bits, is_table)?;
                if inverted && !is_table {
                    *value = 255 - *value;
                }
            }
            found.put_pixel(x as u32, y as u32, Luma([colors.shade(&color)]));
        }
    }
    Some(found)
}

/// A number of a row, spread to a byte unless it stands for a colour of a table.
fn sample(row: &[u8], index: usize, bits: usize, is_table: bool) -> Option<u8> {
    match bits {
        8 => row.get(index).copied(),
        16 => row.get(index * 2).copied(),
        1 | 2 | 4 => {
            let at = index * bits;
            let byte = row.get(at / 8)?;
            let most = (1u8 << bits) - 1;
            let value = (byte >> (8 - bits - at % 8)) & most;
            Some(if is_table { value } else { (u16::from(value) * 255 / u16::from(most)) as u8 })
        }
        _ => None,
    }
}

/// The page with its pictures; `width` and `height` in points.
pub(super) fn composed(drawn: &[Drawn], width: f32, height: f32) -> Option<GrayImage> {
    let dpi = drawn.iter().map(Drawn::dpi).filter(|dpi| dpi.is_finite()).fold(0.0, f32::max).clamp(DPI.0, DPI.1);
    if drawn.is_empty() || width < 1.0 || height < 1.0 {
        return None;
    }
    let inches = width * height / (POINTS_PER_INCH * POINTS_PER_INCH);
    let scale = dpi.min((PAGE_PIXELS / inches).sqrt()) / POINTS_PER_INCH;
    let side = |points: f32| ((points * scale).round() as u32).max(1);
    let mut page = GrayImage::from_pixel(side(width), side(height), Luma([255]));
    for one in drawn {
        paint(&mut page, one, scale);
    }
    Some(page)
}

#[expect(clippy::many_single_char_names, reason = "as matrices are written")]
fn paint(page: &mut GrayImage, drawn: &Drawn, scale: f32) {
    let matrix = drawn.matrix.then(Matrix([scale, 0.0, 0.0, scale, 0.0, 0.0]));
    let [a, b, c, d, e, f] = matrix.0;
    let det = a * d - b * c;
    if !det.is_finite() || det.abs() < 1.0 {
        return;
    }
    let corners = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)].map(|(x, y)| matrix.apply(x, y));
    let range = |pick: fn(&(f32, f32)) -> f32, most: u32| {
        let low = corners.iter().map(pick).fold(f32::MAX, f32::min).floor().clamp(0.0, most as f32);
        let high = corners.iter().map(pick).fold(f32::MIN, f32::max).ceil().clamp(0.0, most as f32);
        low as u32..high as u32
    };
    let (width, height) = (drawn.shades.width() as f32, drawn.shades.height() as f32);
    let finer = (width / matrix.width()).max(height / matrix.height());
    let samples = (finer.ceil() as usize).clamp(1, SAMPLES);
    let rows = range(|corner| corner.1, page.height());
    for y in rows {
        for x in range(|corner| corner.0, page.width()) {
            let below = f32::from(page.get_pixel(x, y).0[0]);
            let mut sum = 0.0;
            for part in 0..samples * samples {
                let step = |part: usize| (part as f32 + 0.5) / samples as f32;
                let (px, py) = (x as f32 + step(part % samples) - e, y as f32 + step(part / samples) - f);
                let (u, v) = ((d * px - c * py) / det, (a * py - b * px) / det);
                if !(0.0..1.0).contains(&u) || !(0.0..1.0).contains(&v) {
                    sum += below;
                    continue;
                }
                let at = |picture: &GrayImage| {
                    let (x, y) = (u * picture.width() as f32, (1.0 - v) * picture.height() as f32);
                    let (x, y) = (x as u32, y as u32);
                    f32::from(picture.get_pixel(x.min(picture.width() - 1), y.min(picture.height() - 1)).0[0])
                };
                let cover = drawn.cover.as_ref().map_or(1.0, |cover| at(cover) / 255.0);
                sum += at(&drawn.shades) * cover + below * (1.0 - cover);
            }
            page.put_pixel(x, y, Luma([(sum / (samples * samples) as f32).round() as u8]));
        }
    }
}
