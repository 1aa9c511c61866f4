//! The text format 0.0.4, which older readers and `promtool check metrics` know, made of OpenMetrics.

use std::fmt::Write as _;

/// The same samples. There, a counter is called as its sample is, an info is a gauge, and units and the end aren't said. There are no exemplars.
pub(super) fn plain_text(open_metrics: &str) -> String {
    let mut text = String::with_capacity(open_metrics.len());
    let mut help = None;
    for line in open_metrics.lines() {
        // Writing to a string can't fail.
        let _ = if let Some(rest) = line.strip_prefix("# HELP ") {
            help = rest.split_once(' ');
            Ok(())
        } else if let Some((name, kind)) = line.strip_prefix("# TYPE ").and_then(|rest| rest.split_once(' ')) {
            let (end, kind) = match kind {
                "counter" => ("_total", "counter"),
                "info" => ("_info", "gauge"),
                "unknown" => ("", "untyped"),
                known => ("", known),
            };
            let about = help.take().filter(|(of, _)| *of == name).map_or("", |(_, about)| about);
            let about = about.replace("\\\"", "\"");
            writeln!(text, "# HELP {name}{end} {about}\n# TYPE {name}{end} {kind}")
        } else if line.starts_with('#') {
            Ok(())
        } else {
            writeln!(text, "{line}")
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::plain_text;

    #[test]
    fn each_kind_of_metric_is_named_as_its_samples_are() {
        let open = "# HELP built What \\\"this\\\" is.\n# TYPE built info\nbuilt_info{version=\"1\"} 1\n\
                    # HELP calls Calls.\n# TYPE calls counter\n# UNIT calls calls\ncalls_total{of=\"a # {b\"} 3\n\
                    # HELP took_seconds Time.\n# TYPE took_seconds histogram\n\
                    took_seconds_bucket{le=\"+Inf\"} 1\ntook_seconds_sum 0.5\ntook_seconds_count 1\n\
                    # HELP open Open.\n# TYPE open gauge\nopen 2\n# EOF\n";
        let wanted = "# HELP built_info What \"this\" is.\n# TYPE built_info gauge\nbuilt_info{version=\"1\"} 1\n\
                      # HELP calls_total Calls.\n# TYPE calls_total counter\ncalls_total{of=\"a # {b\"} 3\n\
                      # HELP took_seconds Time.\n# TYPE took_seconds histogram\n\
                      took_seconds_bucket{le=\"+Inf\"} 1\ntook_seconds_sum 0.5\ntook_seconds_count 1\n\
                      # HELP open Open.\n# TYPE open gauge\nopen 2\n";
        assert_eq!(plain_text(open), wanted);
    }
}
