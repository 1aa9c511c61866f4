use serde_json::Value;

/// Names in a list of models, in any of the providers' shapes: `data[].id` of the dialect and of
/// Anthropic, `models[].name` of Gemini, Cohere and Ollama, `modelSummaries[].modelId` of Bedrock.
pub(crate) fn names(value: &Value) -> Vec<String> {
    let places = ["data", "models", "modelSummaries"];
    let list = places.iter().find_map(|field| value.get(field)).unwrap_or(value);
    let models = list.as_array().into_iter().flatten();
    models
        .filter_map(|model| {
            let fields = ["id", "modelId", "name", "model"];
            let name = fields.iter().find_map(|field| model.get(field)?.as_str())?;
            let able = model.get("supportedGenerationMethods").and_then(Value::as_array);
            // Gemini lists models that do not chat among the others.
            let chats = able.is_none_or(|list| list.iter().any(|m| m == "generateContent"));
            chats.then(|| name.strip_prefix("models/").unwrap_or(name).to_owned())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::names;
    use serde_json::json;

    #[test]
    fn every_shape() {
        let check = |value, expect: &[&str]| assert_eq!(names(&value), expect, "{value}");
        check(json!({"data": [{"id": "a"}, {"id": "b"}]}), &["a", "b"]);
        check(json!([{"id": "a"}]), &["a"]);
        check(
            json!({"models": [
                {"name": "models/gemini-2.5-flash", "supportedGenerationMethods": ["generateContent"]},
                {"name": "models/embedding-001", "supportedGenerationMethods": ["embedContent"]},
            ]}),
            &["gemini-2.5-flash"],
        );
        check(json!({"models": [{"name": "qwen3:8b", "model": "qwen3:8b"}]}), &["qwen3:8b"]);
        check(json!({"modelSummaries": [{"modelId": "x.y-v1:0", "modelName": "Y"}]}), &["x.y-v1:0"]);
        check(json!({"hello": 1}), &[]);
    }
}
