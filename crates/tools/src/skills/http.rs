//! Skills over HTTP, under the address guard: here the type http, in the modules GraphQL and inference endpoints.

mod auth;
mod exchange;
mod graphql;
mod huggingface;
mod request;

pub(super) use auth::AuthorizedClient;
pub(super) use exchange::{Exchange, origin};
pub use graphql::GraphqlExecutor;
pub use huggingface::HuggingfaceExecutor;
pub(super) use request::check_allow;
pub(crate) use request::parse_allow_list;

use super::template::Values;
use super::{Executor, SkillCall};
use crate::error::ToolsError;
use crate::handler::Context;
use crate::outbound::{Client, HttpRequest};
use crate::skills::executor::{in_config, spec_of};
use async_trait::async_trait;
use auth::places_credential;
use reqwest::{Method, StatusCode};
use serde_json::Value;
use std::fmt::Write as _;
use steward_core::ports::ToolScope;
use steward_core::skill::{HttpSpec, Skill, SkillKind};
use steward_core::tool::{EffectClass, Preview, ToolOutput};

pub struct HttpExecutor(AuthorizedClient);

impl HttpExecutor {
    /// A skill may allow further hosts beside those of `client`.
    pub fn new(client: Client) -> Self {
        Self(AuthorizedClient::new(client))
    }
}

spec_of!(Http, HttpSpec, "http");

#[async_trait]
impl Executor for HttpExecutor {
    fn kind(&self) -> SkillKind {
        SkillKind::Http
    }

    fn check(&self, skill: &Skill) -> Result<(), String> {
        let spec = spec(skill).map_err(|error| error.to_string())?;
        request::check(spec, &skill.parameters)?;
        let changes = !matches!(request::method(&spec.method)?, Method::GET | Method::HEAD | Method::OPTIONS);
        if let Some(path) = &spec.select {
            exchange::check_path(path).map_err(in_config("select"))?;
        }
        if let Some(further) = &spec.pages {
            request::check_paging(further)?;
            if changes && skill.effect != EffectClass::Read {
                return Err("config.pages: only what reads has further pages".to_owned());
            }
        }
        match (&spec.idempotency_header, skill.effect) {
            (None, EffectClass::Keyed) => {
                Err("config.idempotency_header: an effect that is keyed needs the header that carries the key"
                    .to_owned())
            }
            (Some(name), _) => request::header_name(name).map(|_| ()),
            (None, _) => Ok(()),
        }
    }

    async fn preview(&self, skill: &Skill, arguments: &Value, _: &ToolScope) -> Result<Preview, ToolsError> {
        let request = request::build(spec(skill)?, &Values::shown(skill, arguments))?;
        Ok(request_preview(&request, skill))
    }

    async fn run(&self, job: SkillCall<'_>, context: &Context) -> Result<ToolOutput, ToolsError> {
        let spec = spec(job.skill)?;
        let mut request = request::build(spec, &Values::of(job))?;
        if let Some(name) = &spec.idempotency_header {
            let name = request::header_name(name).map_err(ToolsError::Refused)?;
            let key = context.idempotency_key.parse();
            request.headers.insert(name, key.map_err(|_| ToolsError::refused("the call's key can't be a header"))?);
        }
        let exchange = self.0.exchange(job.skill, context, &spec.allow, spec.retries)?;
        let placed = places_credential(spec.headers.values().chain(spec.form.values()), spec.body.as_ref());
        if let Some(further) = &spec.pages {
            request::first_page(further, &mut request);
        }
        let (method, url) = (request.method.clone(), request.url.clone());
        let mut kept = Vec::new();
        let mut next = Some(request);
        let (mut status, mut cut) = (StatusCode::OK, false);
        while let Some(request) = next.take() {
            let answer = exchange::success(self.0.send(request.clone(), &job, placed, &exchange).await?)?;
            (status, cut) = (answer.status, answer.cut);
            let body = exchange::body_value(&answer);
            if let Some(further) = &spec.pages {
                let index = u16::try_from(kept.len()).unwrap_or(u16::MAX);
                let url = request::next_page(further, &request.url, &answer, &body, index)?;
                next = url.map(|url| HttpRequest { url, ..request });
            }
            kept.push(match &spec.select {
                Some(path) if !body.is_string() => exchange::select_path(path, &body)?,
                Some(_) => {
                    return Err(ToolsError::refused("the answer is no JSON, so nothing can be selected from it"));
                }
                None => body,
            });
        }
        let value = join_pages(kept);
        let place = exchange::origin(&url);
        let mut output = exchange::output(job.skill, ("sent", format!("{method} {place}")), &place, status, value);
        if cut {
            output.content.push_str("\n[the answer is larger than 2 MB; the rest was not read]");
        }
        Ok(output)
    }
}

/// Pages as one value: lists are joined, anything else becomes a list.
fn join_pages(mut pages: Vec<Value>) -> Value {
    if pages.len() == 1 {
        return pages.remove(0);
    }
    if pages.iter().all(Value::is_array) {
        let lists = pages.iter_mut().filter_map(Value::as_array_mut);
        return Value::Array(lists.flat_map(std::mem::take).collect());
    }
    Value::Array(pages)
}

pub(super) fn request_preview(request: &HttpRequest, skill: &Skill) -> Preview {
    let mut detail = format!("{} {}", request.method, request.url);
    for (name, value) in &request.headers {
        let _ = write!(detail, "\n{name}: {}", String::from_utf8_lossy(value.as_bytes()));
    }
    if skill.credential.is_some() {
        detail.push_str("\n(with the credential that the vault finds for it)");
    }
    if !request.body.is_empty() {
        let _ = match serde_json::from_slice::<Value>(&request.body) {
            Ok(body) => write!(detail, "\n\n{body:#}"),
            Err(_) => write!(detail, "\n\n{}", String::from_utf8_lossy(&request.body)),
        };
    }
    let reversible = skill.effect == EffectClass::Read;
    let verb = if reversible { "asks by" } else { "sends" };
    let summary = format!("{verb} {} {}", request.method, exchange::origin(&request.url));
    Preview { summary, detail: Some(detail), count: None, reversible }
}
