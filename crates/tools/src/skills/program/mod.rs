//! Skills that run programs: shell in the OS sandbox, docker and ansible as guarded processes, Python
//! in the sandbox's own interpreter.

mod ansible;
mod confined;
mod docker;
mod guarded;
mod python;
mod report;
mod shell;
pub(crate) mod tree;

pub use ansible::AnsibleExecutor;
pub use docker::DockerExecutor;
pub use guarded::Programs;
pub(crate) use python::{Program, compute, shown};
pub use python::{PythonExecutor, PythonReply, PythonRunner};
pub use shell::ShellExecutor;
