use crate::matrix::Matrix;
use serde::{Deserialize, Serialize};
use steward_core::extracted::Area;

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
