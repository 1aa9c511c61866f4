//! Pages that are pictures: prepared for reading, and what engines read put in the order of a page.
//!
//! Engines are asked in turn ([`Cascade`]): the models here ([`Models`]), Tesseract, a model that sees. Like the rest of
//! reading, this uses no clock, network or disk beside the models' files, and is called in a confined process.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "places and brightness of pixels"
)]

mod cascade;
mod detect;
mod layout;
mod models;
mod noise;
mod picture;
mod prepare;
mod shades;
mod steps;
mod tesseract;
mod turn;

pub use cascade::{CONFIDENT, Cascade, USEFUL, agreement, useful};
pub use layout::page_of_text;
pub use models::{MODEL_FILES, Models, ModelsError};
pub use picture::{PICTURE_PIXELS, PicturePage, page_picture, png, png_of_model};
pub use prepare::{Place, Prepared, prepare};
pub use steps::{STEPS, Steps};
pub use tesseract::read_tsv;

use steward_core::extracted::PageReading as Reading;

/// A line of text on a prepared picture.
#[derive(Debug, Clone, PartialEq)]
struct Line {
    text: String,
    confidence: f32,
    x0: f32,
    y0: f32,
    x1: f32,
    y1: f32,
}
