//! Which way a page lies, how its lines slope, and how high its letters are: told from where its ink is, row by row.

use super::shades::otsu;
use image::{GrayImage, Luma, imageops};

/// Longest side of the picture that slopes are measured on.
const SMALL: u32 = 1100;
/// Points of ink that are looked at.
const POINTS: usize = 40_000;
/// Largest slope that is mended, degrees.
const MOST: f32 = 15.0;
/// Slopes below it are left, since turning blurs, degrees.
const LEAST: f32 = 0.15;
/// How much better a page must look when turned.
const BETTER: f32 = 1.25;
/// Strips that rows are looked at in, since columns need not have their lines beside each other.
const STRIPS: u32 = 6;

/// How a page lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pose {
    /// Its lines go up and down.
    pub lies: bool,
    /// How far its lines go down to the right, degrees.
    pub slope: f32,
}

struct Ink {
    points: Vec<(f32, f32)>,
}

pub(super) fn pose(picture: &GrayImage) -> Pose {
    let small = reduced(picture, SMALL);
    let ink = Ink::of(&small);
    let turned = Ink { points: ink.points.iter().map(|(x, y)| (*y, -*x)).collect() };
    let (slope, evenness) = ink.slope();
    let (turned_slope, turned_evenness) = turned.slope();
    if turned_evenness > BETTER * evenness {
        Pose { lies: true, slope: turned_slope }
    } else {
        Pose { lies: false, slope }
    }
}

fn reduced(picture: &GrayImage, most: u32) -> GrayImage {
    let longest = picture.width().max(picture.height());
    if longest <= most {
        return picture.clone();
    }
    let side = |side: u32| (side * most / longest).max(1);
    imageops::resize(picture, side(picture.width()), side(picture.height()), imageops::FilterType::Triangle)
}

impl Ink {
    fn of(picture: &GrayImage) -> Self {
        let limit = otsu(picture);
        let all = picture.enumerate_pixels().filter(|(_, _, shade)| shade.0[0] <= limit);
        let mut points: Vec<(f32, f32)> = all.map(|(x, y, _)| (x as f32, y as f32)).collect();
        // A whole number of pixels apart would leave out whole rows.
        let keep = POINTS as f32 / points.len().max(1) as f32;
        let mut share = 0.0;
        points.retain(|_| {
            share += keep;
            let kept = share >= 1.0;
            share -= if kept { share.floor() } else { 0.0 };
            kept
        });
        Self { points }
    }

    /// The slope at which rows differ most, and how much they do.
    fn slope(&self) -> (f32, f32) {
        let best_of = |from: f32, to: f32, step: f32| {
            let steps = ((to - from) / step).round() as usize;
            (0..=steps)
                .map(|index| from + index as f32 * step)
                .map(|slope| (slope, self.evenness(slope)))
                .fold((0.0, 0.0), |best, one| if one.1 > best.1 { one } else { best })
        };
        let (rough, _) = best_of(-MOST, MOST, 0.5);
        best_of(rough - 0.5, rough + 0.5, 0.05)
    }

    fn evenness(&self, slope: f32) -> f32 {
        let (sin, cos) = slope.to_radians().sin_cos();
        let rows = self.points.iter().map(|(x, y)| y * cos - x * sin);
        let least = rows.clone().fold(f32::MAX, f32::min).floor();
        let most = rows.clone().fold(f32::MIN, f32::max);
        if self.points.is_empty() {
            return 0.0;
        }
        let mut counts = vec![0.0f32; (most - least) as usize + 2];
        for row in rows {
            counts[(row - least) as usize] += 1.0;
        }
        counts.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum()
    }
}

