//! How dark a picture is, and where.

use image::{GrayImage, Luma};

/// Share of pixels that may become wholly black or white.
const CLIPPED: f32 = 0.005;
/// Side of the squares that the paper's shade is found in.
const SQUARE: u32 = 32;
/// Of a square's pixels, how many are darker than its paper.
const PAPER: f32 = 0.8;
/// Paper is no darker; what is, is a picture.
const DARKEST_PAPER: f32 = 60.0;
/// What belongs to a dark edge.
const DARK: u8 = 90;
/// Least and most of a picture that a dark edge covers.
const EDGE: (f32, f32) = (0.002, 0.5);

/// Spreads the shades from black to white, with the writing dark.
pub(super) fn contrast(picture: &GrayImage) -> GrayImage {
    let counts = histogram(picture);
    let all = (picture.width() as usize * picture.height() as usize).max(1);
    let (low, high) = (quantile(&counts, all, CLIPPED, 0), quantile(&counts, all, 1.0 - CLIPPED, 255));
    if high - low < 8 {
        return picture.clone();
    }
    let mean = counts.iter().enumerate().map(|(shade, count)| shade as f32 * *count as f32).sum::<f32>() / all as f32;
    let is_negative = (mean - low as f32) < 0.4 * (high - low) as f32;
    let mut table = [0u8; 256];
    for (shade, new) in (0i32..).zip(&mut table) {
        let spread = ((shade - low) * 255 / (high - low)).clamp(0, 255) as u8;
        *new = if is_negative { 255 - spread } else { spread };
    }
    mapped(picture, |shade| table[usize::from(shade)])
}

/// Paints dark areas white that lie at the edge of the picture and are more than letters.
pub(super) fn without_border(picture: &GrayImage) -> GrayImage {
    let (width, height) = picture.dimensions();
    let mut found = picture.clone();
    let mut seen = vec![false; width as usize * height as usize];
    let all = seen.len() as f32;
    let edge = (0..width)
        .flat_map(|x| [(x, 0), (x, height.saturating_sub(1))])
        .chain((0..height).flat_map(|y| [(0, y), (width.saturating_sub(1), y)]));
    for start in edge {
        let area = dark_area(picture, start, &mut seen);
        let share = area.len() as f32 / all;
        if share < EDGE.0 || share > EDGE.1 {
            continue;
        }
        for (x, y) in area {
            // With what is between dark and light beside it.
            for (x, y) in [(x, y), (x + 1, y), (x.wrapping_sub(1), y), (x, y + 1), (x, y.wrapping_sub(1))] {
                if x < width && y < height {
                    found.put_pixel(x, y, Luma([255]));
                }
            }
        }
    }
    found
}

fn dark_area(picture: &GrayImage, start: (u32, u32), seen: &mut [bool]) -> Vec<(u32, u32)> {
    let (width, height) = picture.dimensions();
    let (mut area, mut open) = (Vec::new(), vec![start]);
    while let Some((x, y)) = open.pop() {
        let index = y as usize * width as usize + x as usize;
        if seen[index] || picture.get_pixel(x, y).0[0] >= DARK {
            continue;
        }
        seen[index] = true;
        area.push((x, y));
        open.extend((x > 0).then(|| (x - 1, y)));
        open.extend((x + 1 < width).then_some((x + 1, y)));
        open.extend((y > 0).then(|| (x, y - 1)));
        open.extend((y + 1 < height).then_some((x, y + 1)));
    }
    area
}

/// Makes the paper white everywhere: each shade is measured by that of the paper around it.
pub(super) fn threshold(picture: &GrayImage) -> GrayImage {
    let (width, height) = picture.dimensions();
    let (columns, rows) = (width.div_ceil(SQUARE).max(1), height.div_ceil(SQUARE).max(1));
    let mut paper = image::ImageBuffer::<Luma<f32>, Vec<f32>>::new(columns, rows);
    for row in 0..rows {
        for column in 0..columns {
            paper.put_pixel(column, row, Luma([shade_of_paper(picture, column * SQUARE, row * SQUARE)]));
        }
    }
    let mut found = picture.clone();
    let at = |column: i64, row: i64| {
        let column = column.clamp(0, i64::from(columns) - 1) as u32;
        paper.get_pixel(column, row.clamp(0, i64::from(rows) - 1) as u32).0[0]
    };
    let side = SQUARE as f32;
    let cut = |place: u32| {
        let place = (place as f32 + 0.5) / side - 0.5;
        (place.floor() as i64, place - place.floor())
    };
    for y in 0..height {
        let (row, down) = cut(y);
        for x in 0..width {
            let (column, right) = cut(x);
            let above = at(column, row) * (1.0 - right) + at(column + 1, row) * right;
            let below = at(column, row + 1) * (1.0 - right) + at(column + 1, row + 1) * right;
            let white = above * (1.0 - down) + below * down;
            let pixel = found.get_pixel_mut(x, y);
            // Grain of the paper is white as well.
            pixel.0[0] = (f32::from(pixel.0[0]) / white * 275.0).min(255.0) as u8;
        }
    }
    found
}

