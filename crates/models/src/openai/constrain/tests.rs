#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::unnecessary_wraps,
    reason = "tests"
)]

use super::{SchemaMemory, apply, is_strict, refusal};
use serde_json::{Value, json};
use steward_core::ConnectionId;
use steward_core::model::{Auth, Capabilities, Connection, Constrained, Provider};
use uuid::Uuid;

fn connection(provider: Provider, constrained: Option<Constrained>) -> Connection {
    Connection {
        id: ConnectionId(Uuid::from_u128(1)),
        name: "one".to_owned(),
        provider,
        base_url: "http://127.0.0.1:9/v1".to_owned(),
        model: "m".to_owned(),
        auth: Auth::None,
        capabilities: Capabilities { constrained, ..Capabilities::default() },
        wire: None,
        price: None,
        weight: 1,
        in_house: None,
        by_hand: Vec::new(),
    }
}

/// The schema of a reply over tools of these names and argument schemas.
fn guided(tools: &[(String, Value)]) -> Value {
    let variants: Vec<Value> = tools
        .iter()
        .map(|(name, arguments)| {
            json!({
                "type": "object",
                "properties": {"name": {"type": "string", "enum": [name]}, "arguments": arguments},
                "required": ["name", "arguments"],
            })
        })
        .collect();
    json!({
        "type": "object",
        "properties": {"tool_calls": {"type": "array", "items": {"anyOf": variants}}},
        "required": ["tool_calls"],
    })
}

fn arguments(field: &str) -> Value {
    json!({"type": "object", "properties": {field: {"type": "string"}}, "required": [field]})
}

fn tools(count: usize) -> Vec<(String, Value)> {
    (0..count).map(|n| (format!("tool_{n}"), arguments(&format!("field_{n}")))).collect()
}

/// A server and what its client has learned of it.
struct Bed<'a> {
    connection: Connection,
    memory: SchemaMemory,
    /// The refusal of a request, if it refuses it.
    server: &'a dyn Fn(&Value) -> Option<(u16, String)>,
    refusals: usize,
}

impl<'a> Bed<'a> {
    fn new(
        provider: Provider,
        constrained: Option<Constrained>,
        server: &'a dyn Fn(&Value) -> Option<(u16, String)>,
    ) -> Self {
        Self { connection: connection(provider, constrained), memory: SchemaMemory::default(), server, refusals: 0 }
    }

    /// Asks as the client does, until the request is accepted; the accepted body.
    fn ask(&mut self, schema: &Value) -> Value {
        for _ in 0..40 {
            let mut body = json!({"messages": [{"content": "as JSON"}]});
            apply(&mut body, &self.connection, schema, &self.memory);
            body.as_object_mut().unwrap().remove("messages");
            let Some((status, raw)) = (self.server)(&body) else {
                if let Some(learned) = self.memory.accepted(&body) {
                    self.memory = learned;
                }
                return body;
            };
            self.refusals += 1;
            let learned = self.memory.refused(status, &raw, &body);
            self.memory = learned.expect("the refusal teaches something");
        }
        panic!("asked for ever");
    }
}

/// Names of the tools whose arguments are constrained.
fn held_to(body: &Value) -> Vec<String> {
    let schema = body.pointer("/response_format/json_schema/schema").unwrap_or(&Value::Null);
    refusal::of(schema).iter().filter(|branch| !branch.is_open()).map(|branch| branch.name.to_owned()).collect()
}

fn fields(body: &Value) -> Vec<&str> {
    body.as_object().unwrap().keys().map(String::as_str).collect()
}

fn refuse(text: &str) -> Option<(u16, String)> {
    Some((400, json!({"error": {"message": text}}).to_string()))
}

#[test]
fn each_way_is_written_as_its_server_reads_it() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let closed = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false});
    let accept = |_: &Value| None;
    let write = |provider, way, schema: &Value| Bed::new(provider, way, &accept).ask(schema);
    let open = json!({"response_format": {"type": "json_schema",
        "json_schema": {"name": "output", "schema": schema, "strict": false}}});
    let strict = json!({"response_format": {"type": "json_schema",
        "json_schema": {"name": "output", "schema": closed, "strict": true}}});
    for (provider, way, schema, expect) in [
        (Provider::OpenAi, None, &schema, open.clone()),
        (Provider::OpenAi, None, &closed, strict),
        (Provider::Vllm, None, &schema, open.clone()),
        (Provider::Ollama, None, &schema, open),
        (Provider::Local, None, &schema, json!({"json_schema": schema})),
        (Provider::LlamaCpp, None, &schema, json!({"json_schema": schema})),
        (Provider::Compatible, Some(Constrained::OllamaFormat), &schema, json!({"format": schema})),
        (
            Provider::Compatible,
            Some(Constrained::StructuredOutputs),
            &schema,
            json!({"structured_outputs": {"json": schema}}),
        ),
        (Provider::Compatible, Some(Constrained::GuidedJson), &schema, json!({"guided_json": schema})),
        (
            Provider::Compatible,
            Some(Constrained::JsonObject),
            &schema,
            json!({"response_format": {"type": "json_object"}}),
        ),
    ] {
        assert_eq!(write(provider, way, schema), expect, "{provider:?} {way:?}");
    }
}

