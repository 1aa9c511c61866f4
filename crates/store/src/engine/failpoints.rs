//! Places where tests stop or fail the program; nothing without the feature `failpoints`. At the two commit points the
//! action `return` means sudden death of the process.

use steward_core::ports::StoreResult;

pub(crate) fn before_commit() {
    fail::fail_point!("store.commit.before", |_| std::process::abort());
}

pub(crate) fn after_commit() {
    fail::fail_point!("store.commit.after", |_| std::process::abort());
}

/// The action `return` makes writes fail as on a full disk.
#[allow(clippy::unnecessary_wraps, reason = "fails only with the feature `failpoints`")]
pub(crate) fn disk_full() -> StoreResult<()> {
    fail::fail_point!("store.disk_full", |_| Err(steward_core::ports::StoreError::Full(
        "injected by a fail point".to_owned()
    )));
    Ok(())
}
