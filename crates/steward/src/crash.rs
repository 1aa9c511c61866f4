//! For crash tests only: kills itself at named points, tells what was acknowledged, and has tools
//! whose effects an outside server counts. Not in a release.

mod effects;
mod points;
mod witness;

pub use effects::tools;
pub use points::arm;
pub use witness::testify;
