//! One tag around a list of calls.
//!
//! Source: model cards of Nemotron (`<TOOLCALL>`), Jamba and Hunyuan (`<tool_calls>`), InternLM 2
//! (`<|action_start|><|plugin|>`), LFM2 (`<|tool_call_start|>`, Python), Glaive (`<functioncall>`).

use super::hermes::begins;
use super::rule::{Dialect, Rule, json_rule, text_rule};

const ME: Dialect = Dialect::Lists;

pub(super) const RULES: &[Rule] = &[
    json_rule(ME, "<TOOLCALL>", &["</TOOLCALL>"]),
    json_rule(ME, "<tool_calls>", &["</tool_calls>"]),
    json_rule(ME, "<|action_start|><|plugin|>", &["<|action_end|>"]),
    json_rule(ME, "<functioncall>", &["</functioncall>"]),
    text_rule(ME, "<|tool_call_start|>", &["<|tool_call_end|>"], begins, super::python_calls),
];
