use serde::{Deserialize, Serialize};

/// An affine map: `a b c d e f` as PDF writes it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Matrix(pub [f32; 6]);

impl Matrix {
    pub const IDENTITY: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    #[expect(clippy::cast_possible_truncation, reason = "points on a page")]
    pub fn of(numbers: [f64; 6]) -> Self {
        Self(numbers.map(|number| number as f32))
    }

    /// This map first, then the other.
    #[expect(clippy::many_single_char_names, reason = "as they are written")]
    pub fn then(self, other: Self) -> Self {
        let ([a, b, c, d, e, f], [p, q, r, s, t, u]) = (self.0, other.0);
        Self([a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s, e * p + f * r + t, e * q + f * s + u])
    }

    #[expect(clippy::many_single_char_names, reason = "as they are written")]
    pub fn apply(self, x: f32, y: f32) -> (f32, f32) {
        let [a, b, c, d, e, f] = self.0;
        (a * x + c * y + e, b * x + d * y + f)
    }

    /// Where the horizontal goes.
    pub fn direction(self) -> (f32, f32) {
        (self.0[0], self.0[1])
    }

    /// How long a horizontal unit becomes.
    pub fn width(self) -> f32 {
        self.0[0].hypot(self.0[1])
    }

    /// How long a vertical unit becomes.
    pub fn height(self) -> f32 {
        self.0[2].hypot(self.0[3])
    }
}