/// Level again: turned back by the slope around the middle, on a picture that holds all of it. With where its pixels were.
pub(super) fn level(picture: &GrayImage, slope: f32) -> Option<(GrayImage, [f32; 6])> {
    if slope.abs() < LEAST {
        return None;
    }
    let (sin, cos) = slope.to_radians().sin_cos();
    let (width, height) = (picture.width() as f32, picture.height() as f32);
    let new_width = (width * cos + height * sin.abs()).ceil();
    let new_height = (height * cos + width * sin.abs()).ceil();
    // From the new picture into the old.
    let e = width / 2.0 - cos * new_width / 2.0 + sin * new_height / 2.0;
    let f = height / 2.0 - sin * new_width / 2.0 - cos * new_height / 2.0;
    let back = [cos, sin, -sin, cos, e, f];
    let found = GrayImage::from_fn(new_width as u32, new_height as u32, |x, y| {
        let (x, y) = (x as f32 + 0.5, y as f32 + 0.5);
        Luma([between(picture, cos * x - sin * y + e - 0.5, sin * x + cos * y + f - 0.5)])
    });
    Some((found, back))
}

/// The shade at a place between pixels; white beyond the picture.
pub(super) fn between(picture: &GrayImage, x: f32, y: f32) -> u8 {
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    let (left, top) = (x.floor(), y.floor());
    let (right_share, low_share) = (x - left, y - top);
    let pixels = picture.as_raw();
    let at = |x: f32, y: f32| {
        let inside = x >= 0.0 && y >= 0.0 && (x as usize) < width && (y as usize) < height;
        if inside { f32::from(pixels[y as usize * width + x as usize]) } else { 255.0 }
    };
    if x < -1.0 || y < -1.0 || x > width as f32 || y > height as f32 {
        return 255;
    }
    let above = at(left, top) * (1.0 - right_share) + at(left + 1.0, top) * right_share;
    let below = at(left, top + 1.0) * (1.0 - right_share) + at(left + 1.0, top + 1.0) * right_share;
    (above * (1.0 - low_share) + below * low_share).round() as u8
}

/// Lines of text whose letters stand level.
pub(super) struct Lines {
    /// How high small letters are, of each line in each strip.
    heights: Vec<f32>,
    above: f64,
    below: f64,
}

impl Lines {
    pub fn of(picture: &GrayImage) -> Self {
        let limit = otsu(picture);
        let (width, height) = picture.dimensions();
        let strip = (width / STRIPS).max(1);
        let mut found = Self { heights: Vec::new(), above: 0.0, below: 0.0 };
        for from in (0..width).step_by(strip as usize) {
            let to = (from + strip).min(width);
            let rows: Vec<u32> = (0..height)
                .map(|y| (from..to).filter(|x| picture.get_pixel(*x, y).0[0] <= limit).count() as u32)
                .collect();
            found.add(&rows);
        }
        found
    }

    /// Each run of rows with ink is a line; where it has most of it, small letters are.
    fn add(&mut self, rows: &[u32]) {
        let mut from = None;
        for (row, ink) in rows.iter().chain([&0]).enumerate() {
            match (from, *ink > 0) {
                (None, true) => from = Some(row),
                (Some(begin), false) => {
                    self.line(&rows[begin..row]);
                    from = None;
                }
                _ => {}
            }
        }
    }

    fn line(&mut self, rows: &[u32]) {
        let most = rows.iter().copied().max().unwrap_or(0);
        let is_core = |ink: &u32| *ink * 5 >= most * 2;
        let (Some(first), Some(last)) = (rows.iter().position(is_core), rows.iter().rposition(is_core)) else { return };
        let core = last + 1 - first;
        // Lines that touch each other, rules and pictures tell nothing.
        if rows.len() < 6 || rows.len() > core * 3 || core < 4 || most < 8 {
            return;
        }
        self.heights.push(core as f32);
        let whole: f64 = rows.iter().map(|ink| f64::from(*ink)).sum();
        self.above += rows[..first].iter().map(|ink| f64::from(*ink)).sum::<f64>() / whole;
        self.below += rows[last + 1..].iter().map(|ink| f64::from(*ink)).sum::<f64>() / whole;
    }

    /// More of the letters goes up beyond the small ones than down, in all languages with Latin letters.
    pub fn is_upside_down(&self) -> bool {
        self.heights.len() >= 4 && self.below > 1.1 * self.above
    }

    /// How high small letters are, in pixels; `None` if there are too few lines to tell.
    pub fn letter_height(mut self) -> Option<f32> {
        if self.heights.len() < 3 {
            return None;
        }
        self.heights.sort_by(f32::total_cmp);
        Some(self.heights[self.heights.len() / 2])
    }
}
