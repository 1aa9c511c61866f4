//! The model server: HTTP/1.1 on a Unix socket in front of the inference thread.

mod activity;
mod body;
mod chat;
mod listen;
mod reply;
mod request;
mod routes;
mod score;

pub(super) use listen::run;
