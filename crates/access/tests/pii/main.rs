//! Personal data and secrets in texts: what is found, and what is left alone.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod kinds;
mod masking;
mod prove_linear;
mod sets;
