//! Reasoning in the content.
//!
//! Source: model cards of DeepSeek-R1, Qwen 3, GLM, Magistral (`[THINK]`), Command A Reasoning, Kimi-VL (`◁think▷`),
//! Seed-OSS; `<thinking>` and its like are what others are often told to write.

use super::rule::{Body, Dialect, Rule};

pub(super) const RULES: &[Rule] = &[
    thought("<think>", &["</think>"]),
    thought("<thinking>", &["</thinking>"]),
    thought("<thought>", &["</thought>"]),
    thought("<reasoning>", &["</reasoning>"]),
    thought("[THINK]", &["[/THINK]"]),
    thought("<seed:think>", &["</seed:think>"]),
    thought("<|START_THINKING|>", &["<|END_THINKING|>"]),
    thought("<|begin_of_thought|>", &["<|end_of_thought|>"]),
    thought("◁think▷", &["◁/think▷"]),
];

const fn thought(open: &'static str, close: &'static [&'static str]) -> Rule {
    Rule { dialect: Dialect::Thought, open, body: Body::Thought(close) }
}
