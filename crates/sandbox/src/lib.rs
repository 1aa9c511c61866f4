//! Running what is not trusted: programs confined by the operating system, files confined to a
//! workspace, and SQL that can only read what a policy allows. Knows nothing of agents or runs.
//!
//! - [`process`]: a command in a sandbox (`bubblewrap` namespaces, else Landlock), with seccomp, resource limits,
//!   an empty environment and no network. Never runs anything unconfined.
//! - [`helper`]: the other half of [`process`], run inside a re-executed copy of the program.
//! - [`files`]: file access for in-process tools that cannot leave the workspace.
//! - [`python`]: inline Python, one locked-in process for each call.
//! - [`sql`]: read-only `SQLite` under an authorizer, with limits.

pub mod files;
pub mod helper;
pub mod process;
pub mod python;
pub mod sql;
