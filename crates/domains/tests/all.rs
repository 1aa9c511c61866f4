//! The tests of the room.
#![allow(
    clippy::expect_used,
    clippy::format_collect,
    clippy::format_push_string,
    clippy::needless_pass_by_value,
    clippy::too_many_lines,
    clippy::unwrap_used,
    reason = "tests"
)]

#[path = "all/attacks.rs"]
mod attacks;
#[path = "all/base.rs"]
mod base;
#[path = "all/changes.rs"]
mod changes;
#[path = "all/checking.rs"]
mod checking;
#[path = "all/completion.rs"]
mod completion;
#[path = "all/drafting.rs"]
mod drafting;
#[path = "all/formatting.rs"]
mod formatting;
#[path = "all/graphql.rs"]
mod graphql;
#[path = "all/graphql_attacks.rs"]
mod graphql_attacks;
#[path = "all/graphql_nulls.rs"]
mod graphql_nulls;
#[path = "all/hovering.rs"]
mod hovering;
#[path = "all/initial.rs"]
mod initial;
#[path = "all/kinds.rs"]
mod kinds;
#[path = "all/lowering.rs"]
mod lowering;
#[path = "all/meant.rs"]
mod meant;
#[path = "all/music.rs"]
mod music;
#[path = "all/nothing.rs"]
mod nothing;
#[path = "all/places.rs"]
mod places;
#[path = "all/properties.rs"]
mod properties;
#[path = "all/query_errors.rs"]
mod query_errors;
#[path = "all/questions.rs"]
mod questions;
#[path = "all/random_filters.rs"]
mod random_filters;
#[path = "all/recorded.rs"]
mod recorded;
#[path = "all/reference.rs"]
mod reference;
#[path = "all/renaming.rs"]
mod renaming;
#[path = "all/repeats.rs"]
mod repeats;
#[path = "all/search.rs"]
mod search;
#[path = "all/statements.rs"]
mod statements;
#[path = "all/stored.rs"]
mod stored;
#[path = "all/support.rs"]
mod support;
#[path = "all/syntax.rs"]
mod syntax;
