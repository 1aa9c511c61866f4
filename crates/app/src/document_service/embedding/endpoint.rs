//! Embedding models at endpoints, through the connections that are there: their keys, budgets and policies hold.

use super::{EmbeddingProblem, Purpose};
use crate::data_rules::read_data_rules;
use crate::document_service::call_meter::{CallMeter, MeteredCall};
use crate::document_service::classification::DocumentClassification;
use crate::gateway::UsageWriter;
use crate::heavy_work::work_apart;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use steward_core::governance::{Classification, DataAction};
use steward_core::locks::lock;
use steward_core::model::{Connection, ModelError, ModelErrorClass, Provider, Usage};
use steward_core::ports::{Clock, Gateway, Ids, ManagedConnections, Models, PersonalData, ReserveError};
use steward_core::{TenantId, Timestamp, UserId};
use steward_store::Store;
use uuid::Uuid;

/// Longest wait for the vectors of a batch of passages: a busy server without a graphics card takes its time.
const PASSAGES: Duration = Duration::from_mins(3);
/// Longest wait for that of a question, which somebody waits for.
const QUESTION: Duration = Duration::from_secs(8);
/// How long questions go without an endpoint that did not answer in time.
const PAUSE: Duration = Duration::from_secs(30);
/// Bytes of a text for each token.
const BYTES_A_TOKEN: u64 = 4;

pub struct EndpointParts {
    pub tenant: TenantId,
    pub connections: Arc<dyn ManagedConnections>,
    pub models: Arc<dyn Models>,
    pub gateway: Arc<dyn Gateway>,
    pub usage: Arc<UsageWriter>,
    pub store: Arc<Store>,
    pub personal_data: Arc<dyn PersonalData>,
    pub ids: Arc<dyn Ids>,
}

pub(crate) struct Endpoints {
    pub(in crate::document_service) parts: EndpointParts,
    clock: Arc<dyn Clock>,
    meter: CallMeter,
    /// Until when questions do without a connection, and why.
    paused: Mutex<HashMap<String, (Timestamp, EmbeddingProblem)>>,
}

impl Endpoints {
    pub fn new(parts: EndpointParts, clock: Arc<dyn Clock>) -> Self {
        let meter = CallMeter {
            tenant: parts.tenant,
            gateway: Arc::clone(&parts.gateway),
            usage: Arc::clone(&parts.usage),
            clock: Arc::clone(&clock),
            ids: Arc::clone(&parts.ids),
        };
        Self { parts, clock, meter, paused: Mutex::default() }
    }

    pub async fn named(&self, name: &str) -> Result<Connection, EmbeddingProblem> {
        self.parts.connections.named(name).await.ok_or_else(|| {
            EmbeddingProblem::lasting(
                format!("there is no connection `{name}` for embeddings"),
                "Make one of this name on the page Connections, or choose another embedding model for the collection.",
            )
        })
    }

    /// Ollama, if there is one, else the connection that is used by default.
    pub async fn first(&self) -> Result<Connection, EmbeddingProblem> {
        let known = self.parts.connections.list().await;
        if let Some(ollama) = known.into_iter().find(|one| one.connection.provider == Provider::Ollama) {
            return Ok(ollama.connection);
        }
        let usual = self.parts.models.select(None).await.map_err(|error| problem(&error))?;
        if usual.provider == Provider::Local {
            return Err(EmbeddingProblem::lasting(
                "there is no connection that makes embeddings",
                "Add one on the page Connections, start Ollama, or use the built-in embedding model.",
            ));
        }
        Ok(usual)
    }

