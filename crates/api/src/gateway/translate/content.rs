//! What messages hold: texts and pictures, in the words of either interface.

use crate::openai::OpenAiError;
use serde_json::Value;
use steward_core::message::{Picture, PictureSource};

/// The text of a message and the pictures within it; `param` is where it stands.
pub(super) fn content(content: &Value, param: &'static str) -> Result<(String, Vec<Picture>), OpenAiError> {
    let parts = match content {
        Value::Null => return Ok((String::new(), Vec::new())),
        Value::String(text) => return Ok((text.clone(), Vec::new())),
        Value::Array(parts) => parts,
        _ => return Err(OpenAiError::invalid("content must be text or a list of parts", param)),
    };
    let (mut text, mut pictures) = (String::new(), Vec::new());
    for part in parts {
        let kind = part["type"].as_str().unwrap_or("unknown");
        let said = match kind {
            "text" | "input_text" | "output_text" => part["text"].as_str(),
            "refusal" => part["refusal"].as_str(),
            "image_url" | "input_image" => {
                let source = picture(&part["image_url"], param)?;
                pictures.push(Picture { at: text.len(), source });
                continue;
            }
            _ => None,
        };
        let Some(said) = said else {
            return Err(OpenAiError::invalid(
                format!("content of type `{kind}` can't be translated for this connection; send text or pictures"),
                param,
            ));
        };
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(said);
    }
    Ok((text, pictures))
}

/// A picture by its address, or itself as a data URL. Whoever answers gets it: nothing is fetched here.
fn picture(url: &Value, param: &'static str) -> Result<PictureSource, OpenAiError> {
    let invalid = |text: &str| Err(OpenAiError::invalid(text, param));
    let Some(url) = url.as_str().or_else(|| url["url"].as_str()) else {
        return invalid("a picture needs its `image_url`; files of a provider (`file_id`) can't be translated");
    };
    let scheme = url.split(':').next().unwrap_or_default();
    if scheme.eq_ignore_ascii_case("https") {
        return Ok(PictureSource::Url(url.to_owned()));
    }
    let data = url.get(5..).filter(|_| scheme.eq_ignore_ascii_case("data")).and_then(|data| data.split_once(','));
    match data {
        Some((kind, base64)) => match kind.split_once(';') {
            Some((media_type, "base64")) if media_type.starts_with("image/") && !base64.is_empty() => {
                Ok(PictureSource::Data { media_type: media_type.to_owned(), base64: base64.into() })
            }
            _ => invalid("a picture's data URL must begin with `data:image/…;base64,`"),
        },
        None => invalid("a picture's `image_url` must begin with `https://`, or be a data URL in Base64"),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::content;
    use serde_json::json;
    use steward_core::message::{Picture, PictureSource};

    #[test]
    fn texts_and_pictures_keep_their_order() {
        let given = json!([
            {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}},
            {"type": "text", "text": "left"},
            {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
            {"type": "input_text", "text": "right"},
        ]);
        let (text, pictures) = content(&given, "messages").unwrap();
        assert_eq!(text, "left\nright");
        let url = PictureSource::Url("https://example.org/a.png".to_owned());
        let data = PictureSource::Data { media_type: "image/png".to_owned(), base64: "AAAA".into() };
        assert_eq!(pictures, [Picture { at: 0, source: url }, Picture { at: 4, source: data }]);
        assert_eq!(content(&json!(null), "messages").unwrap().0, "");
    }

    #[test]
    fn what_is_no_text_and_no_picture_is_named() {
        let cases = [
            (json!([{"type": "input_audio", "input_audio": {}}]), "`input_audio`"),
            (json!([{"type": "input_image", "file_id": "f"}]), "`file_id`"),
            (json!([{"type": "image_url", "image_url": {"url": "http://10.0.0.1/a.png"}}]), "https://"),
            (json!([{"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}]), "https://"),
            (json!([{"type": "image_url", "image_url": {"url": "data:text/html;base64,AAAA"}}]), "data:image/"),
            (json!([{"type": "image_url", "image_url": {"url": "data:image/png,AAAA"}}]), "data:image/"),
            (json!({"type": "text"}), "list of parts"),
        ];
        for (given, part) in cases {
            let error = content(&given, "messages").unwrap_err();
            assert!(error.status == 400 && error.message.contains(part), "{given}: {}", error.message);
        }
    }
}
