//! Logs. Traces are read from the logs of runs, see [`steward_infra::RunTraces`].

use crate::settings::Settings;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

/// Starts logging: `info` when serving, else only errors, unless a filter was given.
pub fn init(settings: &Settings, serving: bool) {
    let default = if serving { "info" } else { "error" };
    let filter = quieted(settings.log.as_deref().unwrap_or(default));
    let filter = EnvFilter::try_new(&filter).unwrap_or_else(|error| {
        eprintln!("log filter `{filter}` is not understood ({error}); using `{default}`");
        EnvFilter::new(default)
    });
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(!settings.no_color && std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .with_filter(filter);
    tracing_subscriber::registry().with(lines).init();
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
    use super::quieted;

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
}
