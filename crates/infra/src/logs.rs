//! The log of this process. Traces are read from the logs of runs, see [`crate::RunTraces`].

use std::sync::OnceLock;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::reload::Handle;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry, reload};

/// What a server logs unless a filter was given.
pub const SERVING: &str = "info";

static FILTER: OnceLock<Handle<EnvFilter, Registry>> = OnceLock::new();

/// Starts logging: `info` when serving, else only errors, unless a filter was given. `color`: on a terminal.
pub fn init(filter: Option<&str>, serving: bool, color: bool) {
    let default = if serving { SERVING } else { "error" };
    let filter = quieted(filter.unwrap_or(default));
    let filter = EnvFilter::try_new(&filter).unwrap_or_else(|error| {
        eprintln!("log filter `{filter}` is not understood ({error}); using `{default}`");
        EnvFilter::new(default)
    });
    let (filter, handle) = reload::Layer::new(filter);
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(color && std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .with_filter(filter);
    tracing_subscriber::registry().with(lines).init();
    let _ = FILTER.set(handle);
}

/// Why a filter can't be used.
pub fn check(filter: &str) -> Result<(), String> {
    let read = EnvFilter::try_new(quieted(filter));
    read.map(drop).map_err(|error| format!("the log filter `{filter}` is not understood: {error}"))
}

/// Logs by another filter from now on.
pub fn change(filter: &str) {
    let Some((handle, filter)) = FILTER.get().zip(EnvFilter::try_new(quieted(filter)).ok()) else { return };
    let same = handle.with_current(|now| now.to_string() == filter.to_string()).unwrap_or(false);
    if !same && let Err(error) = handle.reload(filter) {
        tracing::warn!(%error, "the log filter can't be changed");
    }
}

/// Without whole messages of the MCP library at `debug`, which hold other programs' data, unless it is named.
fn quieted(filter: &str) -> String {
    let loud = |part: &str| matches!(part.trim().to_ascii_lowercase().as_str(), "debug" | "trace");
    if filter.split(',').any(loud) && !filter.contains("rmcp") {
        format!("rmcp=info,{filter}")
    } else {
        filter.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::{check, quieted};

    #[test]
    fn the_mcp_library_is_quiet_unless_it_is_named() {
        for (given, expect) in [
            ("info", "info"),
            ("debug", "rmcp=info,debug"),
            ("steward_tools=trace, DEBUG", "rmcp=info,steward_tools=trace, DEBUG"),
            ("steward_tools=debug,warn", "steward_tools=debug,warn"),
            ("debug,rmcp=debug", "debug,rmcp=debug"),
        ] {
            assert_eq!(quieted(given), expect);
        }
    }

    #[test]
    fn a_filter_is_checked() {
        assert!(check("steward_engine=debug,warn").is_ok());
        assert!(check("steward_engine=loud").is_err());
    }
}
