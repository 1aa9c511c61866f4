//! Skills: what carries them out, and the runtime that finds, opens, runs and scrubs.

mod check;
mod credential;
mod executor;
mod http;
mod program;
mod runtime;
pub(crate) mod scrape;
pub(crate) mod scrub;
mod sql;
mod ssh;
pub mod template;
mod undo;

pub use executor::{Executor, Job};
pub use http::{GraphqlExecutor, HttpExecutor, HuggingfaceExecutor};
pub use program::{
    AnsibleExecutor, DockerExecutor, Programs, PythonExecutor, PythonReply, PythonRunner, ShellExecutor,
};
pub(crate) use program::{Program, compute, shown, tree};
pub use runtime::{SkillPorts, SkillRuntime};
pub use scrape::ScrapeExecutor;
pub use sql::SqlExecutor;
pub use ssh::{FileHostKeys, HostKeys, HostKeysError, Place as SshPlace, SshExecutor, accept as trust_host};
pub(crate) use undo::is_of_skill as is_undo;
