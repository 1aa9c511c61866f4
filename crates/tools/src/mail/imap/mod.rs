//! An IMAP client (RFC 3501) that only looks: mailboxes are opened with EXAMINE, messages fetched with
//! PEEK, and what a server may send is bounded.

mod answer;
mod mailbox;
mod name;
mod open;
mod session;

pub(super) use mailbox::{Header, Wanted};
pub(super) use open::connect;
pub(super) use session::Session;
