//! Tokens of chat templates that leak into the content, and the beginnings of what only a server writes.
//!
//! Source: tokenizer configurations of the families in this folder.

use super::rule::{Body, Dialect, Rule};

pub(super) const RULES: &[Rule] = &[
    drop("<|im_end|>"),
    drop("<|im_start|>assistant"),
    drop("<|eot_id|>"),
    drop("<|eom_id|>"),
    drop("<|eom|>"),
    drop("<|eot|>"),
    drop("<|end_of_text|>"),
    drop("<|endoftext|>"),
    drop("<|end_of_role|>"),
    drop("<|end|>"),
    drop("<|return|>"),
    drop("<|call|>"),
    drop("<end_of_turn>"),
    drop("<start_of_turn>model"),
    drop("<turn|>"),
    drop("<|START_RESPONSE|>"),
    drop("<|END_RESPONSE|>"),
    drop("<|START_TEXT|>"),
    drop("<|END_TEXT|>"),
    drop("<|END_OF_TURN_TOKEN|>"),
    drop("<｜end▁of▁sentence｜>"),
    drop("<|begin_of_solution|>"),
    drop("<|end_of_solution|>"),
    drop("</tool_call>"),
    drop("</think>"),
    drop("<|END_THINKING|>"),
    drop("[/THINK]"),
    stop("<tool_response>"),
    stop("<|tool_response>"),
    stop("<function_results>"),
    stop("<|im_start|>user"),
    stop("<|im_start|>tool"),
    stop("<start_of_turn>user"),
    stop("<|start_header_id|>"),
    stop("<|START_TOOL_RESULT|>"),
    stop("<｜tool▁outputs▁begin｜>"),
    stop("[TOOL_RESULTS]"),
    stop("[TOOL_RESULT]"),
];

const fn drop(open: &'static str) -> Rule {
    Rule { dialect: Dialect::Noise, open, body: Body::Drop }
}

const fn stop(open: &'static str) -> Rule {
    Rule { dialect: Dialect::Noise, open, body: Body::Stop }
}
