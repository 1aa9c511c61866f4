pub mod features;
mod tools;
mod vectors;
mod words;

pub use tools::rank;
pub use words::by_words;
