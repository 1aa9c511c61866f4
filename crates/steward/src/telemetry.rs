//! Logs, and traces to an OTLP endpoint where one is configured.

use crate::settings::Settings;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{Protocol, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

/// Sends what is left when it is dropped.
pub struct Guard {
    provider: Option<SdkTracerProvider>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(provider) = &self.provider
            && let Err(error) = provider.shutdown()
        {
            eprintln!("traces were not all sent: {error}");
        }
    }
}

/// Starts logging: `info` when serving, else only errors, unless a filter was given.
pub fn init(settings: &Settings, serving: bool) -> Guard {
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
    let provider = settings.otlp.as_deref().and_then(exporter);
    let spans = provider.as_ref().map(|provider| {
        tracing_opentelemetry::layer()
            .with_tracer(provider.tracer("steward"))
            .with_filter(EnvFilter::new("info"))
    });
    tracing_subscriber::registry()
        .with(lines)
        .with(spans)
        .init();
    Guard { provider }
}

/// The filter with less of the MCP library, which writes whole messages at `debug`, other programs' data and all;
/// naming it still shows them.
fn quieted(filter: &str) -> String {
    let loud = |part: &str| matches!(part.trim().to_ascii_lowercase().as_str(), "debug" | "trace");
    if filter.split(',').any(loud) && !filter.contains("rmcp") {
        format!("rmcp=info,{filter}")
    } else {
        filter.to_owned()
    }
}

fn exporter(endpoint: &str) -> Option<SdkTracerProvider> {
    let base = endpoint.trim_end_matches('/');
    let exporter = opentelemetry_otlp::SpanExporter::builder()
        .with_http()
        .with_protocol(Protocol::HttpBinary)
        .with_endpoint(format!("{base}/v1/traces"))
        .build();
    match exporter {
        Ok(exporter) => Some(
            SdkTracerProvider::builder()
                .with_batch_exporter(exporter)
                .with_resource(Resource::builder().with_service_name("steward").build())
                .build(),
        ),
        Err(error) => {
            eprintln!(
                "OTEL_EXPORTER_OTLP_ENDPOINT `{endpoint}` cannot be used ({error}); no traces are sent"
            );
            None
        }
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
            (
                "steward_tools=trace, DEBUG",
                "rmcp=info,steward_tools=trace, DEBUG",
            ),
            ("steward_tools=debug,warn", "steward_tools=debug,warn"),
            ("debug,rmcp=debug", "debug,rmcp=debug"),
        ] {
            assert_eq!(quieted(given), expect);
        }
    }
}
