#![allow(clippy::unwrap_used, reason = "tests")]

use super::request;
use crate::gateway::inbound::Inbound;
use axum::http::HeaderMap;
use serde_json::{Value, json};
use steward_core::message::Role;
use steward_core::model::{Effort, RequestOptions, ToolChoice};
use steward_core::passthrough_request::PassthroughRequest;

pub(in crate::gateway::translate) fn inbound(mut body: Value) -> Inbound {
    body["model"] = json!("connection/claude");
    let bytes = body.to_string().into_bytes();
    Inbound { headers: HeaderMap::new(), asked: PassthroughRequest::of(&bytes).unwrap(), body: bytes.into() }
}

#[test]
fn a_whole_conversation_is_understood() {
    let body = json!({
        "messages": [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "Weather?"}, {"type": "image_url", "image_url": {"url": "https://example.org/sky.jpg"}}]},
            {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{\"place\":\"Oslo\"}"}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "rain"},
            {"role": "assistant", "refusal": "I don't say.", "audio": null},
        ],
        "tools": [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}],
        "tool_choice": "auto", "n": 1, "top_p": 0.5, "presence_penalty": 0, "user": "ann", "logprobs": null,
        "stop": "END", "seed": 7, "max_tokens": 12, "temperature": 0.5, "stream": true, "parallel_tool_calls": false,
        "stream_options": {"include_usage": true}, "reasoning_effort": "high",
        "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "array"}}},
    });
    let request = request(&inbound(body), 1000).unwrap();
    assert!(request.stream && request.include_usage);
    let model = request.model;
    let roles: Vec<Role> = model.messages.iter().map(|one| one.role).collect();
    assert_eq!(roles, [Role::System, Role::User, Role::Assistant, Role::Tool, Role::Assistant]);
    assert_eq!(model.messages[1].pictures.len(), 1);
    assert_eq!(model.messages[2].tool_calls[0].arguments, json!({"place": "Oslo"}));
    assert_eq!(model.messages[3].tool_call_id.as_deref(), Some("c1"));
    assert_eq!(model.messages[4].text, "I don't say.");
    assert_eq!(model.tools[0].name, "weather");
    assert_eq!(model.schema, Some(json!({"type": "array"})));
    assert_eq!((model.stop, model.seed, model.max_tokens), (vec!["END".to_owned()], Some(7), Some(12)));
    let options = RequestOptions {
        tool_choice: ToolChoice::Auto,
        single_call: true,
        top_p: Some(0.5),
        effort: Some(Effort::High),
        exact: true,
    };
    assert_eq!(model.options, options);
}

#[test]
fn a_choice_of_tools_is_kept() {
    let named = json!({"type": "function", "function": {"name": "weather"}});
    for (choice, expected) in [
        (json!("required"), ToolChoice::Required),
        (named, ToolChoice::Named("weather".to_owned())),
        (Value::Null, ToolChoice::Auto),
    ] {
        let tools = json!([{"type": "function", "function": {"name": "weather"}}]);
        let body = json!({"messages": [{"role": "user", "content": "hi"}], "tools": tools, "tool_choice": choice});
        let model = request(&inbound(body), 1000).unwrap().model;
        assert_eq!((model.options.tool_choice, model.tools.len()), (expected, 1), "{choice}");
    }
    let body = json!({"messages": [{"role": "user", "content": "hi"}], "tools": [{"type": "function", "function": {"name": "w"}}], "tool_choice": "none"});
    let idle = request(&inbound(body), 1000).unwrap().model;
    assert_eq!((idle.options.tool_choice, idle.tools.len()), (ToolChoice::Auto, 0));
    let called = json!([
        {"role": "user", "content": "hi"},
        {"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "w", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "a", "content": "sun"},
    ]);
    let body =
        json!({"messages": called, "tools": [{"type": "function", "function": {"name": "w"}}], "tool_choice": "none"});
    let kept = request(&inbound(body), 1000).unwrap().model;
    assert_eq!((kept.options.tool_choice, kept.tools.len()), (ToolChoice::None, 1));
    let plain = request(&inbound(json!({"messages": [{"role": "user", "content": "hi"}]})), 1000).unwrap().model;
    assert_eq!((plain.max_tokens, plain.temperature), (None, None), "the model's own");
}

#[test]
fn fields_that_would_be_lost_are_named_with_their_place() {
    let tool = |more: &str| json!([{"type": "function", "function": {"name": "w"}, more: 1}]);
    let parts = json!([{"type": "text", "text": "hi", "foo": 1}]);
    let picture = json!([{"type": "image_url", "image_url": {"url": "https://a.example/b.png", "bar": 1}}]);
    let cases = [
        (json!({"foo": 1}), "foo"),
        (json!({"messages": [{"role": "user", "content": "hi", "foo": 1}]}), "messages[0].foo"),
        (json!({"messages": [{"role": "user", "content": parts}]}), "messages[0].content[0].foo"),
        (json!({"messages": [{"role": "user", "content": picture}]}), "messages[0].content[0].image_url.bar"),
        (json!({"tools": tool("foo")}), "tools[0].foo"),
        (
            json!({"tools": [{"type": "function", "function": {"name": "w", "returns": {}}}]}),
            "tools[0].function.returns",
        ),
    ];
    for (extra, param) in cases {
        let mut body = json!({"messages": [{"role": "user", "content": "hi"}]});
        body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        let error = request(&inbound(body), 1000).unwrap_err();
        assert_eq!((error.status.as_u16(), error.param.as_deref()), (400, Some(param)), "{}", error.message);
    }
    let cached = json!([{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]);
    let said =
        json!({"role": "assistant", "content": "x", "reasoning_content": "Hm.", "annotations": [], "audio": null});
    let body = json!({
        "messages": [{"role": "user", "content": cached, "name": "ann"}, said, {"role": "user", "content": "go on"}],
        "tools": tool("cache_control"),
    });
    assert!(request(&inbound(body), 1000).is_ok());
}

#[test]
fn names_that_providers_refuse_are_replaced_in_all_places() {
    let (pointed, long) = ("files.read", "x".repeat(70));
    let tool = |name: &str| json!({"type": "function", "function": {"name": name}});
    let body = json!({
        "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {"name": pointed, "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "c", "content": "x"},
        ],
        "tools": [tool(pointed), tool(&long), tool("files_read")],
        "tool_choice": {"type": "function", "function": {"name": pointed}},
    });
    let request = request(&inbound(body), 1000).unwrap();
    let sent: Vec<&str> = request.model.tools.iter().map(|one| one.name.as_str()).collect();
    let plain = |name: &&str| name.len() <= 64 && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    assert!(sent.iter().all(plain) && sent[0] != sent[2], "{sent:?}");
    assert_eq!(sent[2], "files_read");
    assert_eq!(request.model.messages[1].tool_calls[0].name, sent[0]);
    assert_eq!(request.model.options.tool_choice, ToolChoice::Named(sent[0].to_owned()));
    let given: Vec<String> = sent.iter().map(|name| request.names.given((*name).to_owned())).collect();
    assert_eq!(given, [pointed, long.as_str(), "files_read"]);
}

