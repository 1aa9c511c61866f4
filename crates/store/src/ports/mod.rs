//! The ports, one file each: what they do is written once, for both engines.

mod agents;
mod approvals;
mod claims;
mod commit;
mod connections;
mod conversations;
mod facts;
mod inbox;
mod log;
mod runs;
mod settings;
mod side;
mod users;
