//! All connections of an installation behind the core's port.

mod children;
mod router;

pub use children::LocalChildren;
pub use router::Router;
