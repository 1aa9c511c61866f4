//! Counts for Prometheus. Labels are bounded: names that administrators give, words, templates of routes; never ids or users.

mod bus;
mod plain_text;
mod process;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Metric, Registry};
use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use steward_core::Timestamp;
use steward_core::model::Usage;

pub use bus::CountingBus;

/// How metrics are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricsFormat {
    /// OpenMetrics 1.0.0.
    OpenMetrics,
    /// The text format 0.0.4 of Prometheus.
    PlainText,
}

type Label = (&'static str, Cow<'static, str>);
type Counts<const N: usize> = Family<[Label; N], Counter>;

/// How often each thing happened since the start.
pub struct Metrics {
    registry: Registry,
    runs_started: Counts<1>,
    runs_finished: Counts<1>,
    model_calls: Counts<3>,
    tokens: Counts<2>,
    cost: Counter<f64, AtomicU64>,
    tool_calls: Counts<2>,
    approvals_asked: Counter,
    approvals_decided: Counts<1>,
    requests: Counts<3>,
    request_seconds: Family<[Label; 1], Histogram, fn() -> Histogram>,
    streams: Gauge,
    runs_at_work: Gauge,
    approvals_open: Gauge,
    audit_entries: Gauge,
    certificate_ends: Gauge,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new(env!("CARGO_PKG_VERSION"), "")
    }
}

impl Metrics {
    pub fn new(version: &str, commit: &str) -> Self {
        let seconds: fn() -> Histogram = || Histogram::new(exponential_buckets(0.001, 4.0, 8));
        let mut all = Registry::default();
        let registry = &mut all;
        let build = [("version", version.to_owned()), ("commit", commit.to_owned())];
        registry.register("steward_build", "What runs here", Info::new(build));
        let mut new = Self {
            registry: Registry::default(),
            runs_started: registered(registry, "steward_runs_started", "Runs that began, by origin"),
            runs_finished: registered(registry, "steward_runs_finished", "Runs that ended, by outcome"),
            runs_at_work: registered(registry, "steward_runs_at_work", "Runs at work here"),
            model_calls: registered(
                registry,
                "steward_model_calls",
                "Calls of models, by source (run, gateway), connection and outcome",
            ),
            tokens: registered(registry, "steward_model_tokens", "Tokens of models, by source and kind"),
            cost: registered(registry, "steward_model_cost_dollars", "What they cost, where a price is known"),
            tool_calls: registered(registry, "steward_tool_calls", "Calls of tools, by effect class and outcome"),
            approvals_asked: registered(registry, "steward_approvals_asked", "Questions to people"),
            approvals_decided: registered(registry, "steward_approvals_decided", "Their answers"),
            approvals_open: registered(registry, "steward_approvals_open", "Questions that wait"),
            audit_entries: registered(registry, "steward_audit_entries", "Number of the newest audit entry"),
            certificate_ends: registered(
                registry,
                "steward_certificate_ends_seconds",
                "When the server's own certificate ends, seconds since 1970 UTC; 0 without one",
            ),
            requests: registered(registry, "steward_http_requests", "Requests, by method, route and status"),
            request_seconds: Family::new_with_constructor(seconds),
            streams: Gauge::default(),
        };
        registry.register(
            "steward_http_request_seconds",
            "Time until an answer begins, by route",
            new.request_seconds.clone(),
        );
        registry.register("steward_streams_open", "Event streams that are open", new.streams.clone());
        registry.register_collector(Box::new(process::Process));
        new.registry = all;
        new
    }

    /// A call of a model; `source` is `run` or `gateway`.
    pub(crate) fn model_call(&self, source: &'static str, connection: &str, failed: bool, usage: &Usage) {
        let outcome = if failed { "failed" } else { "ok" };
        let labels =
            [("source", source.into()), ("connection", connection.to_owned().into()), ("outcome", outcome.into())];
        self.model_calls.get_or_create(&labels).inc();
        let kinds =
            [("prompt", usage.prompt_tokens), ("cached", usage.cached_tokens), ("completion", usage.completion_tokens)];
        for (kind, count) in kinds.into_iter().filter(|(_, count)| *count > 0) {
            self.tokens.get_or_create(&[("source", source.into()), ("kind", kind.into())]).inc_by(count);
        }
        if usage.cost_micros > 0 {
            #[expect(clippy::cast_precision_loss, reason = "it is money")]
            self.cost.inc_by(usage.cost_micros as f64 / 1_000_000.0);
        }
    }

