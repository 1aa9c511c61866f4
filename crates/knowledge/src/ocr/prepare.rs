use super::noise::denoise;
use super::shades::{binarise, contrast, threshold, without_border};
use super::steps::Steps;
use super::turn::{Lines, level, pose};
use crate::matrix::Matrix;
use image::{GrayImage, imageops};
use serde::{Deserialize, Serialize};
use steward_core::extracted::Area;

/// How high small letters are best, in pixels: as those of ordinary text at 300 dots per inch.
const LETTERS: f32 = 24.0;
/// Heights that are left as they are.
const GOOD_LETTERS: (f32, f32) = (17.0, 40.0);
/// How much larger or smaller a picture is made at most.
const SCALES: (f32, f32) = (0.2, 4.0);
/// Pixels of a prepared picture.
const MOST_PIXELS: f32 = 24_000_000.0;

/// A picture that can be read.
#[derive(Debug, Clone)]
pub struct Prepared {
    pub picture: GrayImage,
    pub place: Place,
}

/// Where the pixels of a prepared picture were on the page: an affine map.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Place {
    map: Matrix,
    /// Of the page, in pixels.
    width: f32,
    height: f32,
}

impl Place {
    pub fn new(width: u32, height: u32) -> Self {
        Self { map: Matrix::IDENTITY, width: width as f32, height: height as f32 }
    }

    /// After a change of the picture; `back` says where its pixels were before that change.
    #[must_use]
    pub(super) fn after(self, back: [f32; 6]) -> Self {
        Self { map: Matrix(back).then(self.map), ..self }
    }

    /// The part of the page that a part of the prepared picture shows.
    pub fn area(&self, x0: f32, y0: f32, x1: f32, y1: f32) -> Option<Area> {
        let corners = [(x0, y0), (x1, y0), (x0, y1), (x1, y1)].map(|(x, y)| {
            let (x, y) = self.map.apply(x, y);
            ((x / self.width).clamp(0.0, 1.0), (y / self.height).clamp(0.0, 1.0))
        });
        let least = |pick: fn(&(f32, f32)) -> f32| corners.iter().map(pick).fold(1.0, f32::min);
        let most = |pick: fn(&(f32, f32)) -> f32| corners.iter().map(pick).fold(0.0, f32::max);
        let (x, y) = (least(|corner| corner.0), least(|corner| corner.1));
        let (width, height) = (most(|corner| corner.0) - x, most(|corner| corner.1) - y);
        (width > 0.0 && height > 0.0).then_some(Area { x, y, width, height })
    }
}

/// Does what the steps say, for an engine that wants shades of grey or only black and white.
pub fn prepare(picture: GrayImage, steps: &Steps, wants_shades: bool) -> Prepared {
    let mut place = Place::new(picture.width(), picture.height());
    let mut picture = picture;
    if steps.contrast {
        picture = contrast(&picture);
    }
    if steps.denoise {
        picture = denoise(&picture);
    }
    if steps.border {
        picture = without_border(&picture);
    }
    // Which way lines go is told by ink, and a shadow looks like it.
    if steps.threshold {
        picture = threshold(&picture);
    }
    if steps.rotation || steps.deskew {
        (picture, place) = upright(picture, place, *steps);
    }
    if steps.scaling
        && let Some(height) = Lines::of(&picture).letter_height()
        && !(GOOD_LETTERS.0..=GOOD_LETTERS.1).contains(&height)
    {
        (picture, place) = scaled(&picture, place, LETTERS / height);
    }
    if steps.binarise && !wants_shades {
        picture = binarise(&picture);
    }
    Prepared { picture, place }
}

fn upright(mut picture: GrayImage, mut place: Place, steps: Steps) -> (GrayImage, Place) {
    let pose = pose(&picture);
    let is_turned = pose.lies && steps.rotation;
    if is_turned {
        // `rotate270` puts what was at (x, y) to (y, width - x); the right way of the two is told below.
        place = place.after([0.0, 1.0, -1.0, 0.0, picture.width() as f32, 0.0]);
        picture = imageops::rotate270(&picture);
    }
    if steps.deskew
        && pose.lies == is_turned
        && let Some((found, back)) = level(&picture, pose.slope)
    {
        place = place.after(back);
        picture = found;
    }
    if steps.rotation && Lines::of(&picture).is_upside_down() {
        place = place.after([-1.0, 0.0, 0.0, -1.0, picture.width() as f32, picture.height() as f32]);
        picture = imageops::rotate180(&picture);
    }
    (picture, place)
}

fn scaled(picture: &GrayImage, place: Place, by: f32) -> (GrayImage, Place) {
    let pixels = picture.width() as f32 * picture.height() as f32;
    let by = by.clamp(SCALES.0, SCALES.1).min((MOST_PIXELS / pixels).sqrt());
    let side = |side: u32| ((side as f32 * by).round() as u32).max(1);
    let (width, height) = (side(picture.width()), side(picture.height()));
    let filter = if by > 1.0 { imageops::FilterType::CatmullRom } else { imageops::FilterType::Triangle };
    let found = imageops::resize(picture, width, height, filter);
    let back = [picture.width() as f32 / width as f32, 0.0, 0.0, picture.height() as f32 / height as f32, 0.0, 0.0];
    (found, place.after(back))
}

#[cfg(test)]
mod tests {
    use super::Place;

    #[test]
    fn changes_are_undone_in_turn() {
        // A page of 100 × 200, turned by a quarter and made twice as large.
        let place = Place::new(100, 200).after([0.0, 1.0, -1.0, 0.0, 100.0, 0.0]).after([0.5, 0.0, 0.0, 0.5, 0.0, 0.0]);
        let area = place.area(0.0, 0.0, 40.0, 20.0).unwrap();
        let found = [area.x, area.y, area.width, area.height];
        assert!(found.iter().zip([0.9, 0.0, 0.1, 0.1]).all(|(one, other)| (one - other).abs() < 1e-5), "{area:?}");
        assert_eq!(place.area(5.0, 5.0, 5.0, 9.0), None);
    }
}