    pub async fn embed(
        &self,
        model: &str,
        connection: &str,
        texts: &[String],
        purpose: Purpose,
    ) -> Result<Vec<Vec<f32>>, EmbeddingProblem> {
        let known = self.named(connection).await?;
        let connection = Connection { model: model.to_owned(), price: None, ..known };
        self.check_data(&connection, texts, purpose).await?;
        if purpose.is_question()
            && let Some(why) = self.pause_of(&connection.name)
        {
            return Err(why);
        }
        let limit = if purpose.is_question() { QUESTION } else { PASSAGES };
        let bytes = texts.iter().map(|text| text.len() as u64).sum();
        let mut call = self.reserve(&connection, purpose.user(), bytes, 0, limit).await?;
        let deadline_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        let made = self.parts.gateway.embed(&connection, texts, deadline_ms).await;
        call.settle(None, made.is_err());
        let made = made.map_err(|error| {
            let why = problem(&error);
            if error.class == ModelErrorClass::Timeout {
                let until = self.clock.now().plus(PAUSE);
                lock(&self.paused).insert(connection.name.clone(), (until, why.clone()));
            }
            why
        })?;
        lock(&self.paused).remove(&connection.name);
        of_length_one(made, texts.len(), &connection)
    }

    fn pause_of(&self, connection: &str) -> Option<EmbeddingProblem> {
        let now = self.clock.now();
        lock(&self.paused).get(connection).filter(|(until, _)| now < *until).map(|(_, why)| why.clone())
    }

    /// What is confidential leaves the house by no endpoint, and what a policy keeps in it neither.
    pub async fn check_data(
        &self,
        connection: &Connection,
        texts: &[String],
        purpose: Purpose,
    ) -> Result<(), EmbeddingProblem> {
        let in_house = connection.is_in_house();
        let DocumentClassification { said, labelled } = match purpose {
            Purpose::Passages(classification, _) => classification,
            Purpose::Question(_) => DocumentClassification::default(),
        };
        if let Some(classification) = said.filter(|one| !in_house && *one >= Classification::Confidential) {
            return Err(kept(connection, classification, "its classification"));
        }
        let rules = read_data_rules(&self.parts.store, self.parts.tenant).await.map_err(|error| EmbeddingProblem {
            passing: true,
            ..EmbeddingProblem::lasting(error.to_string(), "See the log.")
        })?;
        if rules.policies.is_empty() {
            return Ok(());
        }
        let (rules, detector) = (Arc::new(rules), Arc::clone(&self.parts.personal_data));
        let (bytes, texts, of) = (texts.iter().map(String::len).sum(), texts.to_vec(), Arc::clone(&rules));
        let look_through = move || {
            let classify = |text: &String| {
                let personal = if of.looks_for_personal_data() { detector.kinds_in(text) } else { Vec::new() };
                of.classify_text(text, &personal).map(|seen| seen.classification)
            };
            texts.iter().filter_map(classify).max()
        };
        let seen = work_apart((self.parts.tenant, UserId(Uuid::nil())), bytes, look_through).await;
        let seen = seen.map_err(|error| EmbeddingProblem {
            passing: true,
            ..EmbeddingProblem::lasting(error.to_string(), "It is tried again.")
        })?;
        let Some(highest) = seen.into_iter().chain(said).chain(labelled).max() else {
            return Ok(());
        };
        let policy = rules.demanding(DataAction::Block, highest).or_else(|| rules.keeps_whole_from(in_house, highest));
        match policy {
            Some(policy) => Err(kept(connection, highest, &format!("the policy “{}”", policy.name))),
            None => Ok(()),
        }
    }

    /// Sets aside what a call may take. `answer`: most tokens of what comes back. `user`: for whom it is made.
    pub async fn reserve(
        &self,
        connection: &Connection,
        user: Option<UserId>,
        bytes: u64,
        answer: u64,
        limit: Duration,
    ) -> Result<MeteredCall, EmbeddingProblem> {
        let most =
            Usage { prompt_tokens: bytes.div_ceil(BYTES_A_TOKEN), completion_tokens: answer, ..Usage::default() };
        match self.meter.reserve(connection, &[], user, most, limit).await {
            Ok((call, _)) => Ok(call),
            Err(error @ ReserveError::Exceeded(..)) => Err(EmbeddingProblem::lasting(
                format!("`{}` was not asked: {error}", connection.name),
                "Raise the limit under Budgets, then have what lacks vectors embedded (embed-pending).",
            )),
            Err(ReserveError::Store(error)) => {
                Err(EmbeddingProblem { passing: true, ..EmbeddingProblem::lasting(error.to_string(), "See the log.") })
            }
        }
    }
}

