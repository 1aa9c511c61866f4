//! Which environment variables may hold keys: whoever makes connections also chooses where a key is sent.

/// Names that providers and their tools use.
const USUAL: [&str; 3] = ["*_API_KEY", "*_TOKEN", "AWS_BEARER_TOKEN_*"];
/// Variables of this program are never allowed.
const OWN: &str = "STEWARD_";
/// The setting that allows more names.
const KEY_VARIABLES_SETTING: &str = "STEWARD_KEY_VARIABLES";

/// Names and patterns with one `*`.
#[derive(Debug, Clone, Default)]
pub struct KeyVariables {
    more: Vec<String>,
    /// Whether there are none at all.
    closed: bool,
}

impl KeyVariables {
    /// `text` is the setting: names or patterns, separated by commas. The error says how to write it.
    pub fn read(text: Option<&str>) -> Result<Self, String> {
        let names = text.unwrap_or_default().split(',').map(str::trim);
        let names: Vec<String> = names.filter(|name| !name.is_empty()).map(str::to_owned).collect();
        for name in &names {
            let plain = name.replacen('*', "", 1);
            if plain.is_empty() || !plain.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
                return Err(format!(
                    "{KEY_VARIABLES_SETTING} names `{name}`; write names of variables or patterns such as OFFICE_*, separated by commas"
                ));
            }
        }
        Ok(Self { more: names, closed: false })
    }

    /// None: keys of the installation are not for its other tenants.
    pub fn none() -> Self {
        Self { more: Vec::new(), closed: true }
    }

    pub fn check(&self, name: &str) -> Result<(), String> {
        if self.closed {
            return Err("environment variables are the installation's; keep the key with the connection".to_owned());
        }
        // Case is ignored, so that nobody gets around this by another spelling.
        if name.to_uppercase().starts_with(OWN) {
            return Err(format!("the environment variable {name} is one of Steward's own and is never sent anywhere"));
        }
        let mut all = USUAL.into_iter().chain(self.more.iter().map(String::as_str));
        if all.any(|pattern| fits(name, pattern)) {
            return Ok(());
        }
        Err(format!(
            "the environment variable {name} is not one for keys; those are {}, and more can be named in {KEY_VARIABLES_SETTING}",
            USUAL.join(", ")
        ))
    }
}

fn fits(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => name == pattern,
        Some((begin, end)) => name.len() > begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::KeyVariables;

    #[test]
    fn only_variables_for_keys() {
        let usual = KeyVariables::read(None).unwrap();
        let more = KeyVariables::read(Some("OFFICE_*, THE_KEY,STEWARD_*")).unwrap();
        for name in ["OPENAI_API_KEY", "HF_TOKEN", "AWS_BEARER_TOKEN_BEDROCK"] {
            assert_eq!(usual.check(name), Ok(()), "{name}");
        }
        for name in ["OFFICE_LLM", "THE_KEY"] {
            assert!(usual.check(name).unwrap_err().contains("STEWARD_KEY_VARIABLES"));
            assert_eq!(more.check(name), Ok(()), "{name}");
        }
        for name in ["STEWARD_ADMIN_PASSWORD", "STEWARD_SEARCH_API_KEY", "Steward_X_TOKEN"] {
            assert!(more.check(name).unwrap_err().contains("own"), "{name}");
        }
        for name in ["HOME", "PGPASSWORD", "AWS_SECRET_ACCESS_KEY", "_TOKEN", ""] {
            assert!(usual.check(name).is_err(), "{name}");
        }
        for bad in ["*", "A B", "A-*", "A*B*"] {
            assert!(KeyVariables::read(Some(bad)).is_err(), "{bad}");
        }
    }
}
