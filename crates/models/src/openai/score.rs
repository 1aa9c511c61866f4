use serde_json::Value;
use steward_core::model::ModelError;
use steward_core::ports::Scored;

use super::describe::Origin;

/// Reads an answer of `/v1/score`.
pub(super) fn read(origin: &Origin, value: &Value) -> Result<Vec<Scored>, ModelError> {
    let list = value.get("scores").and_then(Value::as_array);
    let scores: Option<Vec<Scored>> = list.and_then(|list| list.iter().map(one).collect());
    scores.ok_or_else(|| {
        let error = origin.not_an_answer("something that holds no scores");
        origin.with_detail(error, &value.to_string())
    })
}

fn one(value: &Value) -> Option<Scored> {
    #[expect(clippy::cast_possible_truncation, reason = "six digits of a logarithm are enough")]
    let logprob = value.get("logprob_sum")?.as_f64()? as f32;
    Some(Scored {
        candidate: value.get("candidate")?.as_str()?.to_owned(),
        logprob,
        tokens: u32::try_from(value.get("tokens")?.as_u64()?).ok()?,
    })
}
