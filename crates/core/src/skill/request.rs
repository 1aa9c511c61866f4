use serde_json::Value;

/// `template` with each `{{name}}` or `{{name|default:text}}` replaced by that argument; `Err` tells the model what is
/// missing. Text is inserted as it is: its reader is a model, and the taint is passed on.
pub fn request_of(template: &str, arguments: &Value) -> Result<String, String> {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        text.push_str(before);
        let Some((name, after)) = after.split_once("}}") else {
            return Err(
                "the request template of this skill has `{{` without `}}`; an operator has to correct it".to_owned()
            );
        };
        text.push_str(&value_of(name, arguments)?);
        rest = after;
    }
    text.push_str(rest);
    let text = text.trim();
    if text.is_empty() {
        return Err("the request to the other agent is empty; say what is to be done".to_owned());
    }
    Ok(text.to_owned())
}

fn value_of(placeholder: &str, arguments: &Value) -> Result<String, String> {
    let (name, default) = match placeholder.split_once('|') {
        Some((name, rest)) => (name, rest.trim_start().strip_prefix("default:")),
        None => (placeholder, None),
    };
    let name = name.trim();
    match (arguments.get(name), default) {
        (None | Some(Value::Null), Some(default)) => Ok(default.trim().to_owned()),
        (None | Some(Value::Null), None) => Err(format!("the argument `{name}` is missing; give it")),
        (Some(Value::String(text)), _) => Ok(text.clone()),
        (Some(other), _) => Ok(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::request_of;
    use serde_json::json;

    #[test]
    fn arguments_fill_the_template() {
        let arguments = json!({"task": "count the herons {{x}}", "days": 3});
        for (template, expect) in [
            ("{{task}}", Ok("count the herons {{x}}")),
            ("In {{ days }} days: {{task}}", Ok("In 3 days: count the herons {{x}}")),
            ("{{place|default: the lake}}", Ok("the lake")),
            ("plain", Ok("plain")),
            ("{{place}}", Err("`place`")),
            ("{{task", Err("without")),
            ("  ", Err("empty")),
        ] {
            let got = request_of(template, &arguments);
            match (expect, &got) {
                (Ok(text), Ok(made)) => assert_eq!(text, made),
                (Err(part), Err(why)) => assert!(why.contains(part), "{why}"),
                _ => panic!("{template}: {got:?}"),
            }
        }
    }
}