#[test]
fn any_object_is_asked_for_only_where_that_is_what_is_wanted() {
    let server = |body: &Value| {
        let schema = body.pointer("/response_format/json_schema");
        schema.and_then(|_| refuse("response_format of type json_schema is not supported"))
    };
    let mut bed = Bed::new(Provider::OpenAi, None, &server);
    let object = json!({"type": "object"});
    let body = bed.ask(&object);
    assert_eq!(body["response_format"]["type"], "json_object");
    assert_eq!(bed.ask(&json!({"type": "array"})), json!({}));
}

#[test]
fn a_way_that_is_refused_is_followed_by_the_next_and_then_by_none() {
    let vllm = |body: &Value| {
        let known = body.get("guided_json").is_some();
        (!known).then(|| refuse("extra fields not permitted: response_format, structured_outputs, a schema"))?
    };
    let mut bed = Bed::new(Provider::Vllm, None, &vllm);
    let schema = json!({"type": "object"});
    assert_eq!(fields(&bed.ask(&schema)), ["guided_json"]);
    assert_eq!(bed.refusals, 2);
    bed.ask(&schema);
    assert_eq!(bed.refusals, 2, "never asked again");

    let nothing = |body: &Value| {
        let constrained = body.as_object().is_some_and(|map| !map.is_empty());
        constrained.then(|| (500, "Failed to parse grammar".to_owned()))
    };
    let mut bed = Bed::new(Provider::Compatible, None, &nothing);
    assert_eq!(bed.ask(&schema), json!({}));
}

#[test]
fn other_schemas_stay_constrained() {
    let server = |body: &Value| {
        let pattern = body.to_string().contains("pattern");
        pattern.then(|| refuse("schema: 'pattern' is not supported by xgrammar"))?
    };
    let mut bed = Bed::new(Provider::Compatible, None, &server);
    let bad = json!({"type": "array", "items": {"type": "string", "pattern": "^a$"}});
    assert_eq!(bed.ask(&bad), json!({}));
    let good = json!({"type": "array"});
    assert_eq!(fields(&bed.ask(&good)), ["response_format"]);
    assert_eq!(bed.refusals, 1);
}

#[test]
fn strict_is_dropped_before_the_schema() {
    let server = |body: &Value| {
        let strict = body.pointer("/response_format/json_schema/strict") == Some(&json!(true));
        strict.then(|| refuse("Invalid schema: 'minLength' is not permitted"))?
    };
    let mut bed = Bed::new(Provider::OpenAi, None, &server);
    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "minLength": 2}},
        "required": ["a"], "additionalProperties": false});
    let body = bed.ask(&schema);
    assert_eq!(body["response_format"]["json_schema"]["strict"], false);
    assert_eq!(body["response_format"]["json_schema"]["schema"], schema);
}

#[test]
fn a_tool_that_the_error_names_is_dropped_alone() {
    for message in [
        "the schema of tool_3 is too deep",
        "Invalid schema for response_format 'output': In context=('properties', 'tool_calls', 'items', 'anyOf', '3', 'properties', 'arguments'), 'x' is required",
        "schema at /properties/tool_calls/items/anyOf/3 is not supported",
        "grammar: unknown format \"uncommon\"",
    ] {
        let mut tools = tools(8);
        tools[3].1["properties"]["field_3"]["format"] = json!("uncommon");
        let schema = guided(&tools);
        let server = |body: &Value| {
            let held = held_to(body).contains(&"tool_3".to_owned());
            held.then(|| refuse(message))?
        };
        let mut bed = Bed::new(Provider::OpenAi, None, &server);
        let held = held_to(&bed.ask(&schema));
        assert_eq!(held.len(), 7, "{message}");
        assert!(!held.contains(&"tool_3".to_owned()), "{message}");
        assert_eq!(bed.refusals, 1, "{message}");
    }
}

