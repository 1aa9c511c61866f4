//! Bodies in the names that were published for AOS, read as ours: an agent's `system_prompt`, a skill's
//! `code`. What both sides say differently is refused, never chosen from.

use crate::dto::agents::AgentInput;
use crate::dto::connections::ConnectionInput;
use crate::dto::skills::SkillInput;
use crate::problem::Problem;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use steward_app::{AppError, FieldProblem};
use steward_core::agent::Tuning;
use steward_core::budget::Preset;
use steward_core::policy::Policy;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

pub(crate) trait Published: DeserializeOwned {
    /// Whether fields may be left out that its schema demands.
    const PARTIAL: bool = false;

    /// Gives what `body` holds our names.
    fn own_names(body: &mut Map<String, Value>) -> Result<(), Problem>;
}

type Body = Map<String, Value>;

/// Moves a field to `at`, a path of objects. The one that is there already must say the same.
fn to(body: &mut Body, name: &str, value: Value, at: &[&str]) -> Result<(), Problem> {
    let [way @ .., last] = at else { return Ok(()) };
    let mut target = &mut *body;
    for part in way {
        let next = target.entry((*part).to_owned()).or_insert_with(|| json!({}));
        if next.is_null() {
            *next = json!({});
        }
        target = next
            .as_object_mut()
            .ok_or_else(|| Problem::invalid(*part, format!("`{part}` is no object"), "send a JSON object"))?;
    }
    match target.get(*last) {
        Some(there) if *there != value => {
            let own = at.join(".");
            Err(Problem::invalid(
                name,
                format!("`{name}` and `{own}` mean the same and say different things"),
                format!("send one of them; `{own}` is its name here"),
            ))
        }
        _ => {
            target.insert((*last).to_owned(), value);
            Ok(())
        }
    }
}

fn renamed(body: &mut Body, name: &str, at: &[&str]) -> Result<(), Problem> {
    match body.remove(name) {
        Some(value) => to(body, name, value, at),
        None => Ok(()),
    }
}

fn unwrapped(body: &mut Body, wrapper: &str, known: &[&str]) -> Result<(), Problem> {
    let inner = match body.remove(wrapper) {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::Object(inner)) => inner,
        Some(_) => {
            return Err(Problem::invalid(wrapper, format!("`{wrapper}` is no object"), "send a JSON object"));
        }
    };
    for (name, value) in inner {
        if !known.contains(&name.as_str()) {
            return Err(Problem::invalid(
                format!("{wrapper}.{name}"),
                format!("`{wrapper}` knows no field `{name}`"),
                format!("it may hold {}", known.join(", ")),
            ));
        }
        to(body, &name, value, &[&name])?;
    }
    Ok(())
}

fn inner<'a>(body: &'a Body, name: &str) -> Option<&'a Body> {
    body.get(name).and_then(Value::as_object)
}

/// What an agent's `config` or `extra_config` may hold.
const CONFIG: &[&str] = &[
    "system_prompt",
    "primary_connection_id",
    "llm_routing",
    "deep_planning_enabled",
    "deep_planning_max_steps",
    "deep_planning_style",
    "credentials",
    "auto_link_uploads",
];

/// Gives an agent's fields our names; a part of them, for a change.
fn agent(body: &mut Body) -> Result<(), Problem> {
    for config in [Some(&*body), inner(body, "config"), inner(body, "extra_config")].into_iter().flatten() {
        if config.contains_key("parser") {
            return Err(Problem::invalid(
                "parser",
                "how tool calls are read is no setting of an agent",
                "send `parser` with the connection that answers: POST /api/connections",
            ));
        }
    }
    unwrapped(body, "config", CONFIG)?;
    unwrapped(body, "extra_config", CONFIG)?;
    if let Some(routing) = body.get_mut("llm_routing").and_then(Value::as_object_mut)
        && let Some(primary) = routing.remove("primary_connection_id")
    {
        to(body, "llm_routing.primary_connection_id", primary, &["connection"])?;
    }
    for (name, at) in [
        ("system_prompt", &["instructions"][..]),
        ("primary_connection_id", &["connection"]),
        ("llm_routing", &["routing"]),
        ("deep_planning_enabled", &["deep", "enabled"]),
        ("deep_planning_max_steps", &["deep", "max_steps"]),
        ("deep_planning_style", &["deep", "style"]),
    ] {
        renamed(body, name, at)?;
    }
    Ok(())
}