#[test]
fn conversations_that_no_provider_takes_are_refused_in_words() {
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "w", "arguments": "{}"}});
    let (go, result) =
        (json!({"role": "user", "content": "go"}), json!({"role": "tool", "tool_call_id": "a", "content": "x"}));
    let made = json!({"role": "assistant", "tool_calls": [call("a"), call("b")]});
    let cases = [
        (json!([{"role": "system", "content": "S"}]), "no messages but instructions"),
        (json!([go, made, result, go]), "the call `b` has no result"),
        (json!([go, made]), "the call `a` has no result"),
        (json!([go, result, go]), "no such call"),
    ];
    for (messages, words) in cases {
        let error = request(&inbound(json!({"messages": messages})), 1000).unwrap_err();
        assert!(error.status == 400 && error.message.contains(words), "{}", error.message);
    }
}

#[test]
fn what_has_no_translation_is_refused_by_name() {
    let cases = [
        (json!({"n": 2}), "`n`"),
        (json!({"logprobs": true}), "`logprobs`"),
        (json!({"audio": {"voice": "alloy"}}), "`audio`"),
        (json!({"modalities": ["text", "audio"]}), "`modalities`"),
        (json!({"logit_bias": {"1": 2}}), "`logit_bias`"),
        (json!({"presence_penalty": 0.5}), "`presence_penalty`"),
        (json!({"verbosity": "low"}), "`verbosity`"),
        (json!({"unheard_of": 1}), "`unheard_of`"),
        (json!({"tool_choice": "required"}), "`tools`"),
        (
            json!({"tool_choice": {"type": "function", "function": {"name": "gone"}}, "tools": [{"type": "function", "function": {"name": "w"}}]}),
            "`gone`",
        ),
        (
            json!({"tool_choice": {"type": "allowed_tools"}, "tools": [{"type": "function", "function": {"name": "w"}}]}),
            "`allowed_tools`",
        ),
        (json!({"reasoning_effort": "huge"}), "`huge`"),
        (json!({"tools": [{"type": "web_search"}]}), "`web_search`"),
        (json!({"response_format": {"type": "grammar"}}), "`response_format`"),
        (json!({"stop": 7}), "`stop`"),
        (json!({"stop": ["a", "b", "c", "d", "e"]}), "at most 4"),
        (json!({"messages": []}), "no messages"),
        (json!({"messages": [{"role": "tool", "content": "x"}]}), "`tool_call_id`"),
        (json!({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}), "`image_url`"),
        (json!({"messages": [{"role": "user", "content": [{"type": "input_audio"}]}]}), "`input_audio`"),
        (
            json!({"messages": [{"role": "system", "content": [{"type": "image_url", "image_url": {"url": "https://a.example/b.png"}}]}]}),
            "the user's",
        ),
        (json!({"messages": [{"role": "assistant", "audio": {"id": "a"}}]}), "`audio`"),
    ];
    for (extra, part) in cases {
        let mut body = json!({"messages": [{"role": "user", "content": "hi"}]});
        for (name, value) in extra.as_object().unwrap() {
            body[name] = value.clone();
        }
        let error = request(&inbound(body), 1000).unwrap_err();
        assert_eq!(error.status, 400);
        assert!(error.message.contains(part), "{}", error.message);
    }
}
