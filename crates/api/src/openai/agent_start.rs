//! Beginning a run under `/v1`. The same request again (with its `Idempotency-Key`, or as a retry of OpenAI's clients) joins
//! the run that it began, and goes on with it from its log where it was stopped since its client had left. Without either it
//! goes on with a run whose client has left before it was answered, or that its model failed in passing: most clients ask
//! again then, and don't say that they do.

use crate::gateway::Inbound;
use crate::guard::idempotency_key;
use crate::headers::text;
use crate::openai::OpenAiError;
use crate::tenant_app::TenantApp;
use axum::http::{HeaderMap, StatusCode};
use futures::FutureExt as _;
use serde_json::Value;
use std::time::Duration;
use steward_app::{AnswerRequest, Attached, AwaitedStart, Caller, EngineError, RunRequest, Starting};
use steward_core::RunId;
use steward_core::hash::sha256_of;
use steward_core::ports::{Remembered, StoreError};

/// OpenAI's clients count in it how often they have sent a request again.
const RETRIES: &str = "x-stainless-retry-count";
/// How often, and after which time each, it is looked whether another request with the same key has begun its run.
const LOOKS: u32 = 400;
const BETWEEN: Duration = Duration::from_millis(50);

/// What is asked of an agent.
pub(crate) struct AgentRequest {
    pub path: &'static str,
    /// What the id of the answer begins with; the run's follows.
    pub prefix: &'static str,
    pub run: RunRequest,
    /// What of the request the answer repeats.
    pub repeated: Value,
    /// Whether the run is kept after its end.
    pub stored: bool,
    /// Whether the run goes on when its client leaves.
    pub background: bool,
}

/// A run that a request waits for.
pub(crate) struct Begun {
    pub run: RunId,
    /// Whether an earlier request began it.
    pub joined: bool,
    pub attached: Attached,
}

/// Starts the run, or finds the one that the same request began. What is begun is begun whole, also for a client that leaves.
pub(crate) async fn begin(
    state: &TenantApp,
    caller: &Caller,
    inbound: &Inbound,
    request: AgentRequest,
) -> Result<Begun, OpenAiError> {
    let key = idempotency_key(&inbound.headers).map_err(invalid)?;
    let hash = sha256_of([request.path.as_bytes(), b"\n", &inbound.body]);
    let again = is_retry(&inbound.headers);
    let awaited = key.is_none().then(|| AwaitedStart::new(caller, &hash));
    let start = Start { state: state.clone(), caller: caller.clone(), hash, request, joins: key.is_none() };
    let begun = async move {
        match key {
            Some(key) => start.once(&key).await,
            None if again => start.again().await,
            None => start.new_or_repeated().await,
        }
    };
    // Boxed: each of the types that a task is made of would be proved to be `Send` through all of it.
    let begun = tokio::spawn(begun.boxed());
    let begun = begun.await;
    if let Some(awaited) = awaited {
        awaited.is_over();
    }
    match begun {
        Ok(begun) => begun,
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(_) => Err(crate::openai::stopping()),
    }
}

fn is_retry(headers: &HeaderMap) -> bool {
    text(headers, RETRIES).and_then(|count| count.trim().parse::<u32>().ok()).is_some_and(|count| count > 0)
}

struct Start {
    state: TenantApp,
    caller: Caller,
    hash: String,
    request: AgentRequest,
    /// Whether the same request may take its place without any sign.
    joins: bool,
}

