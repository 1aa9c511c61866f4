use super::call::{Cx, read_json};
use super::xml_blocks::element;
use super::{Begin, Calls, Dialect, Rule, any, json_or_name, json_rule, rule, tag, text_rule, whole_rule};

const HERMES_OPEN: &str = "<tool_call>";
const KIMI_OPEN: &str = "<|tool_call_begin|>";
const KIMI_SEPARATOR: &str = "<|tool_call_argument_begin|>";

pub(super) const RULES: &[Rule] = &[
    // `<tool_call>{"name": …, "arguments": …}</tool_call>`, one block for each call. What other families put into the same
    // tag is recognised by how it begins. Source: Hermes-Function-Calling (NousResearch), chat templates of Qwen 2.5 and
    // Qwen 3, SmolLM 3, Granite 4.
    hermes(HERMES_OPEN, &["</tool_call>"]),
    hermes("<tool_call_begin>", &["</tool_call_end>", "<tool_call_end>"]),
    hermes("<function_call>", &["</function_call>"]),
    hermes("<function_calls>", &["</function_calls>"]),
    hermes("<tool_use>", &["</tool_use>"]),
    // `<|tool_call|>[{"name": …, "arguments": …}]`, with no closing. Source: chat templates of Granite 3.0 to 3.3 (IBM).
    // Granite 4 writes Hermes blocks, the 20B function calling model `<function_call> {…}`. The closing is Phi's.
    json_rule("<|tool_call|>", &["<|/tool_call|>"]),
    // `functools[{"name": …, "arguments": …}]` at the start of a line; for `<|tool_call|>…<|/tool_call|>` see Granite.
    // Source: Phi-4-mini model card (Microsoft) and vLLM's `phi4mini_tool_parser`.
    rule("functools", Calls { json: true, ..Calls::new(&[], phi_begins, read_json) }),
    // One tag around a list of calls. Source: model cards of Nemotron (`<TOOLCALL>`), Jamba and Hunyuan (`<tool_calls>`),
    // InternLM 2 (`<|action_start|><|plugin|>`), LFM2 (`<|tool_call_start|>`, Python), Glaive (`<functioncall>`).
    json_rule("<TOOLCALL>", &["</TOOLCALL>"]),
    json_rule("<tool_calls>", &["</tool_calls>"]),
    json_rule("<|action_start|><|plugin|>", &["<|action_end|>"]),
    json_rule("<functioncall>", &["</functioncall>"]),
    text_rule("<|tool_call_start|>", &["<|tool_call_end|>"], json_or_name, super::python_calls),
    // `[TOOL_CALLS][{"name": …, "arguments": …, "id": …}]`, and since tokenizer v11
    // `[TOOL_CALLS]name[CALL_ID]id[ARGS]{…}`. Source: mistral-common (github.com/mistralai/mistral-common) and vLLM's
    // `mistral_tool_parser`.
    mistral("[TOOL_CALLS]", &["[/TOOL_CALLS]"]),
    mistral("[TOOL_REQUEST]", &["[END_TOOL_REQUEST]"]),
    // `Action:` with a fenced list of `{"tool_name": …, "parameters": …}` (Command R, R+), and
    // `<|START_ACTION|>[…]<|END_ACTION|>` (Command R7B, Command A). The tool `directly_answer` means no call. Source:
    // docs.cohere.com "Prompting Command R" and "Prompting Command R7B".
    Rule { dialect: Dialect::CommandR, ..json_rule("<|START_ACTION|>", &["<|END_ACTION|>"]) },
    Rule {
        dialect: Dialect::CommandR,
        ..rule("Action:", Calls { json: true, ..Calls::new(&["```"], command_r_begins, read_json) })
    },
    // `<|tool_calls_section_begin|><|tool_call_begin|>functions.name:0<|tool_call_argument_begin|>{…}<|tool_call_end|>…`.
    // Source: Kimi-K2 tool call guidance (model card, Moonshot AI).
    text_rule("<|tool_calls_section_begin|>", &["<|tool_calls_section_end|>"], tag, read_kimi),
    whole_rule(KIMI_OPEN, &["<|tool_call_end|>"], any, read_kimi),
    // `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>…<｜tool▁sep｜>…<｜tool▁call▁end｜><｜tool▁calls▁end｜>`: V3 and R1 write
    // `function<｜tool▁sep｜>name` and a fenced object, V3.1 `name<｜tool▁sep｜>{…}`. The DSML tags of V3.2 are in
    // `xml_blocks`. Source: chat templates of DeepSeek-V3, R1 and V3.1, and llama.cpp's parsers of them
    // (github.com/ggml-org/llama.cpp).
    text_rule("<｜tool▁calls▁begin｜>", &["<｜tool▁calls▁end｜>"], tag, read_deepseek),
    text_rule("<｜tool_calls_begin｜>", &["<｜tool_calls_end｜>"], tag, read_deepseek),
    text_rule("<|tool▁calls▁begin|>", &["<|tool▁calls▁end|>"], tag, read_deepseek),
    whole_rule("<｜tool▁call▁begin｜>", &["<｜tool▁call▁end｜>"], any, read_deepseek),
];

