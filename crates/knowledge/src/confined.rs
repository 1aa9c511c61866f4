//! Reads files in processes of this same program that are confined, since hostile files crash what parses them.

mod files;
mod page_child;
mod pages;
mod process;

pub use files::{ConfinedExtractor, extract_child};
pub use page_child::{PageRequest, page_child};
pub use pages::{ConfinedPages, Engines, LANGUAGES};