impl Published for AgentInput {
    fn own_names(body: &mut Body) -> Result<(), Problem> {
        agent(body)
    }
}

/// A new agent: what is left out is as usual.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(transparent)]
pub(crate) struct NewAgent(pub AgentInput);

impl Published for NewAgent {
    fn own_names(body: &mut Body) -> Result<(), Problem> {
        agent(body)?;
        for (name, usual) in [
            ("instructions", json!("")),
            ("policy", json!(Policy::default())),
            ("budget", json!(Preset::default())),
            ("tuning", json!(Tuning::default())),
        ] {
            body.entry(name.to_owned()).or_insert(usual);
        }
        Ok(())
    }
}

/// Some of an agent's fields.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(crate) struct AgentPatch(pub Value);

impl PartialSchema for AgentPatch {
    fn schema() -> RefOr<Schema> {
        AgentInput::schema()
    }
}

impl ToSchema for AgentPatch {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        AgentInput::schemas(schemas);
    }
}

impl Published for AgentPatch {
    const PARTIAL: bool = true;

    fn own_names(body: &mut Body) -> Result<(), Problem> {
        agent(body)
    }
}

impl Published for ConnectionInput {
    /// `parser` says in executors of this kind how calls are read from replies. What it asks for and is done here is taken;
    /// all else is named together with what to do instead.
    fn own_names(body: &mut Body) -> Result<(), Problem> {
        let parser = match body.remove("parser") {
            None | Some(Value::Null) => return Ok(()),
            Some(Value::Object(parser)) => parser,
            Some(_) => return Err(Problem::invalid("parser", "`parser` is no object", "send a JSON object")),
        };
        let can = inner(body, "capabilities");
        let untrusted = can.is_some_and(|can| can.get("trusted") == Some(&Value::Bool(false)));
        let says = can.is_some_and(|can| can.contains_key("strategy"));
        let mut problems = Vec::new();
        for (name, value) in parser {
            let instead = match (name.as_str(), value.as_str().unwrap_or_default()) {
                _ if value.is_null() => continue,
                ("strategy", "native" | "guided_json" | "react" | "markers") => {
                    let at: &[&str] = if says { &["capabilities", "strategy"] } else { &["strategy"] };
                    to(body, "parser.strategy", value, at)?;
                    continue;
                }
                ("source_field", "content") | ("fallback_field", "reasoning" | "reasoning_content") => continue,
                ("fallback_strategy", "guided_json" | "react" | "markers" | "fuzzy") if untrusted => continue,
                ("strategy", _) => {
                    "choose guided_json, react or markers; phrases that imply a call (fuzzy) are read last from each \
                     model that isn't trusted"
                }
                ("fallback_strategy", _) => {
                    "leave it out; of a model that isn't trusted (`capabilities.trusted` is false, or an exam says so) \
                     all other forms are read where its own holds no call, phrases last"
                }
                ("source_field" | "fallback_field", _) => {
                    "leave it out; what the model answers is read first, its reasoning only where that holds no call"
                }
                ("guided_json_schema_path", _) => {
                    "leave it out; the schema is made of the agent's tools for each request"
                }
                _ => {
                    "`parser` may hold strategy, fallback_strategy, source_field, fallback_field and \
                     guided_json_schema_path"
                }
            };
            let title = match value.as_str() {
                Some(word) => format!("`parser.{name}` can't be `{word}` here"),
                None => format!("`parser.{name}` can't be set here"),
            };
            problems.push(FieldProblem { field: format!("parser.{name}"), title, hint: instead.to_owned() });
        }
        if problems.is_empty() { Ok(()) } else { Err(AppError::several(problems).into()) }
    }
}

