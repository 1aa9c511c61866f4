use std::process::ExitCode;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Done,
    Failed,
    /// Something waits for a person.
    Waiting,
    /// A person refused or stopped it.
    Refused,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        // 2 is clap's code for wrong usage.
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Waiting => 3,
            Exit::Refused => 4,
        })
    }
}
