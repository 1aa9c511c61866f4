//! The ports, one file each: what they do is written once, for both engines.

mod agents;
mod approvals;
mod claims;
mod commit;
mod connections;
mod conversations;
mod facts;
mod fork;
mod grants;
mod idempotency;
mod inbox;
mod kept;
mod log;
mod run_rows;
mod runs;
mod sessions;
mod settings;
mod side;
mod users;

pub(crate) use side::seen;
