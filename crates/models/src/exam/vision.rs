//! Whether it sees: a picture of one colour.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use steward_core::model::{ModelErrorClass, Provider};

use super::constrained::{content, raw};
use super::desk::{Desk, Silence};
use super::examine::Mark;
use super::findings::{Findings, Score};
use super::png;
use super::questions::BOOK;
use crate::openai::{Outgoing, json_bytes};

const RED: [u8; 3] = [222, 12, 20];

pub(super) async fn check(desk: &Desk<'_>, found: &mut Findings) -> Mark {
    let picture = STANDARD.encode(png::square(64, RED));
    let limit = match desk.connection.provider {
        Provider::OpenAi | Provider::AzureOpenAi => "max_completion_tokens",
        _ => "max_tokens",
    };
    let mut body = json!({
        "model": desk.connection.model,
        "messages": [{"role": "user", "content": [
            {"type": "text", "text": BOOK.vision.ask},
            {"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{picture}")}},
        ]}],
        "stream": false,
    });
    body[limit] = json!(desk.longest(30));
    let sent = Outgoing::post("chat/completions", json_bytes(&body));
    let answer = match raw(desk, &sent).await {
        Ok(answer) => content(&answer),
        Err(Silence::Failed(error)) if error.class == ModelErrorClass::BadRequest => {
            found.vision = Some(false);
            return Err(Silence::Failed(error));
        }
        Err(silence) => return Err(silence),
    };
    let sees = BOOK.vision.rule.is_met(&answer);
    found.vision = Some(sees);
    let detail = if sees {
        "it names the colour of a picture".to_owned()
    } else {
        format!("asked for the colour of a red picture it wrote: {answer}")
    };
    Ok((Score::new(u32::from(sees), 1), detail))
}
