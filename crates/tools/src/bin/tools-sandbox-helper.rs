//! The sandbox helper as a program of its own, for the tests of this crate.

fn main() -> std::process::ExitCode {
    steward_sandbox::helper::main(std::env::args_os().skip(1))
}
