//! Reports on standard output what this process has acknowledged, so that a test can compare the log with it.

use futures::StreamExt;
use std::io::Write;
use std::sync::Arc;
use steward_core::ports::EventBus;

/// Prints `ACK run seq kind` for each event after it was committed.
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