impl Published for SkillInput {
    fn own_names(body: &mut Body) -> Result<(), Problem> {
        let python = matches!(body.get("type").and_then(Value::as_str), Some("python" | "python_inline"));
        if let Some(sandbox) = body.remove("sandbox") {
            match sandbox {
                // Inline Python is forced into the sandbox, as published.
                Value::Bool(true) => {}
                Value::Bool(false) if python => {}
                Value::Bool(false) => {
                    return Err(Problem::invalid(
                        "sandbox",
                        "programs always run in the sandbox here",
                        "leave `sandbox` out; `config` says what a program may do",
                    ));
                }
                _ => {
                    return Err(Problem::invalid("sandbox", "`sandbox` is true or false", "leave it out"));
                }
            }
        }
        // A function that says nothing of its inputs takes what it reads from its payload.
        if let Some(code) = body.get("code").and_then(Value::as_str)
            && python
            && !body.contains_key("parameters")
        {
            let properties: Map<String, Value> =
                read_keys(code).into_iter().map(|key| (key, json!({"description": "As the code reads it"}))).collect();
            let parameters = json!({"type": "object", "properties": properties, "additionalProperties": true});
            body.insert("parameters".to_owned(), parameters);
        }
        for (name, at) in [
            ("code", ["config", "code"]),
            ("system_prompt", ["config", "prompt"]),
            ("readonly", ["config", "readonly"]),
        ] {
            renamed(body, name, &at)?;
        }
        Ok(())
    }
}