#[test]
fn a_tool_that_no_error_names_is_found_by_halves() {
    for count in [2usize, 3, 8, 13, 40] {
        for bad in [0, count / 2, count - 1] {
            let name = format!("tool_{bad}");
            let server = |body: &Value| {
                let held = held_to(body).contains(&name);
                held.then(|| refuse("the JSON schema is not supported by the grammar backend"))?
            };
            let mut bed = Bed::new(Provider::OpenAi, None, &server);
            let schema = guided(&tools(count));
            let mut requests = 0;
            loop {
                let before = bed.refusals;
                let held = held_to(&bed.ask(&schema));
                requests += 1;
                let more = bed.refusals - before;
                assert!(more <= 1, "each request is repeated once at most");
                if held.len() == count - 1 && more == 0 && requests > count {
                    break;
                }
                assert!(requests < 4 * count, "{count} tools, {bad} is bad");
            }
            let log = count.next_power_of_two().trailing_zeros() as usize;
            assert!(bed.refusals <= log + 2, "{count} tools: {} refusals", bed.refusals);
            // The others are known to be good in another set, too.
            let mut fewer = tools(count);
            fewer.retain(|(tool, _)| *tool != name);
            assert_eq!(held_to(&bed.ask(&guided(&fewer))).len(), count - 1);
        }
    }
}

#[test]
fn several_bad_tools_are_all_found() {
    let bad = ["tool_1", "tool_2", "tool_9"];
    let server = |body: &Value| {
        let held = held_to(body).iter().any(|name| bad.contains(&name.as_str()));
        held.then(|| refuse("bad request"))?
    };
    let mut bed = Bed::new(Provider::OpenAi, None, &server);
    let schema = guided(&tools(12));
    let found = (0..40).any(|_| held_to(&bed.ask(&schema)).len() == 9);
    assert!(found);
    assert!(bed.refusals <= 3 * (4 + 2), "{}", bed.refusals);
}

#[test]
fn tools_are_not_blamed_for_the_way() {
    let server = |body: &Value| {
        let way = body.get("response_format").is_some();
        way.then(|| refuse("no JSON schema, please"))?
    };
    let mut bed = Bed::new(Provider::OpenAi, None, &server);
    let schema = guided(&tools(6));
    assert_eq!(bed.ask(&schema), json!({}));
    assert!(bed.refusals <= 3);
}

#[test]
fn too_many_tools_to_search_are_left_open_together() {
    let server = |body: &Value| (held_to(body).len() > 5).then(|| refuse("grammar too large"))?;
    let mut bed = Bed::new(Provider::OpenAi, None, &server);
    let body = bed.ask(&guided(&tools(200)));
    assert_eq!(held_to(&body).len(), 0);
    assert!(body.get("response_format").is_some(), "the names still are");
}

#[test]
fn what_is_no_refusal_of_the_schema_teaches_nothing() {
    let sent = json!({"response_format": {"type": "json_object"}});
    let learn = |status, raw: &str| SchemaMemory::default().refused(status, raw, &sent);
    assert!(learn(400, "unexpected role: critic").is_none());
    assert!(learn(401, "schema").is_none());
    assert!(learn(429, "schema").is_none());
    assert!(learn(500, "").is_none());
    assert!(learn(503, "the schema").is_none());
    assert!(learn(400, "maximum context length is 10 with this schema").is_none());
    assert!(learn(400, "").is_some());
    assert!(SchemaMemory::default().refused(400, "schema", &json!({})).is_none());
}

#[test]
fn a_sender_that_does_not_heed_is_not_asked_for_ever() {
    let sent = json!({"format": guided(&tools(6))});
    let mut memory = SchemaMemory::default();
    let mut learned = 0;
    while let Some(next) = memory.refused(400, "invalid format", &sent) {
        memory = next;
        learned += 1;
        assert!(learned < 5);
    }
    assert!(learned > 0);
}

#[test]
fn plans_have_branches_too() {
    let schema = json!({"type": "array", "items": {"anyOf": [
        {"properties": {"tool": {"const": "a"}, "args": {"type": "object", "properties": {}}}},
        {"properties": {"tool": {"const": "b"}, "args": {"type": "object"}}},
        {"properties": {"tool": {"enum": ["b", "c"]}, "args": {"type": "object"}}},
    ]}});
    let found = refusal::of(&schema);
    let names: Vec<_> = found.iter().map(|one| (one.name, one.is_open())).collect();
    assert_eq!(names, [("a", false), ("b", true)]);
    let opened = refusal::opened(&schema, &[true, false]);
    assert_eq!(opened, refusal::skeleton(&schema));
    assert_eq!(opened["items"]["anyOf"][0]["properties"]["args"], json!({"type": "object"}));
}

#[test]
fn open_objects_are_not_strict() {
    let inner = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    let mut closed = inner.clone();
    closed["additionalProperties"] = json!(false);
    assert!(is_strict(&json!({"type": "string"})));
    assert!(!is_strict(&json!({"type": "object"})));
    assert!(!is_strict(&inner));
    assert!(is_strict(&closed));
    assert!(is_strict(&json!({"type": "array", "items": closed})));
    assert!(!is_strict(&json!({"anyOf": [closed, inner]})));
}
