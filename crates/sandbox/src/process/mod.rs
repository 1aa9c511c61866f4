//! Untrusted commands, confined by the operating system.
//!
//! Two tiers, the stronger first: `namespaces` (bubblewrap: own mounts, processes, network and users) and `landlock`
//! (file system rules of the kernel). Both add seccomp, `no_new_privs`, resource limits, an empty environment and
//! closed file descriptors, and kill everything a command has started when it ends. Where neither works, nothing is
//! run: [`SandboxError::Unavailable`] says what is missing. There is no network in either tier, unless a command's
//! specification says so.
//!
//! The confining itself is done by [`crate::helper`] in a fresh copy of the program.

mod bwrap;
mod caps;
mod capture;
mod cgroup;
mod doctor;
mod error;
mod gate;
mod launch;
mod leash;
mod mounts;
mod plan;
mod privileges;
mod run;
mod sandbox;
mod session;
mod spawn;
mod spec;

pub use caps::Capabilities;
pub(crate) use capture::capture;
pub use doctor::Check;
pub use error::SandboxError;
pub(crate) use launch::{Held, Launch, Launched};
pub(crate) use leash::Leash;
pub(crate) use plan::{Failure, Plan, Report, Stage, Tripped};
pub use sandbox::{Helper, Sandbox};
pub use session::Session;
pub use spec::{Access, CommandSpec, Exit, Limits, Outcome, Output, Privileges, Tier, Tripwire};