/// The keys that `code` takes from its payload, in order: `payload["key"]`, `payload.get("key")`.
fn read_keys(code: &str) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for (at, _) in code.match_indices("payload") {
        let rest = code[at + "payload".len()..].trim_start();
        let Some(rest) = rest.strip_prefix('[').or_else(|| rest.strip_prefix(".get(")) else {
            continue;
        };
        let rest = rest.trim_start();
        let Some(mark) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
            continue;
        };
        let Some(key) = rest[1..].split(mark).next() else {
            continue;
        };
        if !key.is_empty() && !keys.iter().any(|known| known == key) {
            keys.push(key.to_owned());
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{ConnectionInput, NewAgent, Published, SkillInput};
    use serde_json::{Value, json};
    use steward_core::model::Strategy;
    use steward_core::{AgentId, SkillId, Timestamp};
    use uuid::Uuid;

    fn renamed<T: Published>(mut body: Value) -> Result<T, String> {
        T::own_names(body.as_object_mut().unwrap()).map_err(|problem| format!("{problem:?}"))?;
        serde_json::from_value(body).map_err(|error| error.to_string())
    }

    #[test]
    fn an_agent_in_published_names_is_ours() {
        let [primary, other] = [1, 2].map(Uuid::from_u128);
        let body = json!({
            "name": "infra",
            "system_prompt": "You keep servers.",
            "llm_routing": {
                "primary_connection_id": primary, "fallback_chain": [other],
                "task_routing": {"code_gen": other}, "cost_aware": true, "max_fallback_attempts": 2,
            },
            "config": {"deep_planning_enabled": true, "deep_planning_max_steps": 4, "deep_planning_style": "concise"},
        });
        let NewAgent(agent) = renamed(body).unwrap();
        let agent = agent.with_id(AgentId(Uuid::from_u128(9)), None);
        assert_eq!(agent.instructions, "You keep servers.");
        assert_eq!(agent.connection.unwrap().0, primary);
        assert_eq!(agent.routing.fallback_chain[0].0, other);
        assert!(agent.routing.cost_aware && agent.routing.max_fallback_attempts == 2);
        assert_eq!((agent.deep.enabled, agent.deep.max_steps), (Some(true), Some(4)));
        for (body, expect) in [
            (json!({"name": "a", "system_prompt": "x", "instructions": "y"}), "mean the same"),
            (json!({"name": "a", "config": {"colour": 1}}), "config.colour"),
            (json!({"name": "a", "config": 7}), "no object"),
            (json!({"name": "a", "llm_routing": {"chain": []}}), "chain"),
            (json!({"name": "a", "primary_connection_id": primary, "connection": other}), "mean the same"),
        ] {
            let error = renamed::<NewAgent>(body).unwrap_err();
            assert!(error.contains(expect), "{error}");
        }
    }

    #[test]
    fn an_agent_takes_its_users_uploads_where_its_config_says_so() {
        for body in [
            json!({"name": "infra", "config": {"auto_link_uploads": true}}),
            json!({"name": "infra", "auto_link_uploads": true}),
        ] {
            let NewAgent(agent) = renamed(body).unwrap();
            assert_eq!(agent.auto_link_uploads, Some(true));
        }
        for body in [json!({"name": "a", "parser": {}}), json!({"name": "a", "extra_config": {"parser": {}}})] {
            let error = renamed::<NewAgent>(body).unwrap_err();
            assert!(error.contains("POST /api/connections"), "{error}");
        }
    }

    #[test]
    fn the_parser_of_an_executor_is_taken_as_far_as_it_is_done_here() {
        let body = |parser: Value| json!({"name": "big", "provider": "vllm", "base_url": "http://127.0.0.1:9/v1", "model": "m", "parser": parser});
        for (parser, strategy) in [
            (json!({"strategy": "react"}), Some(Strategy::React)),
            (json!({"strategy": "guided_json", "source_field": "content"}), Some(Strategy::GuidedJson)),
            (
                json!({"strategy": "markers", "fallback_field": "reasoning", "fallback_strategy": null}),
                Some(Strategy::Markers),
            ),
            (json!({}), None),
        ] {
            let input: ConnectionInput = renamed(body(parser)).unwrap();
            assert_eq!((input.strategy, input.capabilities), (strategy, None));
        }
        // What the other program recommends: each name that does nothing here is told, with what to do.
        let recommended = json!({
            "strategy": "react", "fallback_strategy": "fuzzy", "source_field": "reasoning", "fallback_field": "content",
        });
        let error = renamed::<ConnectionInput>(body(recommended)).unwrap_err();
        for name in ["parser.fallback_strategy", "parser.source_field", "parser.fallback_field"] {
            assert!(error.contains(name), "{error}");
        }
        let mut weak = body(json!({"strategy": "react", "fallback_strategy": "fuzzy"}));
        weak["capabilities"] = json!({"trusted": false});
        let weak: ConnectionInput = renamed(weak).unwrap();
        assert_eq!(weak.strategy, Some(Strategy::React));
        let mut both = body(json!({"strategy": "react"}));
        both["capabilities"] = json!({"strategy": "markers"});
        for (body, expect) in [
            (both, "mean the same"),
            (body(json!({"strategy": "fuzzy"})), "choose guided_json, react or markers"),
            (body(json!({"strategy": 7})), "choose guided_json"),
            (body(json!({"guided_json_schema_path": "config/guided-schema.json"})), "made of the agent's tools"),
            (body(json!({"temperature": 1})), "may hold strategy"),
            (body(json!("react")), "no object"),
        ] {
            let error = renamed::<ConnectionInput>(body).unwrap_err();
            assert!(error.contains(expect), "{expect}: {error}");
        }
    }

    #[test]
    fn the_published_skill_is_ours() {
        let body = json!({
            "name": "summarise_ticket", "type": "python_inline",
            "description": "Summarise a Jira ticket payload",
            "code": "def run(payload):\n    return {\"summary\": payload[\"description\"][:280]}\n",
            "sandbox": true
        });
        let input: SkillInput = renamed(body.clone()).unwrap();
        let parameters = input.parameters.clone().unwrap();
        assert!(parameters["properties"]["description"].is_object(), "{parameters}");
        let skill = input.skill(SkillId(Uuid::from_u128(1)), Timestamp(0), "t".to_owned()).unwrap();
        assert_eq!(json!(skill.spec)["config"]["code"], body["code"]);
        for (name, value, fits) in [
            ("sandbox", json!(false), true),
            ("sandbox", json!("yes"), false),
            ("config", json!({"code": "def run(p): return 1"}), false),
            ("config", json!({"timeout_ms": 100}), true),
            ("colour", json!(1), false),
        ] {
            let mut body = body.clone();
            body[name] = value.clone();
            assert_eq!(renamed::<SkillInput>(body).is_ok(), fits, "{name} {value}");
        }
        let shell = json!({"name": "s", "type": "shell_exec", "description": "", "config": {"command": ["ls"]}, "sandbox": false});
        assert!(renamed::<SkillInput>(shell).unwrap_err().contains("always run in the sandbox"));
    }
}
