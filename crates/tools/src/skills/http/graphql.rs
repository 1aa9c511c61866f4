use super::auth::{AuthorizedClient, places_credential};
use super::{exchange, request, request_preview};
use crate::error::{ToolsError, refused};
use crate::handler::Context;
use crate::outbound::{Client, HttpRequest};
use crate::skills::executor::{in_config, spec_of};
use crate::skills::template::{self, Template, TemplateUse, Values, check_json, check_url};
use crate::skills::{Executor, SkillCall};
use async_trait::async_trait;
use serde_json::{Value, json};
use steward_core::ports::ToolScope;
use steward_core::skill::{GraphqlSpec, Skill, SkillKind};
use steward_core::tool::{EffectClass, Preview, ToolOutput};

const ERROR_CHARS: usize = 1200;

pub struct GraphqlExecutor(AuthorizedClient);

impl GraphqlExecutor {
    /// A skill may allow further hosts beside those of `client`.
    pub fn new(client: Client) -> Self {
        Self(AuthorizedClient::new(client))
    }
}

spec_of!(Graphql, GraphqlSpec, "graphql");

/// `query`, `mutation` or `subscription`, by the first word of the document.
fn operation(document: &str) -> &'static str {
    let mut lines = document.lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
    match first.unwrap_or("") {
        text if text.starts_with("mutation") => "mutation",
        text if text.starts_with("subscription") => "subscription",
        _ => "query",
    }
}

fn error_text(body: &Value) -> Option<String> {
    let errors = body["errors"].as_array().filter(|all| !all.is_empty())?;
    let messages: Vec<String> =
        errors.iter().map(|error| error["message"].as_str().map_or_else(|| error.to_string(), str::to_owned)).collect();
    Some(steward_core::tool::truncate(&messages.join("; "), ERROR_CHARS).0)
}

fn build(spec: &GraphqlSpec, values: &Values<'_>) -> Result<HttpRequest, ToolsError> {
    let variables = match template::json(&spec.variables, values)? {
        Value::Null => json!({}),
        other => other,
    };
    let body = json!({"query": spec.query, "variables": variables});
    let accept = "application/graphql-response+json, application/json";
    let mut request = request::post_json(template::url(&spec.url, values)?, accept, &body);
    request::headers(&mut request.headers, &spec.headers, values)?;
    Ok(request)
}

#[async_trait]
impl Executor for GraphqlExecutor {
    fn kind(&self) -> SkillKind {
        SkillKind::Graphql
    }

    fn check(&self, skill: &Skill) -> Result<(), String> {
        let spec = spec(skill).map_err(|error| error.to_string())?;
        let url = Template::parse(&spec.url);
        if !url.is_ok_and(|url| url.is_fixed()) {
            return Err("config.url: the endpoint is fixed text".to_owned());
        }
        check_url(&spec.url, &skill.parameters).map_err(in_config("url"))?;
        request::check_headers(&spec.headers, &skill.parameters)?;
        check_json(&spec.variables, TemplateUse::Body, &skill.parameters).map_err(in_config("variables"))?;
        if !(spec.variables.is_object() || spec.variables.is_null()) {
            return Err(r#"config.variables: give an object, such as {"id": "{{id}}"}"#.to_owned());
        }
        let problem = match operation(&spec.query) {
            _ if spec.query.trim().is_empty() => Some("config.query: give the GraphQL document"),
            "subscription" => Some("config.query: a subscription never ends; use a query"),
            "mutation" if skill.effect == EffectClass::Read => Some("effect: a mutation changes something; use write"),
            _ => None,
        };
        if let Some(problem) = problem {
            return Err(problem.to_owned());
        }
        if let Some(path) = &spec.select {
            exchange::check_path(path).map_err(in_config("select"))?;
        }
        request::check_allow(&spec.allow)
    }

    async fn preview(&self, skill: &Skill, arguments: &Value, _: &ToolScope) -> Result<Preview, ToolsError> {
        let request = build(spec(skill)?, &Values::shown(skill, arguments))?;
        Ok(request_preview(&request, skill))
    }

    async fn run(&self, job: SkillCall<'_>, context: &Context) -> Result<ToolOutput, ToolsError> {
        let spec = spec(job.skill)?;
        let request = build(spec, &Values::of(job))?;
        let retries = if job.skill.effect == EffectClass::Read { spec.retries } else { 0 };
        let exchange = self.0.exchange(job.skill, context, &spec.allow, retries)?;
        let place = exchange::origin(&request.url);
        let placed = places_credential(spec.headers.values(), Some(&spec.variables));
        let answer = self.0.send(request, &job, placed, &exchange).await?;
        let body = exchange::body_json(&answer);
        // Errors come with status 200 or others; the list of errors says more than the status.
        if let Some(problems) = body.as_ref().and_then(error_text) {
            return Err(refused!("{place} refused the operation: {problems}"));
        }
        let answer = exchange::success(answer)?;
        let data = body.and_then(|mut body| body.get_mut("data").map(Value::take));
        let data = data.ok_or_else(|| refused!("{place} gave no GraphQL answer; check the address"))?;
        let value = match &spec.select {
            Some(path) => exchange::select_path(path, &data)?,
            None => data,
        };
        let object = format!("{} {place}", operation(&spec.query));
        Ok(exchange::output(job.skill, ("sent", object), &place, answer.status, value))
    }
}