impl Start {
    /// For a request with an `Idempotency-Key`.
    async fn once(self, key: &str) -> Result<Begun, OpenAiError> {
        let owner = self.caller.principal.user.to_string();
        for _ in 0..LOOKS {
            match self.state.begin_request(&owner, key, &self.hash).await? {
                Remembered::New => {
                    let state = self.state.clone();
                    return match self.new_run().await {
                        Ok(begun) => {
                            state.remember_request(&owner, key, (200, &begun.run.to_string()), None).await?;
                            Ok(begun)
                        }
                        Err(error) => {
                            state.forget_request(&owner, key).await?;
                            Err(error)
                        }
                    };
                }
                Remembered::Done { body, .. } => {
                    let run = body.parse().map_err(|_| other_request())?;
                    return self.join(run).await;
                }
                Remembered::Other => return Err(other_request()),
                Remembered::Begun => tokio::time::sleep(BETWEEN).await,
            }
        }
        Err(OpenAiError {
            status: StatusCode::CONFLICT,
            code: "idempotency_in_progress",
            headers: vec![("retry-after", "1".to_owned())],
            ..invalid("a request with this idempotency key is being started; ask again in a moment")
        })
    }

    /// For a request that its client says it has sent before.
    async fn again(self) -> Result<Begun, OpenAiError> {
        Starting::wait_for_others(&self.caller, &self.hash).await;
        let agent = self.request.run.agent.id;
        if let Some(attached) = self.state.attach_in_place_of_left(&self.caller, &self.hash, agent).await? {
            return self.join_as(attached).await;
        }
        match self.state.run_to_join(&self.caller, &self.hash).await? {
            Some(run) => self.join(run).await,
            // It was refused before it had begun.
            None => self.new_or_repeated().await,
        }
    }

    /// Most programs don't say that they ask again.
    async fn new_or_repeated(self) -> Result<Begun, OpenAiError> {
        Starting::wait_for_left(&self.caller, &self.hash).await;
        let agent = self.request.run.agent.id;
        match self.state.attach_to_repeated(&self.caller, &self.hash, agent).await? {
            Some(attached) => self.join_as(attached).await,
            None => self.new_run().await,
        }
    }

    async fn new_run(self) -> Result<Begun, OpenAiError> {
        let Self { state, caller, hash, request, joins } = self;
        let _starting = Starting::new(&caller, &hash);
        let run = state.start_run(&caller, request.run).await?;
        let mut attached = Attached::new(&state, &caller, run, joins.then_some(hash.as_str()));
        if request.background {
            attached.keep_running();
        }
        let noted = AnswerRequest { repeated: request.repeated, hash, stored: request.stored };
        state.note_answer(&caller, format!("{}{run}", request.prefix), (Some(run), None), &noted).await?;
        Ok(Begun { run, joined: false, attached })
    }

    async fn join(self, run: RunId) -> Result<Begun, OpenAiError> {
        let attached = Attached::new(&self.state, &self.caller, run, self.joins.then_some(self.hash.as_str()));
        self.join_as(attached).await
    }

    async fn join_as(self, mut attached: Attached) -> Result<Begun, OpenAiError> {
        let run = attached.run();
        if self.request.background {
            attached.keep_running();
        }
        match self.state.go_on_with_run(run).await {
            Ok(_) => Ok(Begun { run, joined: true, attached }),
            Err(EngineError::NotFound(_) | EngineError::Store(StoreError::NotFound(_))) => {
                attached.let_go();
                Err(invalid("the run of this request isn't kept any more; send the request again with a new key"))
            }
            Err(error) => Err(error.into()),
        }
    }
}

fn invalid(message: impl Into<String>) -> OpenAiError {
    OpenAiError::invalid(message, "Idempotency-Key")
}

fn other_request() -> OpenAiError {
    OpenAiError {
        code: "idempotency_mismatch",
        ..invalid("this idempotency key was used for another request; take a new key for each request")
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::is_retry;
    use axum::http::{HeaderMap, HeaderValue};

    #[test]
    fn only_a_count_above_zero_is_a_retry() {
        for (count, expect) in [("0", false), ("1", true), (" 2 ", true), ("", false), ("-1", false), ("many", false)] {
            let headers = HeaderMap::from_iter([(
                axum::http::HeaderName::from_static(super::RETRIES),
                HeaderValue::from_str(count).unwrap(),
            )]);
            assert_eq!(is_retry(&headers), expect, "{count:?}");
        }
        assert!(!is_retry(&HeaderMap::new()));
    }
}
