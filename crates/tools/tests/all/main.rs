//! The tools through their dispatcher, as the engine calls them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::similar_names,
    clippy::needless_pass_by_value,
    clippy::items_after_statements,
    clippy::await_holding_lock,
    clippy::unnecessary_to_owned,
    reason = "tests"
)]

mod calendar;
mod catalogue;
mod consulted;
mod datasource_places;
mod dispatcher;
mod facts;
mod fakes;
mod files;
mod mail;
mod outbound;
mod own_database;
mod package;
mod post;
mod python;
mod search;
mod server;
mod settle;
mod skills;
mod terminal;
mod web;
mod write;
