//! Skills of the type ssh: a command on a server, over a connection whose host key is pinned.

mod command;
mod executor;
mod hosts;
mod known;
mod link;
mod login;
mod order;
mod session;
mod text;

pub use executor::SshExecutor;
pub use hosts::{FileHostKeys, accept};
pub use known::{HostKeys, HostKeysError, Place};
