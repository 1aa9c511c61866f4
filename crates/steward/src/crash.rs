//! For crash tests only, never in a release: kills itself at named points and reports what was acknowledged.

use crate::settings::variable;
use futures::StreamExt;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use steward_core::ports::EventBus;
use steward_tools::DispatcherBuilder;
use steward_tools::counted::with_counted;

/// `STEWARD_KILL_AT=name:n` ends the process by SIGKILL when it passes that point for the n-th time.
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

/// Prints `ACK run seq kind` for each event after it was committed, so that a test can compare the log with it.
pub fn testify(bus: &Arc<dyn EventBus>) {
    let mut events = bus.subscribe_all();
    tokio::spawn(async move {
        while let Some(event) = events.next().await {
            let mut out = std::io::stdout();
            let _ = writeln!(out, "ACK {} {} {}", event.run_id, event.seq, event.body.kind());
            let _ = out.flush();
        }
    });
}

/// With tools that count their effects, where `STEWARD_TEST_EFFECTS` names a server for that.
pub fn tools(builder: DispatcherBuilder) -> DispatcherBuilder {
    match variable("STEWARD_TEST_EFFECTS") {
        Some(url) => with_counted(builder, &url),
        None => builder,
    }
}
