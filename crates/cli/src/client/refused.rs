use serde::Deserialize;
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Refused {
    pub title: String,
    #[serde(default)]
    pub hint: String,
    #[serde(default)]
    pub status: u16,
    #[serde(default)]
    pub code: Option<String>,
}

impl Refused {
    pub fn read(status: u16, body: &str) -> Self {
        let mut refused = serde_json::from_str(body).unwrap_or_else(|_| Self {
            title: format!("the server answered {status}"),
            hint: body.chars().take(200).collect(),
            status,
            code: None,
        });
        refused.status = status;
        refused
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.title)?;
        if self.hint.is_empty() { Ok(()) } else { write!(f, " ({})", self.hint) }
    }
}

impl std::error::Error for Refused {}

#[cfg(test)]
mod tests {
    use super::Refused;

    #[test]
    fn says_what_the_server_said() {
        let body =
            r#"{"type": "about:blank", "title": "no such run", "status": 404, "hint": "list them", "code": "x"}"#;
        let refused = Refused::read(404, body);
        assert_eq!(refused.to_string(), "no such run (list them)");
        assert_eq!(refused.code.as_deref(), Some("x"));
        let other = Refused::read(502, "<html>");
        assert_eq!(other.to_string(), "the server answered 502 (<html>)");
    }
}