fn shade_of_paper(picture: &GrayImage, x0: u32, y0: u32) -> f32 {
    let mut counts = [0usize; 256];
    let mut all = 0;
    // The squares overlap by half, or one within thick strokes would have no paper.
    let (from_x, from_y) = (x0.saturating_sub(SQUARE / 2), y0.saturating_sub(SQUARE / 2));
    for y in (from_y..picture.height().min(y0 + SQUARE * 3 / 2)).step_by(2) {
        for x in (from_x..picture.width().min(x0 + SQUARE * 3 / 2)).step_by(2) {
            counts[usize::from(picture.get_pixel(x, y).0[0])] += 1;
            all += 1;
        }
    }
    (quantile(&counts, all, PAPER, 255) as f32).max(DARKEST_PAPER)
}

/// Black and white, parted where the shades of writing and paper are furthest apart (Otsu).
pub(super) fn binarise(picture: &GrayImage) -> GrayImage {
    let limit = otsu(picture);
    mapped(picture, |shade| if shade <= limit { 0 } else { 255 })
}

/// The lightest shade of what is dark.
pub(super) fn otsu(picture: &GrayImage) -> u8 {
    let counts = histogram(picture);
    let all: f64 = counts.iter().map(|count| *count as f64).sum();
    let total: f64 = counts.iter().enumerate().map(|(shade, count)| shade as f64 * *count as f64).sum();
    let (mut dark, mut dark_sum, mut best) = (0.0, 0.0, (0.0, 127u8));
    for (shade, count) in counts.iter().enumerate() {
        dark += *count as f64;
        dark_sum += shade as f64 * *count as f64;
        let light = all - dark;
        if dark == 0.0 || light == 0.0 {
            continue;
        }
        let apart = dark_sum / dark - (total - dark_sum) / light;
        let score = dark * light * apart * apart;
        if score > best.0 {
            best = (score, shade as u8);
        }
    }
    best.1
}

fn histogram(picture: &GrayImage) -> [usize; 256] {
    let mut counts = [0; 256];
    for shade in picture.as_raw() {
        counts[usize::from(*shade)] += 1;
    }
    counts
}

/// The shade below which a part of all pixels is; `none` if there are no pixels.
fn quantile(counts: &[usize; 256], all: usize, part: f32, none: i32) -> i32 {
    let (mut sum, wanted) = (0usize, all as f32 * part);
    let found = (0..).zip(counts).find(|(_, count)| {
        sum += *count;
        sum as f32 > wanted
    });
    found.map_or(none, |(shade, _)| shade)
}

fn mapped(picture: &GrayImage, map: impl Fn(u8) -> u8) -> GrayImage {
    let mut found = picture.clone();
    for shade in found.iter_mut() {
        *shade = map(*shade);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{binarise, contrast, otsu, threshold, without_border};
    use image::{GrayImage, Luma};

    fn strokes(paper: impl Fn(u32, u32) -> u8, ink: u8) -> GrayImage {
        GrayImage::from_fn(200, 200, |x, y| if x % 20 < 3 && y % 40 < 20 { Luma([ink]) } else { Luma([paper(x, y)]) })
    }

    #[test]
    fn pale_and_negative_pictures_become_black_on_white() {
        let found = contrast(&strokes(|_, _| 180, 140));
        assert_eq!((found.get_pixel(1, 1).0, found.get_pixel(10, 30).0), ([0], [255]));
        let found = contrast(&strokes(|_, _| 20, 230));
        assert_eq!((found.get_pixel(1, 1).0, found.get_pixel(10, 30).0), ([0], [255]));
        let plain = GrayImage::from_pixel(20, 20, Luma([99]));
        assert_eq!(contrast(&plain), plain);
    }

    #[test]
    fn shadows_go_before_black_and_white_is_parted() {
        let shadowed = strokes(|x, _| 240 - (x * 3 / 4) as u8, 60);
        let found = binarise(&threshold(&shadowed));
        let wrong = shadowed.enumerate_pixels().filter(|(x, y, _)| {
            let is_ink = x % 20 < 3 && y % 40 < 20;
            (found.get_pixel(*x, *y).0[0] == 0) != is_ink
        });
        assert_eq!(wrong.count(), 0);
        assert!((60..240).contains(&otsu(&strokes(|_, _| 240, 60))));
    }

    #[test]
    fn dark_edges_go_and_letters_at_the_edge_stay() {
        let mut picture = strokes(|_, _| 255, 0);
        for y in 0..200 {
            for x in 190..200 {
                picture.put_pixel(x, y, Luma([10]));
            }
        }
        let found = without_border(&picture);
        assert_eq!(found.get_pixel(195, 100).0, [255]);
        assert_eq!(found.get_pixel(1, 1).0, [0]);
    }
}
