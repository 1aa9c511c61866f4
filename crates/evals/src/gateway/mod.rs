//! `steward-evals gateway`: what Steward's gateway adds to a call.

mod bench;
mod load;
mod measure;
mod places;
mod relay;
mod report;
mod upstream;

pub use bench::run;
