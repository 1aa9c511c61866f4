mod credentials;
mod fields;

pub use credentials::{kinds, run};
