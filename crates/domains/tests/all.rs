//! The tests of the room.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "tests")]

#[path = "all/checking.rs"]
mod checking;
#[path = "all/completion.rs"]
mod completion;
#[path = "all/formatting.rs"]
mod formatting;
#[path = "all/hovering.rs"]
mod hovering;
#[path = "all/initial.rs"]
mod initial;
#[path = "all/kinds.rs"]
mod kinds;
#[path = "all/lowering.rs"]
mod lowering;
#[path = "all/properties.rs"]
mod properties;
#[path = "all/reference.rs"]
mod reference;
#[path = "all/renaming.rs"]
mod renaming;
#[path = "all/support.rs"]
mod support;
#[path = "all/syntax.rs"]
mod syntax;
