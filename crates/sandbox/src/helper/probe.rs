//! What the kernel offers, tried in this process, which ends right after.
#![expect(unsafe_code, reason = "system calls without a safe wrapper")]

use std::process::ExitCode;

use serde::{Deserialize, Serialize};

/// The building blocks of the tiers.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Primitives {
    pub landlock_abi: i32,
    pub seccomp: bool,
    pub user_namespaces: bool,
}

pub(super) fn main() -> ExitCode {
    let found = Primitives {
        landlock_abi: landlock_abi(),
        // Before the seccomp filter, which denies unshare.
        user_namespaces: unshare_user(),
        seccomp: super::seccomp::filters(false).is_ok_and(|f| super::seccomp::apply(&f).is_ok()),
    };
    match serde_json::to_string(&found) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(_) => ExitCode::FAILURE,
    }
}

/// Version of the kernel's Landlock interface; 0 if there is none.
pub(crate) fn landlock_abi() -> i32 {
    const VERSION: libc::c_ulong = 1;
    // SAFETY: with the version flag the call takes no pointer and only returns a number.
    let abi = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0usize, VERSION) };
    i32::try_from(abi).unwrap_or(0).max(0)
}

fn unshare_user() -> bool {
    // SAFETY: unshare changes the namespaces of this single-threaded process, which ends after reporting; it touches
    // no memory and no descriptors.
    unsafe { libc::unshare(libc::CLONE_NEWUSER) == 0 }
}
