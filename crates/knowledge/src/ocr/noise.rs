//! Specks and grain.

use image::GrayImage;

/// Share of pixels that are unlike all around them from which there are specks.
const SPECKS: f32 = 0.001;
/// Brightness by which a speck differs.
const UNLIKE: i32 = 70;
/// Median of how far pixels are off the plane through those around them from which there is grain.
const GRAIN: usize = 12;

/// Takes specks and grain away where there are any: letters keep their edges else.
pub(super) fn denoise(picture: &GrayImage) -> GrayImage {
    if is_noisy(picture) { median(picture) } else { picture.clone() }
}

fn is_noisy(picture: &GrayImage) -> bool {
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    if width < 3 || height < 3 {
        return false;
    }
    let pixels = picture.as_raw();
    let mut off = [0usize; 1024];
    let (mut specks, mut looked) = (0usize, 0usize);
    for y in (1..height - 1).step_by(2) {
        for x in (1..width - 1).step_by(2) {
            let at = |dx: usize, dy: usize| i32::from(pixels[(y + dy - 1) * width + x + dx - 1]);
            let sides = at(1, 0) + at(0, 1) + at(2, 1) + at(1, 2);
            let corners = at(0, 0) + at(2, 0) + at(0, 2) + at(2, 2);
            let plane = (4 * at(1, 1) - 2 * sides + corners).unsigned_abs() as usize;
            off[plane.min(1023)] += 1;
            let around = [at(0, 0), at(1, 0), at(2, 0), at(0, 1), at(2, 1), at(0, 2), at(1, 2), at(2, 2)];
            let own = at(1, 1);
            let is_speck = around.iter().all(|one| own - one > UNLIKE) || around.iter().all(|one| one - own > UNLIKE);
            specks += usize::from(is_speck);
            looked += 1;
        }
    }
    let mut below = 0;
    let median = off.iter().position(|count| {
        below += count;
        below * 2 >= looked
    });
    specks as f32 > SPECKS * looked as f32 || median.is_some_and(|median| median > GRAIN)
}

/// The middle of the nine pixels at each place.
fn median(picture: &GrayImage) -> GrayImage {
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    let pixels = picture.as_raw();
    let mut found = pixels.clone();
    for y in 1..height - 1 {
        for x in 1..width - 1 {
            let mut nine = [0u8; 9];
            for (row, three) in nine.chunks_exact_mut(3).enumerate() {
                let from = (y + row - 1) * width + x - 1;
                three.copy_from_slice(&pixels[from..from + 3]);
            }
            found[y * width + x] = middle(nine);
        }
    }
    GrayImage::from_raw(picture.width(), picture.height(), found).unwrap_or_else(|| picture.clone())
}

/// By the 19 exchanges that are enough for it.
fn middle(mut p: [u8; 9]) -> u8 {
    const EXCHANGES: [(usize, usize); 19] = [
        (1, 2),
        (4, 5),
        (7, 8),
        (0, 1),
        (3, 4),
        (6, 7),
        (1, 2),
        (4, 5),
        (7, 8),
        (0, 3),
        (5, 8),
        (4, 7),
        (3, 6),
        (1, 4),
        (2, 5),
        (4, 7),
        (4, 2),
        (6, 4),
        (4, 2),
    ];
    for (low, high) in EXCHANGES {
        let (a, b) = (p[low], p[high]);
        p[low] = a.min(b);
        p[high] = a.max(b);
    }
    p[4]
}

#[cfg(test)]
mod tests {
    use super::{denoise, middle};
    use image::{GrayImage, Luma};

    #[test]
    fn the_middle_of_nine_is_found() {
        assert_eq!(middle([9, 1, 8, 2, 7, 3, 6, 4, 5]), 5);
        assert_eq!(middle([0, 0, 0, 0, 255, 255, 255, 255, 255]), 255);
    }

    #[test]
    fn specks_go_and_strokes_stay() {
        let mut picture = GrayImage::from_pixel(90, 90, Luma([255]));
        for y in 20..60 {
            for x in 40..44 {
                picture.put_pixel(x, y, Luma([0]));
            }
        }
        let clean = picture.clone();
        assert_eq!(denoise(&clean), clean);
        for x in (5..85).step_by(9) {
            picture.put_pixel(x, 5, Luma([0]));
            picture.put_pixel(x, 75, Luma([0]));
        }
        let found = denoise(&picture);
        assert_eq!(found.get_pixel(41, 40), &Luma([0]));
        assert!((5..85).step_by(9).all(|x| found.get_pixel(x, 5) == &Luma([255])));
    }
}
