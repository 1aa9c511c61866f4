//! Files, chunks and indexes as others use them.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "tests")]

mod chunks;
mod evaluation;
mod extract;
mod index;
mod index_model;
mod ocr;
mod questions;
mod sudden_death;
