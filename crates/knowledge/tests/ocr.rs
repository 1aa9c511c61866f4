//! Pictures of pages: out of files, and prepared for reading.

use image::{GrayImage, Luma};
use steward_knowledge::extract::{ExtractError, ExtractLimits, extract};
use steward_knowledge::ocr::{PicturePage, Steps, page_picture, prepare};

/// A PDF of one page, 200 by 100 points, with a picture over its left half.
fn pdf(picture: &str, bytes: &[u8]) -> Vec<u8> {
    let content = "q 100 0 0 100 0 0 cm /Im Do Q";
    let mut pdf = format!(
        "%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n\
         2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n\
         3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 100] /Contents 4 0 R \
         /Resources << /XObject << /Im 5 0 R >> >> >>\nendobj\n\
         4 0 obj\n<< /Length {} >>\nstream\n{content}\nendstream\nendobj\n\
         5 0 obj\n<< /Type /XObject /Subtype /Image {picture} /Length {} >>\nstream\n",
        content.len(),
        bytes.len()
    )
    .into_bytes();
    pdf.extend(bytes);
    pdf.extend(b"\nendstream\nendobj\ntrailer << /Size 6 /Root 1 0 R >>\n%%EOF\n");
    pdf
}

fn picture(bytes: &[u8]) -> GrayImage {
    match page_picture(bytes, 1, &ExtractLimits::default()).unwrap() {
        PicturePage::Picture(picture) => picture,
        PicturePage::NeedsDrawing => panic!("there is no picture"),
    }
}

/// The shade at a place in shares of the page.
fn at(picture: &GrayImage, x: f32, y: f32) -> u8 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "pixels")]
    let pixel = |share: f32, side: u32| (share * side as f32) as u32;
    picture.get_pixel(pixel(x, picture.width()), pixel(y, picture.height())).0[0]
}

#[test]
fn pictures_of_all_kinds_are_put_on_their_page() {
    // Each is black above and white below, two pixels in each direction.
    let gray = "/Width 2 /Height 2 /BitsPerComponent 8 /ColorSpace /DeviceGray";
    let bits = "/Width 2 /Height 2 /BitsPerComponent 1 /ColorSpace /DeviceGray";
    let cases: [(&str, String, Vec<u8>); 8] = [
        ("gray", gray.to_owned(), vec![0, 0, 255, 255]),
        ("inverted", format!("{gray} /Decode [1 0]"), vec![255, 255, 0, 0]),
        ("bits", bits.to_owned(), vec![0b0000_0000, 0b1100_0000]),
        ("mask", "/Width 2 /Height 2 /ImageMask true".to_owned(), vec![0b0000_0000, 0b1100_0000]),
        (
            "colors",
            "/Width 2 /Height 2 /BitsPerComponent 8 /ColorSpace /DeviceRGB".to_owned(),
            [[0u8; 6], [255; 6]].concat(),
        ),
        (
            "inks",
            "/Width 2 /Height 2 /BitsPerComponent 8 /ColorSpace /DeviceCMYK".to_owned(),
            [[0, 0, 0, 255, 0, 0, 0, 255], [0; 8]].concat(),
        ),
        (
            "a table",
            "/Width 2 /Height 2 /BitsPerComponent 4 /ColorSpace [/Indexed /DeviceRGB 1 <ffffff000000>]".to_owned(),
            vec![0x11, 0x00],
        ),
        ("hexadecimal", format!("{gray} /Filter /ASCIIHexDecode"), b"0000ffff>".to_vec()),
    ];
    for (what, dict, bytes) in cases {
        let found = picture(&pdf(&dict, &bytes));
        assert_eq!((at(&found, 0.2, 0.2), at(&found, 0.2, 0.8), at(&found, 0.8, 0.2)), (0, 255, 255), "{what}");
    }
}

#[test]
fn pages_without_a_picture_that_can_be_read_are_told() {
    let gray = "/Width 2 /Height 2 /BitsPerComponent 8 /ColorSpace /DeviceGray";
    let broken = [
        "/Filter /DCTDecode",
        "/Filter /JBIG2Decode",
        "/Filter /CCITTFaxDecode",
        "/Filter /JPXDecode",
        "/Filter /Nothing",
    ];
    for filter in broken {
        // Some decoders make of it what they can; none may fail.
        let found = page_picture(&pdf(&format!("{gray} {filter}"), b"\x01\x02\x03"), 1, &ExtractLimits::default());
        assert!(found.is_ok(), "{filter}: {found:?}");
    }
    let giant = "/Width 4000000 /Height 4000000 /BitsPerComponent 1 /ColorSpace /DeviceGray";
    let found = page_picture(&pdf(giant, b"\x00"), 1, &ExtractLimits::default()).unwrap();
    assert!(matches!(found, PicturePage::NeedsDrawing), "{found:?}");
    let none = page_picture(&pdf(gray, &[0, 0, 0, 0]), 2, &ExtractLimits::default());
    assert!(matches!(none, Err(ExtractError::Broken(_))), "{none:?}");
}

#[test]
fn each_page_of_a_tiff_is_one() {
    // Two pages of one pixel, black and white, written by hand: 8 entries each.
    let page = |next: u32, shade: u8, at: u32| {
        let entry = |tag: u16, kind: u16, value: u32| {
            let mut entry = Vec::new();
            entry.extend(tag.to_le_bytes());
            entry.extend(kind.to_le_bytes());
            entry.extend(1u32.to_le_bytes());
            entry.extend(value.to_le_bytes());
            entry
        };
        let entries =
            [(256, 4, 1), (257, 4, 1), (258, 3, 8), (259, 3, 1), (262, 3, 1), (273, 4, at), (278, 4, 1), (279, 4, 1)];
        let mut page = 8u16.to_le_bytes().to_vec();
        page.extend(entries.iter().flat_map(|(tag, kind, value)| entry(*tag, *kind, *value)));
        page.extend(next.to_le_bytes());
        page.extend([shade, 0]);
        page
    };
    let length = 2 + 8 * 12 + 4 + 2;
    let mut tiff = b"II*\0\x08\0\0\0".to_vec();
    tiff.extend(page(8 + length, 0, 8 + length - 2));
    tiff.extend(page(0, 255, 8 + 2 * length - 2));
    let found = extract(&tiff, "fax.tiff", &ExtractLimits::default()).unwrap();
    assert_eq!(found.pages.iter().map(|page| page.is_scan).collect::<Vec<_>>(), [true, true]);
    for (number, shade) in [(1, 0), (2, 255)] {
        let PicturePage::Picture(picture) = page_picture(&tiff, number, &ExtractLimits::default()).unwrap() else {
            panic!("page {number}")
        };
        assert_eq!(picture.get_pixel(0, 0).0, [shade]);
    }
    // Pages in a circle end.
    tiff[(8 + length + 98) as usize..(8 + length + 102) as usize].copy_from_slice(&8u32.to_le_bytes());
    assert_eq!(extract(&tiff, "fax.tiff", &ExtractLimits::default()).unwrap().pages.len(), 2);
}

#[test]
fn nothing_is_too_small_or_too_plain_to_prepare() {
    for (width, height) in [(1, 1), (2, 400), (400, 2), (33, 33)] {
        for shade in [0, 128, 255] {
            let page = GrayImage::from_pixel(width, height, Luma([shade]));
            let found = prepare(page, &Steps::default(), false);
            assert!(found.picture.width() > 0 && found.picture.height() > 0);
        }
    }
}
