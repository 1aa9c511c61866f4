//! Reads files in processes of this same program that are confined, since hostile files crash what parses them.

mod files;
mod page_child;
mod pages;
mod process;

pub use files::{ConfinedExtractor, ExtractChild};
pub use page_child::OcrChild;
pub use pages::{ConfinedPages, Engines, LANGUAGES};