const fn hermes(open: &'static str, close: &'static [&'static str]) -> Rule {
    rule(open, Calls { json: true, ends: hermes_ends, ..Calls::new(close, json_or_name, read_hermes) })
}

const fn mistral(open: &'static str, close: &'static [&'static str]) -> Rule {
    rule(open, Calls { json: true, head: true, ..Calls::new(close, mistral_begins, read_mistral) })
}

/// Qwen's closing counts only after the end of a function.
fn hermes_ends(body: &str) -> bool {
    let head = &body.as_bytes()[..body.len().min(64)];
    let head = head.trim_ascii_start();
    !head.starts_with(b"<function=") || body.trim_end().ends_with("</function>")
}

fn read_hermes(body: &str, cx: &mut Cx<'_>) {
    let text = body.trim();
    let text = text.strip_prefix(HERMES_OPEN).unwrap_or(text).trim();
    if text.is_empty() {
        return cx.found.note("a block of calls was empty");
    }
    if text.starts_with('<') {
        return if text.starts_with("<function=") {
            super::xml_blocks::read_qwen(text, cx);
        } else {
            super::xml_blocks::read_invoke(text, cx);
        };
    }
    if super::python::is_python_list(text, cx.tools, true) == Begin::Yes {
        return super::python_calls(text, cx);
    }
    if text.starts_with(['{', '[', '`']) {
        return read_json(text, cx);
    }
    if text.starts_with("call:") {
        return super::python::read_gemma(text, cx);
    }
    let inside = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    let rest = text.trim_start_matches(inside);
    let name = &text[..text.len() - rest.len()];
    if rest.trim_start().starts_with('(') {
        super::python_calls(text, cx);
    } else if rest.trim_start().starts_with('{') {
        cx.call_text(None, name, rest);
    } else {
        super::xml_blocks::read_glm(text, cx);
    }
}

fn phi_begins(text: &str, _: &Cx<'_>, end: bool) -> Begin {
    match text.chars().next() {
        Some('[') => Begin::Yes,
        None if !end => Begin::More,
        _ => Begin::No,
    }
}

fn mistral_begins(text: &str, _: &Cx<'_>, end: bool) -> Begin {
    super::first(text, end, |c| c.is_alphanumeric() || "{[_`".contains(c))
}

fn read_mistral(body: &str, cx: &mut Cx<'_>) {
    let text = body.trim();
    if text.starts_with(['{', '[', '`']) {
        return read_json(text, cx);
    }
    let open = text.find('{').unwrap_or(text.len());
    let (head, arguments) = text.split_at(open);
    let head = head.trim().trim_end_matches("[ARGS]");
    let (name, id) = match head.split_once("[CALL_ID]") {
        Some((name, id)) => (name, Some(id.trim().to_owned())),
        None => (head, None),
    };
    if name.contains(char::is_whitespace) {
        return cx.broken("", text, "the call names no tool");
    }
    cx.call_text(id, name, arguments);
}

/// A fence of JSON; other actions are ReAct's or text.
fn command_r_begins(text: &str, _: &Cx<'_>, end: bool) -> Begin {
    let open = if end { Begin::No } else { Begin::More };
    let text = text.trim_start();
    let Some(rest) = text.strip_prefix("```") else {
        return if "```".starts_with(text) { open } else { Begin::No };
    };
    let Some(rest) = rest.strip_prefix("json").or(Some(rest)) else {
        return Begin::No;
    };
    let rest = if "json".starts_with(rest) && !rest.is_empty() { "" } else { rest.trim_start() };
    match rest.chars().next() {
        Some('{' | '[') => Begin::Yes,
        None => open,
        Some(_) => Begin::No,
    }
}

fn read_kimi(body: &str, cx: &mut Cx<'_>) {
    read_each(body, KIMI_OPEN, "<|tool_call_end|>", cx, |call, cx| {
        let (id, arguments) = call.split_once(KIMI_SEPARATOR).unwrap_or((call, ""));
        let id = id.trim();
        let name = id.strip_prefix("functions.").unwrap_or(id);
        let name = name.rsplit_once(':').map_or(name, |(name, _)| name);
        cx.call_text(Some(id.to_owned()).filter(|id| id.contains(':')), name, arguments);
    });
}

fn read_each(body: &str, open: &str, close: &str, cx: &mut Cx<'_>, read: impl Fn(&str, &mut Cx<'_>)) {
    let mut rest = body;
    let mut any = false;
    while let Some(call) = element(rest, (open, "", close), |_| true) {
        any = true;
        read(call.value, cx);
        rest = call.rest;
    }
    if !any {
        cx.broken("", body, "there is no call in the block");
    }
}

fn read_deepseek(body: &str, cx: &mut Cx<'_>) {
    let space = if body.contains("<｜tool_call_begin") { "_" } else { "▁" };
    let bar = if body.contains("<|tool") { "|" } else { "｜" };
    let token = |words: [&str; 3]| format!("<{bar}{}{bar}>", words.join(space));
    let (open, close) = (token(["tool", "call", "begin"]), token(["tool", "call", "end"]));
    let separator = format!("<{bar}tool{space}sep{bar}>");
    read_each(body, &open, &close, cx, |call, cx| {
        let text = call.trim();
        match text.split_once(&separator) {
            None => cx.broken("", text, "the call names no tool"),
            Some((head, tail)) if tail.trim_start().starts_with('{') => cx.call_text(None, head, tail),
            Some((_, tail)) => {
                let (name, arguments) = tail.trim().split_once('\n').unwrap_or((tail, ""));
                cx.call_text(None, name, arguments);
            }
        }
    });
}