    /// An answer; `route` is the template of its address.
    pub fn request(&self, method: &'static str, route: &str, status: u16, took: Duration) {
        let route: Cow<'static, str> = route.to_owned().into();
        let labels = [("method", method.into()), ("route", route.clone()), ("status", status.to_string().into())];
        self.requests.get_or_create(&labels).inc();
        self.request_seconds.get_or_create(&[("route", route)]).observe(took.as_secs_f64());
    }

    /// Counts a stream as open until the guard is dropped.
    pub fn stream(&self) -> OpenStream {
        self.streams.inc();
        OpenStream(self.streams.clone())
    }

    /// The server's own certificate is good until then.
    pub fn certificate_ends(&self, at: Timestamp) {
        self.certificate_ends.set(at.0 / 1000);
    }

    /// What is looked up when somebody asks.
    pub(crate) fn set(&self, at_work: usize, open_approvals: u64, newest_audit_entry: u64) {
        self.runs_at_work.set(i64::try_from(at_work).unwrap_or(i64::MAX));
        self.approvals_open.set(i64::try_from(open_approvals).unwrap_or(i64::MAX));
        self.audit_entries.set(i64::try_from(newest_audit_entry).unwrap_or(i64::MAX));
    }

    pub(crate) fn written(&self, format: MetricsFormat) -> String {
        match format {
            MetricsFormat::OpenMetrics => self.text(),
            MetricsFormat::PlainText => plain_text::plain_text(&self.text()),
        }
    }

    /// In the text format of OpenMetrics.
    fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string can't fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

fn registered<M: Metric + Clone + Default>(registry: &mut Registry, name: &str, help: &str) -> M {
    let metric = M::default();
    registry.register(name, help, metric.clone());
    metric
}

/// A stream that is open.
#[derive(Debug)]
pub struct OpenStream(Gauge);

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.dec();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::Metrics;
    use std::time::{Duration, Instant};
    use steward_core::model::Usage;

    #[test]
    fn what_is_counted_is_written_in_the_text_format() {
        let metrics = Metrics::new("1.2.3", "abc");
        let usage = Usage { prompt_tokens: 10, completion_tokens: 3, cost_micros: 1_500_000, ..Usage::default() };
        metrics.model_call("gateway", "big \"one\"\n", false, &usage);
        metrics.model_call("gateway", "big \"one\"\n", true, &Usage::default());
        metrics.request("GET", "/api/runs/{id}", 200, Duration::from_millis(2));
        let stream = metrics.stream();
        let text = metrics.text();
        for line in [
            "steward_build_info{version=\"1.2.3\",commit=\"abc\"} 1",
            r#"steward_model_calls_total{source="gateway",connection="big \"one\"\n",outcome="ok"} 1"#,
            r#"steward_model_tokens_total{source="gateway",kind="prompt"} 10"#,
            "steward_model_cost_dollars_total 1.5",
            r#"steward_http_requests_total{method="GET",route="/api/runs/{id}",status="200"} 1"#,
            r#"steward_http_request_seconds_bucket{le="0.004",route="/api/runs/{id}"} 1"#,
            "steward_streams_open 1",
        ] {
            assert!(text.lines().any(|one| one == line), "no {line} in\n{text}");
        }
        assert!(text.contains("\nprocess_open_fds ") && text.contains("\nprocess_cpu_seconds_total "), "{text}");
        assert!(text.ends_with("# EOF\n"));
        drop(stream);
        assert!(metrics.text().contains("\nsteward_streams_open 0\n"));
    }

    #[test]
    fn counting_a_request_costs_little() {
        let metrics = Metrics::default();
        let begun = Instant::now();
        for _ in 0..100_000 {
            metrics.request("GET", "/api/runs/{id}", 200, Duration::from_millis(2));
        }
        // Some 0.5 µs in a release build; a bound that a busy machine with a debug build keeps, too.
        let each = begun.elapsed() / 100_000;
        assert!(each < Duration::from_micros(50), "{each:?}");
    }
}
