//! Each provider's wire against the shapes of its public API reference, over a loopback server that
//! keeps what it was sent.

mod addresses;
mod answers;
mod embeddings;
mod events;
mod faults;
mod options;
mod recognise;
mod requests;
mod server;
mod table;
