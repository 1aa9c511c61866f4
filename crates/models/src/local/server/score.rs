use hyper::Response;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::body::ReplyBody;
use super::reply;
use super::request::{self, ScoreRequest};
use super::routes::App;
use crate::local::infer::{Job, Refusal, ScoreJob};

/// `POST /v1/score`: how likely each candidate is as the continuation of the prompt.
pub(super) async fn score(app: &App, body: &[u8]) -> Result<Response<ReplyBody>, Refusal> {
    let request: ScoreRequest = request::parse(body)?;
    app.check_model(request.model.as_deref())?;
    request.check()?;
    let (sender, receiver) = oneshot::channel();
    let prompt = request.prompt()?;
    let job = ScoreJob { prompt, candidates: request.candidates, end_of_turn: request.end_of_turn, reply: sender };
    let _busy = app.activity.begin();
    app.submit(Job::Score(Box::new(job)))?;
    let result = receiver.await.map_err(|_| app.ended())??;
    let scores: Vec<Value> = result
        .scores
        .iter()
        .map(|s| {
            #[expect(clippy::cast_precision_loss, reason = "a few hundred tokens at most")]
            let mean = s.logprob_sum / s.tokens.max(1) as f64;
            json!({
                "candidate": s.candidate,
                "logprob_sum": s.logprob_sum,
                "tokens": s.tokens,
                "logprob_mean": mean,
            })
        })
        .collect();
    Ok(reply::json(
        200,
        &json!({
            "object": "scores",
            "model": app.alias,
            "scores": scores,
            "usage": reply::usage(&result.usage),
            "timings": reply::timings(&result.usage),
        }),
    ))
}
