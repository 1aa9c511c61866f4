use super::auth::AuthorizedClient;
use super::{exchange, request, request_preview};
use crate::error::ToolsError;
use crate::handler::Context;
use crate::outbound::{Client, HttpRequest, HttpResponse};
use crate::skills::executor::{in_config, spec_of};
use crate::skills::template::{self, TemplateUse, Values, check_json, check_text, check_url};
use crate::skills::{Executor, SkillCall};
use async_trait::async_trait;
use reqwest::StatusCode;
use serde_json::{Value, json};
use std::time::Duration;
use steward_core::ports::ToolScope;
use steward_core::skill::{HuggingfaceSpec, Skill, SkillKind};
use steward_core::tool::{Preview, ToolOutput};

/// Seconds to wait for a model that is loading, if the server doesn't say.
const DEFAULT_LOADING_WAIT: f64 = 5.0;
/// Longest wait between two tries, seconds.
const MAX_LOADING_WAIT: f64 = 30.0;

pub struct HuggingfaceExecutor(AuthorizedClient);

impl HuggingfaceExecutor {
    /// A skill may allow further hosts beside those of `client`.
    pub fn new(client: Client) -> Self {
        Self(AuthorizedClient::new(client))
    }
}

fn loading_wait(answer: &HttpResponse) -> Option<Duration> {
    let body = exchange::body_json(answer)?;
    let estimated = body["estimated_time"].as_f64();
    let says = body["error"].as_str().is_some_and(|text| text.contains("loading"));
    if answer.status != StatusCode::SERVICE_UNAVAILABLE || !(says || estimated.is_some()) {
        return None;
    }
    let wait = estimated.filter(|wait| wait.is_finite()).unwrap_or(DEFAULT_LOADING_WAIT);
    Some(Duration::from_secs_f64(wait.clamp(0.05, MAX_LOADING_WAIT)))
}

spec_of!(Huggingface, HuggingfaceSpec, "huggingface");

fn address(spec: &HuggingfaceSpec) -> String {
    format!("{}/{}", spec.url.trim_end_matches('/'), spec.model)
}

fn build(spec: &HuggingfaceSpec, values: &Values<'_>) -> Result<HttpRequest, ToolsError> {
    let url = template::url(&address(spec), values)?;
    let inputs = Value::String(spec.inputs.clone());
    let mut body = json!({"inputs": template::json(&inputs, values)?});
    if body["inputs"].is_null() {
        return Err(ToolsError::refused("there is no input; give the model one"));
    }
    let parameters = template::json(&spec.parameters, values)?;
    if !parameters.is_null() {
        body["parameters"] = parameters;
    }
    Ok(request::post_json(url, "application/json", &body))
}

#[async_trait]
impl Executor for HuggingfaceExecutor {
    fn kind(&self) -> SkillKind {
        SkillKind::Huggingface
    }

    fn check(&self, skill: &Skill) -> Result<(), String> {
        let spec = spec(skill).map_err(|error| error.to_string())?;
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let proper = |part: &str| !part.is_empty() && !part.contains("..") && part.chars().all(plain);
        if spec.model.split('/').count() > 2 || !spec.model.split('/').all(proper) {
            return Err(format!(
                "config.model: `{}` is no name of a model; write it as facebook/bart-large-mnli",
                spec.model
            ));
        }
        if spec.url.contains("{{") {
            return Err("config.url: the endpoint is fixed text".to_owned());
        }
        check_url(&address(spec), &skill.parameters).map_err(in_config("url"))?;
        check_text(&spec.inputs, TemplateUse::Text, &skill.parameters).map_err(in_config("inputs"))?;
        check_json(&spec.parameters, TemplateUse::Text, &skill.parameters).map_err(in_config("parameters"))?;
        request::check_allow(&spec.allow)
    }

    async fn preview(&self, skill: &Skill, arguments: &Value, _: &ToolScope) -> Result<Preview, ToolsError> {
        let request = build(spec(skill)?, &Values::shown(skill, arguments))?;
        Ok(request_preview(&request, skill))
    }

    async fn run(&self, job: SkillCall<'_>, context: &Context) -> Result<ToolOutput, ToolsError> {
        let spec = spec(job.skill)?;
        let request = build(spec, &Values::of(job))?;
        let exchange = self.0.exchange(job.skill, context, &spec.allow, 0)?;
        let place = exchange::origin(&request.url);
        let answer = loop {
            let answer = self.0.send(request.clone(), &job, false, &exchange).await?;
            // While the model loads nothing has been done, so asking again is safe.
            match loading_wait(&answer) {
                Some(wait) if wait < context.left() => exchange.pause(wait).await?,
                _ => break answer,
            }
        };
        let answer = exchange::success(answer)?;
        let value = exchange::body_value(&answer);
        Ok(exchange::output(job.skill, ("asked", spec.model.clone()), &place, answer.status, value))
    }
}