fn problem(error: &ModelError) -> EmbeddingProblem {
    let said = error.detail.as_ref().map(|detail| format!(": {detail}")).unwrap_or_default();
    EmbeddingProblem {
        message: format!("{}{said}", error.message),
        hint: error.hint.clone(),
        passing: error.class.is_transient(),
        wait: error.retry_after_ms.map(Duration::from_millis),
    }
}

fn kept(connection: &Connection, classification: Classification, by: &str) -> EmbeddingProblem {
    EmbeddingProblem::lasting(
        format!("{by} keeps {} text from the connection `{}`", classification.as_str(), connection.name),
        "Choose an embedding model in the house for the collection, such as the built-in one.",
    )
}

fn of_length_one(
    vectors: Vec<Vec<f32>>,
    texts: usize,
    connection: &Connection,
) -> Result<Vec<Vec<f32>>, EmbeddingProblem> {
    let wrong = |what: &str| {
        EmbeddingProblem::lasting(
            format!("connection `{}`: {what}", connection.name),
            format!("Check that `{}` is an embedding model there.", connection.model),
        )
    };
    if vectors.len() != texts {
        return Err(wrong(&format!("it made {} vectors of {texts} texts", vectors.len())));
    }
    let dimension = vectors.first().map_or(0, Vec::len);
    if vectors.iter().any(|one| one.len() != dimension) {
        return Err(wrong("its vectors have different numbers of dimensions"));
    }
    let scaled = vectors.into_iter().map(|vector| {
        let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
        let scaled: Vec<f32> = vector.iter().map(|number| number / length).collect();
        (length > 0.0 && scaled.iter().all(|number| number.is_finite())).then_some(scaled)
    });
    scaled.collect::<Option<_>>().ok_or_else(|| wrong("a vector that it made is no direction"))
}

#[cfg(test)]
mod tests {
    use super::{of_length_one, problem};
    use std::time::Duration;
    use steward_core::model::{Connection, ModelError, ModelErrorClass, Provider};

    fn connection() -> Connection {
        Connection::new(steward_core::ConnectionId(uuid::Uuid::nil()), "e", Provider::Compatible, "http://x/v1", "m")
    }

    #[test]
    fn vectors_are_directions_or_nothing() {
        let of = |vectors: &[&[f32]], texts| {
            of_length_one(vectors.iter().map(|one| one.to_vec()).collect(), texts, &connection())
        };
        assert_eq!(of(&[&[3.0, 4.0]], 1), Ok(vec![vec![0.6, 0.8]]));
        for (vectors, texts) in [
            (&[&[1.0_f32][..]][..], 2),
            (&[&[1.0, 0.0], &[1.0]], 2),
            (&[&[0.0, 0.0]], 1),
            (&[&[f32::INFINITY, 0.0]], 1),
            (&[&[]], 1),
        ] {
            let wrong = of(vectors, texts).unwrap_err();
            assert!(!wrong.passing && wrong.message.contains("`e`"), "{wrong:?}");
        }
    }

    #[test]
    fn the_words_of_a_server_are_passed_on() {
        let mut error = ModelError::new(ModelErrorClass::RateLimit, "it is busy", "wait");
        error.detail = Some("quota".to_owned());
        error.retry_after_ms = Some(7000);
        let found = problem(&error);
        assert_eq!((found.message.as_str(), found.passing), ("it is busy: quota", true));
        assert_eq!(found.wait, Some(Duration::from_secs(7)));
        assert!(!problem(&ModelError::new(ModelErrorClass::BadRequest, "no", "x")).passing);
    }
}
