//! Runs what is not trusted: programs confined by the operating system, files confined to a workspace, and SQL that
//! can only do what a policy allows. Knows nothing of agents or runs.
//!
//! - [`process`]: a command in a sandbox (`bubblewrap` namespaces, else Landlock), with seccomp, resource limits, an
//!   empty environment and no network. Never runs anything unconfined.
//! - [`helper`]: the part of [`process`] that runs inside a re-executed copy of the program.
//! - [`files`]: file access for in-process tools that cannot leave the workspace.
//! - [`python`]: inline Python, a confined process for each call.
//! - [`sql`]: SQLite under an authorizer, and servers behind a parsed guard.

pub mod files;
pub mod helper;
pub mod process;
pub mod python;
pub mod sql;
