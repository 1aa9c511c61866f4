//! Signals by way of waiting for them, so that no code runs inside a handler.
#![expect(unsafe_code, reason = "signal masks have no safe wrapper")]

use std::io;
use std::mem::MaybeUninit;
use std::time::Duration;

const WAITED: [i32; 3] = [libc::SIGCHLD, libc::SIGTERM, libc::SIGINT];

fn set() -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: sigemptyset initialises the set it is given, and sigaddset is given an initialised one.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in WAITED {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        set.assume_init()
    }
}

/// From here on the signals wait to be asked for.
pub(super) fn block() -> io::Result<()> {
    mask(libc::SIG_BLOCK)
}

/// For the command: nothing blocked, and a broken pipe ends it as usual (Rust's start-up ignores that signal).
pub(super) fn reset() -> io::Result<()> {
    // SAFETY: setting a disposition to the default installs no handler.
    if unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) } == libc::SIG_ERR {
        return Err(io::Error::last_os_error());
    }
    mask(libc::SIG_UNBLOCK)
}

fn mask(how: i32) -> io::Result<()> {
    let set = set();
    // SAFETY: the set is initialised and outlives the call; no old mask is asked for.
    match unsafe { libc::sigprocmask(how, &raw const set, std::ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The next of the signals, or `None` after the time.
pub(super) fn wait(time: Duration) -> Option<i32> {
    let set = set();
    let time = libc::timespec {
        tv_sec: libc::time_t::try_from(time.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: i64::from(time.subsec_nanos()),
    };
    // SAFETY: set and time are initialised and outlive the call; no details are asked for.
    let signal = unsafe { libc::sigtimedwait(&raw const set, std::ptr::null_mut(), &raw const time) };
    (signal > 0).then_some(signal)
}
