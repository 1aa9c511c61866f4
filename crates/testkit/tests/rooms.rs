//! Keeps the house as its plan says: which room may use which, what stays out of the pure ones, that no files use each
//! other in a circle, how long a file may be, where `unsafe` may stand, and that every licence is allowed.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

#[path = "house/circles.rs"]
mod circles;
#[path = "house/edges.rs"]
mod edges;
#[path = "house/licences.rs"]
mod licences;
#[path = "house/sources.rs"]
mod sources;
