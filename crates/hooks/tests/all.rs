//! The tests of the room, one program: each one links the room anew.
#![allow(clippy::expect_used, clippy::too_many_lines, clippy::unwrap_used, reason = "tests")]

#[path = "all/event_ids.rs"]
mod event_ids;
#[path = "all/filters.rs"]
mod filters;
#[path = "all/hostile.rs"]
mod hostile;
#[path = "all/payloads.rs"]
mod payloads;
#[path = "all/secrets.rs"]
mod secrets;
#[path = "all/settings.rs"]
mod settings;
#[path = "all/support.rs"]
mod support;
#[path = "all/tampered.rs"]
mod tampered;
#[path = "all/templates.rs"]
mod templates;
#[path = "all/vectors.rs"]
mod vectors;
