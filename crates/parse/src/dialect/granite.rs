//! `<|tool_call|>[{"name": …, "arguments": …}]`, with no closing.
//!
//! Source: chat templates of Granite 3.0 to 3.3 (IBM). Granite 4 writes as `hermes` does, the 20B function calling
//! model `<function_call> {…}`.

use super::rule::{Dialect, Rule, json_rule};

pub(super) const RULES: &[Rule] = &[
    // The closing is Phi's.
    json_rule(Dialect::Granite, "<|tool_call|>", &["<|/tool_call|>"]),
];
