//! Settings of web search and mail.

use anyhow::{Context as _, anyhow, bail};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use steward_tools::mail::MailConfig;
use steward_tools::search::{SearchConfig, SearchKey};

/// File of the mail accounts, in the data directory.
pub(crate) const MAIL: &str = "mail.toml";

#[derive(Debug, Clone, Default)]
pub struct SearchAndMailConfig {
    /// `None` if no search engine was chosen.
    pub search: Option<SearchConfig>,
    pub mail: MailConfig,
}

impl SearchAndMailConfig {
    /// From `STEWARD_SEARCH`, `STEWARD_SEARCH_URL`, `STEWARD_SEARCH_CREDENTIAL` or `STEWARD_SEARCH_KEY`, and from the
    /// file that `STEWARD_MAIL` names, else `mail.toml` in the data directory.
    pub fn read(variable: &dyn Fn(&str) -> Option<String>, data_dir: &Path) -> anyhow::Result<Self> {
        Ok(Self { search: search(variable)?, mail: mail(variable("STEWARD_MAIL").as_deref(), data_dir)? })
    }
}

fn search(variable: &dyn Fn(&str) -> Option<String>) -> anyhow::Result<Option<SearchConfig>> {
    let Some(engine) = variable("STEWARD_SEARCH") else {
        for name in ["STEWARD_SEARCH_URL", "STEWARD_SEARCH_KEY", "STEWARD_SEARCH_CREDENTIAL"] {
            if variable(name).is_some() {
                bail!("{name} is set without STEWARD_SEARCH; set that to searxng, brave or duckduckgo");
            }
        }
        return Ok(None);
    };
    let key = match (variable("STEWARD_SEARCH_KEY"), variable("STEWARD_SEARCH_CREDENTIAL")) {
        (None, None) => SearchKey::None,
        (Some(key), None) => SearchKey::Plain(key.into()),
        (None, Some(name)) => SearchKey::Credential(name),
        _ => bail!("set only one of STEWARD_SEARCH_KEY and STEWARD_SEARCH_CREDENTIAL"),
    };
    let engine = engine.parse().map_err(|error| anyhow!("STEWARD_SEARCH: {error}"))?;
    let url = variable("STEWARD_SEARCH_URL");
    let config = SearchConfig::new(engine, url.as_deref(), key);
    Ok(Some(config.map_err(|error| anyhow!("STEWARD_SEARCH, STEWARD_SEARCH_URL: {error}"))?))
}

/// The settings file that is named, which must exist, else the usual one in the data directory, if it is there.
pub(crate) fn settings_file(
    named: Option<&str>,
    data_dir: &Path,
    usual: &str,
) -> anyhow::Result<Option<(PathBuf, String)>> {
    let path = named.map_or_else(|| data_dir.join(usual), PathBuf::from);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Some((path, text))),
        // An unusable data directory is reported by whoever creates it.
        Err(error) if named.is_none() && matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error).with_context(|| format!("{} can't be read", path.display())),
    }
}

fn mail(named: Option<&str>, data_dir: &Path) -> anyhow::Result<MailConfig> {
    let Some((path, text)) = settings_file(named, data_dir, MAIL)? else {
        return Ok(MailConfig::default());
    };
    let beside = path.parent().unwrap_or(data_dir);
    MailConfig::parse(&text, |name| std::fs::read(beside.join(name)))
        .map_err(|error| anyhow!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::SearchAndMailConfig;
    use std::path::Path;
    use steward_tools::search::{SearchEngine, SearchKey};

    fn read(set: &[(&str, &str)], dir: &Path) -> anyhow::Result<SearchAndMailConfig> {
        let variable = |name: &str| {
            let found = set.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        SearchAndMailConfig::read(&variable, dir)
    }

    #[test]
    fn a_search_engine_is_chosen_by_variables() {
        let dir = tempfile::tempdir().unwrap();
        assert!(read(&[], dir.path()).unwrap().search.is_none());
        let set = [("STEWARD_SEARCH", "brave"), ("STEWARD_SEARCH_CREDENTIAL", "brave-key")];
        let search = read(&set, dir.path()).unwrap().search.unwrap();
        assert_eq!(search.engine, SearchEngine::Brave);
        assert!(matches!(search.key, SearchKey::Credential(name) if name == "brave-key"));
        let own = [("STEWARD_SEARCH", "searxng"), ("STEWARD_SEARCH_URL", "http://127.0.0.1:8888")];
        assert!(read(&own, dir.path()).unwrap().search.unwrap().own.is_some());
        for (set, expect) in [
            (vec![("STEWARD_SEARCH", "bing")], "choose searxng"),
            (vec![("STEWARD_SEARCH", "searxng")], "address of an instance"),
            (vec![("STEWARD_SEARCH_URL", "http://x")], "without STEWARD_SEARCH"),
            (
                vec![("STEWARD_SEARCH", "brave"), ("STEWARD_SEARCH_KEY", "k"), ("STEWARD_SEARCH_CREDENTIAL", "c")],
                "only one of",
            ),
        ] {
            let error = format!("{:#}", read(&set, dir.path()).unwrap_err());
            assert!(error.contains(expect), "{error}");
        }
    }

    #[test]
    fn mail_accounts_are_read_from_a_file() {
        let dir = tempfile::tempdir().unwrap();
        assert!(read(&[], dir.path()).unwrap().mail.accounts.is_empty());
        let file = dir.path().join("mail.toml");
        std::fs::write(&file, "[accounts.work]\nfrom = 'a@b.c'\nimap = 'imaps://b.c'\nca = 'own.pem'\n").unwrap();
        let error = format!("{:#}", read(&[], dir.path()).unwrap_err());
        assert!(error.contains("mail.toml") && error.contains("own.pem can't be read"), "{error}");
        std::fs::write(dir.path().join("own.pem"), "x").unwrap();
        let accounts = read(&[], dir.path()).unwrap().mail.accounts;
        assert_eq!((accounts[0].name.as_str(), accounts[0].ca.as_deref()), ("work", Some(&b"x"[..])));
        let error = format!("{:#}", read(&[("STEWARD_MAIL", "/nowhere/mail.toml")], dir.path()).unwrap_err());
        assert!(error.contains("/nowhere/mail.toml can't be read"), "{error}");
    }
}
