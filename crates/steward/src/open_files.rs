//! How many files this process may open at once.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Beyond this nothing here has a use for more, and programs that close all that they could have open take long.
const MOST: u64 = 1 << 20;

/// Raises the limit as far as this process may: most systems start programs with 1,024 and let them raise it themselves.
/// Confined programs get a limit of their own.
pub fn raise_limit() {
    let limit = getrlimit(Resource::Nofile);
    let Some(current) = limit.current else { return };
    let wanted = limit.maximum.map_or(MOST, |most| most.min(MOST));
    if wanted <= current {
        return;
    }
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), ..limit }) {
        tracing::warn!(%error, current, wanted, "the limit of open files was not raised");
    }
}
