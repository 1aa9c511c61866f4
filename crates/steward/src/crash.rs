//! For crash tests only, never in a release: kills itself at named points, reports what was acknowledged, and has tools
//! whose effects an outside server counts.

mod effects;
mod points;
mod witness;

pub use effects::tools;
pub use points::arm;
pub use witness::testify;
