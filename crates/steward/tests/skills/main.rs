//! Skills at real work, through the real program: no secret gets out, no effect is lost or doubled.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    dead_code,
    reason = "tests"
)]

#[path = "../common/mod.rs"]
mod common;
mod crash;
mod desk;
#[path = "../api_routes/house.rs"]
mod house;
mod keys;
mod places;
mod secrets;
mod signatures;
mod trace;
