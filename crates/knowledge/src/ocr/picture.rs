//! Pictures of pages out of files.

use crate::extract::{ExtractError, ExtractLimits, pdf_picture, tiff_pages};
use image::{DynamicImage, GrayImage, ImageFormat, ImageReader, Luma, imageops};
use std::borrow::Cow;
use std::io::Cursor;

/// Of a picture that is looked at.
pub const PICTURE_PIXELS: u64 = 120_000_000;
/// Bytes that a decoder may ask for.
const DECODER_BYTES: u64 = 700 << 20;
/// Side of a picture.
const MOST_SIDE: u32 = 40_000;
/// Longest side of what a model is shown: more is made smaller there.
const MODEL_SIDE: u32 = 1_600;

/// What the page of a file looks like.
#[derive(Debug)]
pub enum PicturePage {
    Picture(GrayImage),
    /// It is a page of a PDF on which no picture stands that can be read here.
    NeedsDrawing,
}

/// The picture of a page, from 1, of a PDF or of a file that is a picture.
pub fn page_picture(bytes: &[u8], page: u32, limits: &ExtractLimits) -> Result<PicturePage, ExtractError> {
    if bytes.len() > limits.input_bytes {
        return Err(ExtractError::TooLarge(format!("it has {} MB", bytes.len() >> 20)));
    }
    if let Ok(format) = image::guess_format(bytes) {
        return decode(bytes, page, format).map(PicturePage::Picture);
    }
    Ok(pdf_picture(bytes, page, limits)?.map_or(PicturePage::NeedsDrawing, PicturePage::Picture))
}

fn decode(bytes: &[u8], page: u32, format: ImageFormat) -> Result<GrayImage, ExtractError> {
    let bytes = if format == ImageFormat::Tiff { tiff_page(bytes, page)? } else { Cow::Borrowed(bytes) };
    let broken = |error: image::ImageError| match error {
        image::ImageError::Limits(_) => too_large(),
        image::ImageError::Unsupported(_) => {
            ExtractError::UnknownFormat(format!("the picture is of a kind that is not read: {error}"))
        }
        error => ExtractError::Broken(error.to_string()),
    };
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut limits = image::Limits::default();
    limits.max_image_width = Some(MOST_SIDE);
    limits.max_image_height = Some(MOST_SIDE);
    limits.max_alloc = Some(DECODER_BYTES);
    reader.limits(limits);
    let picture = reader.decode().map_err(broken)?;
    if u64::from(picture.width()) * u64::from(picture.height()) > PICTURE_PIXELS {
        return Err(too_large());
    }
    Ok(on_white(picture))
}

fn too_large() -> ExtractError {
    ExtractError::TooLarge(format!("the picture has more than {} million pixels", PICTURE_PIXELS / 1_000_000))
}

fn on_white(picture: DynamicImage) -> GrayImage {
    if !picture.color().has_alpha() {
        return picture.into_luma8();
    }
    let picture = picture.into_luma_alpha8();
    GrayImage::from_fn(picture.width(), picture.height(), |x, y| {
        let [shade, alpha] = picture.get_pixel(x, y).0.map(u16::from);
        Luma([((shade * alpha + 255 * (255 - alpha)) / 255) as u8])
    })
}

/// The same file with this page as its first, since the decoder reads only that.
fn tiff_page(bytes: &[u8], page: u32) -> Result<Cow<'_, [u8]>, ExtractError> {
    if page <= 1 {
        return Ok(Cow::Borrowed(bytes));
    }
    let at = tiff_pages(bytes).get(page as usize - 1).copied();
    let at = at.ok_or_else(|| ExtractError::Broken(format!("it has no page {page}")))?;
    let at = if bytes.starts_with(b"II") { at.to_le_bytes() } else { at.to_be_bytes() };
    let mut bytes = bytes.to_vec();
    bytes[4..8].copy_from_slice(&at);
    Ok(Cow::Owned(bytes))
}

/// A picture as PNG.
pub fn png(picture: &GrayImage) -> Result<Vec<u8>, ExtractError> {
    let mut png = Vec::new();
    let written = picture.write_to(&mut Cursor::new(&mut png), ImageFormat::Png);
    written.map(|()| png).map_err(|error| ExtractError::Broken(error.to_string()))
}

/// A picture as PNG, as large as a model looks at.
pub fn png_of_model(picture: &GrayImage) -> Result<Vec<u8>, ExtractError> {
    let longest = picture.width().max(picture.height());
    if longest <= MODEL_SIDE {
        return png(picture);
    }
    let side = |side: u32| (u64::from(side) * u64::from(MODEL_SIDE) / u64::from(longest)).max(1) as u32;
    let (width, height) = (side(picture.width()), side(picture.height()));
    png(&imageops::resize(picture, width, height, imageops::FilterType::Triangle))
}
