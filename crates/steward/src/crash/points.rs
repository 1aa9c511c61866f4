//! `STEWARD_KILL_AT=name:n` ends the process by SIGKILL when it passes that point for the n-th time.

use crate::settings::variable;
use std::sync::atomic::{AtomicU32, Ordering};

/// Arms the point that the environment names.
pub fn arm() {
    let Some(text) = variable("STEWARD_KILL_AT") else {
        return;
    };
    let (name, count) = text.rsplit_once(':').unwrap_or((&text, "1"));
    let left = AtomicU32::new(count.parse().unwrap_or(1));
    let armed = fail::cfg_callback(name, move || {
        if left.fetch_sub(1, Ordering::SeqCst) == 1 {
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
            // Nothing of this process may continue while the signal is on its way.
            loop {
                std::thread::park();
            }
        }
    });
    if let Err(error) = armed {
        eprintln!("STEWARD_KILL_AT {text}: {error}");
    }
}
