//! What an endpoint's word for the end of a reply means.

/// The reply is whole, or was kept back by a filter.
const COMPLETE: [&str; 21] = [
    "stop",
    "stop_sequence",
    "stop_token",
    "eos",
    "eos_token",
    "end",
    "end_turn",
    "end_of_turn",
    "complete",
    "completed",
    "done",
    "finished",
    "tool_calls",
    "tool_call",
    "tool_use",
    "function_call",
    "content_filter",
    "safety",
    "sensitive",
    "recitation",
    "refusal",
];

/// The endpoint failed in the middle of it. Source: the references of the providers and servers that are known here.
const FAILED: [&str; 14] = [
    "error",
    "insufficient_system_resource",
    "network_error",
    "server_error",
    "internal_error",
    "engine_error",
    "engine_overloaded",
    "overloaded",
    "abort",
    "aborted",
    "cancelled",
    "canceled",
    "timeout",
    "failed",
];

const CUT: &str = "length";

/// Whether the word says that there will be no whole answer since the endpoint failed.
pub(crate) fn is_failure(reason: &str) -> bool {
    FAILED.iter().any(|word| reason.eq_ignore_ascii_case(word))
}

/// The word for a reply that is no failure: one that nobody knows doesn't count as the end of a whole reply.
pub(crate) fn known_or_cut(reason: &str) -> &str {
    if COMPLETE.iter().any(|word| reason.eq_ignore_ascii_case(word)) { reason } else { CUT }
}

#[cfg(test)]
mod tests {
    use super::{is_failure, known_or_cut};

    #[test]
    fn a_word_that_nobody_knows_is_no_whole_answer() {
        for (word, failed, told) in [
            ("stop", false, "stop"),
            ("eos_token", false, "eos_token"),
            ("STOP", false, "STOP"),
            ("tool_calls", false, "tool_calls"),
            ("length", false, "length"),
            ("model_length", false, "length"),
            ("repetition_detected", false, "length"),
            ("insufficient_system_resource", true, "length"),
            ("abort", true, "length"),
            ("Error", true, "length"),
        ] {
            assert_eq!((is_failure(word), known_or_cut(word)), (failed, told), "{word}");
        }
    }
}
