//! Reads fields of a credential. No secret stands in the command, where other programs and the shell would see it.

use crate::term::Term;
use anyhow::{Context, anyhow, bail};
use clap::Args;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{IsTerminal as _, Read};
use std::path::{Path, PathBuf};
use steward_core::credential::CredentialKind;

/// Fields of a credential. Secret ones never stand in the command: other programs can see it.
#[derive(Debug, Clone, Default, Args)]
#[expect(clippy::struct_field_names, reason = "the names of the options")]
pub struct Fields {
    /// A field that is no secret; may be given often.
    #[arg(long = "set", value_name = "FIELD=VALUE")]
    set: Vec<String>,
    /// A field whose value is in a file, `-` for standard input; may be given often.
    #[arg(long = "from", value_name = "FIELD=FILE")]
    from: Vec<String>,
    /// Fields as one JSON object in a file, `-` for standard input.
    #[arg(long, value_name = "FILE")]
    fields: Option<PathBuf>,
}

/// Longest value, bytes.
const MOST: u64 = 1 << 20;

pub(super) struct Given {
    pub values: BTreeMap<String, String>,
    /// Standard input, until it was read.
    input: Option<Box<dyn Read + Send>>,
    /// Whether a program or a file is behind it.
    piped: bool,
}

pub(super) fn given(kind: CredentialKind, fields: &Fields) -> anyhow::Result<Given> {
    let piped = !std::io::stdin().is_terminal();
    given_with(kind, fields, Box::new(std::io::stdin()), piped)
}

fn given_with(
    kind: CredentialKind,
    fields: &Fields,
    input: Box<dyn Read + Send>,
    piped: bool,
) -> anyhow::Result<Given> {
    let mut given = Given { values: BTreeMap::new(), input: Some(input), piped };
    if let Some(file) = &fields.fields {
        let text = given.file(file)?;
        let shown = file.display();
        // The content is not shown, since it holds secrets.
        let object: BTreeMap<String, Value> =
            serde_json::from_str(&text).map_err(|_| anyhow!("{shown} is no JSON object of a credential's fields"))?;
        for (name, value) in object {
            let value = match value {
                Value::String(text) => text,
                Value::Number(number) => number.to_string(),
                _ => bail!("the field `{name}` of {shown} is no text"),
            };
            given.put(&name, value)?;
        }
    }
    for pair in &fields.from {
        let (name, file) = pair
            .split_once('=')
            .filter(|(name, file)| !name.is_empty() && !file.is_empty())
            .ok_or_else(|| anyhow!("write --from FIELD=FILE, such as --from token=token.txt"))?;
        let text = given.file(Path::new(file))?;
        given.put(name, trimmed(&text))?;
    }
    for pair in &fields.set {
        let (name, value) = pair
            .split_once('=')
            .filter(|(name, _)| !name.is_empty())
            .ok_or_else(|| anyhow!("write --set FIELD=VALUE, such as --set username=ada"))?;
        if !kind.shows(name) {
            bail!(
                "`{name}` is secret, and what stands in a command can be seen by others; give it with --from {name}=FILE, on standard input, or type it when you are asked"
            );
        }
        given.put(name, value.to_owned())?;
    }
    Ok(given)
}

/// Prompts for required fields that were not given.
pub(super) async fn missing(kind: CredentialKind, given: &mut Given, term: Term) -> anyhow::Result<()> {
    let mut wanted: Vec<&str> = kind
        .fields()
        .iter()
        .filter(|field| field.required && !given.values.contains_key(field.name))
        .map(|field| field.name)
        .collect();
    if wanted.is_empty() && given.values.is_empty() {
        // If a kind requires no single field, its first one is the most important.
        wanted.extend(kind.fields().first().map(|field| field.name));
    }
    if let [only] = wanted[..]
        && !kind.shows(only)
        && given.piped
        && given.input.is_some()
    {
        let text = given.file(Path::new("-"))?;
        return given.put(only, trimmed(&text));
    }
    for name in wanted {
        asked(kind, name, given, term).await?;
    }
    Ok(())
}

pub(super) async fn asked(kind: CredentialKind, name: &str, given: &mut Given, term: Term) -> anyhow::Result<()> {
    if !term.can_ask {
        let way = if kind.shows(name) {
            format!("--set {name}=VALUE")
        } else {
            format!("--from {name}=FILE, where - is standard input")
        };
        bail!("`{name}` is missing; give it with {way}");
    }
    let question = format!("{name}:");
    let value = if kind.shows(name) { term.ask(&question) } else { term.ask_hidden(&question).await? };
    let value = value.context("nothing was typed")?;
    if value.starts_with("-----BEGIN") {
        bail!("`{name}` has several lines; give it with --from {name}=FILE");
    }
    given.put(name, value)
}

impl Given {
    fn put(&mut self, name: &str, value: String) -> anyhow::Result<()> {
        if value.is_empty() {
            bail!("`{name}` is empty");
        }
        if self.values.insert(name.to_owned(), value).is_some() {
            bail!("`{name}` is given twice");
        }
        Ok(())
    }

    fn file(&mut self, path: &Path) -> anyhow::Result<String> {
        let mut text = String::new();
        let from: Box<dyn Read> = if path == Path::new("-") {
            self.input.take().context("standard input can be read once; give the other fields by files")?
        } else {
            let opened = std::fs::File::open(path);
            Box::new(opened.with_context(|| format!("cannot read {}", path.display()))?)
        };
        let shown = path.display();
        from.take(MOST + 1).read_to_string(&mut text).with_context(|| format!("cannot read {shown}"))?;
        if text.len() as u64 > MOST {
            bail!("{shown} is too long for a field of a credential");
        }
        Ok(text)
    }
}

/// Removes the line break that editors and `echo` add to a value of one line.
fn trimmed(text: &str) -> String {
    let one = text.strip_suffix('\n').unwrap_or(text);
    let one = one.strip_suffix('\r').unwrap_or(one);
    if one.contains('\n') { text } else { one }.to_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{Fields, Given, given_with, missing, trimmed};
    use crate::term::Term;
    use steward_core::credential::CredentialKind;

    async fn read(kind: CredentialKind, fields: Fields, input: &'static str) -> Result<Given, String> {
        // No terminal: nothing is asked.
        let mut term = Term::detect(true);
        term.can_ask = false;
        let mut all = given_with(kind, &fields, Box::new(input.as_bytes()), true).map_err(|why| why.to_string())?;
        missing(kind, &mut all, term).await.map_err(|why| why.to_string())?;
        Ok(all)
    }

    fn set(pairs: &[&str]) -> Fields {
        Fields { set: pairs.iter().map(|pair| (*pair).to_owned()).collect(), ..Fields::default() }
    }

    #[tokio::test]
    async fn a_single_secret_comes_from_standard_input() {
        let token = read(CredentialKind::Token, set(&[]), "s3cret\n").await.unwrap();
        assert_eq!(token.values["token"], "s3cret");
        let both = read(CredentialKind::Password, set(&["username=ada"]), "pw\r\n").await;
        assert_eq!(both.unwrap().values["password"], "pw");
        let database = read(CredentialKind::Database, set(&[]), "postgres://a:b@c/d\n").await;
        assert_eq!(database.unwrap().values["url"], "postgres://a:b@c/d");
    }

    #[tokio::test]
    async fn what_is_wrong_is_said_without_the_secret() {
        let why = |kind, fields, input| async move { read(kind, fields, input).await.err().unwrap() };
        let argv = why(CredentialKind::Token, set(&["token=hunter2"]), "").await;
        assert!(argv.contains("--from token=FILE") && !argv.contains("hunter2"), "{argv}");
        let two = why(CredentialKind::Password, set(&[]), "pw").await;
        assert!(two.contains("--set username=VALUE"), "{two}");
        let empty = why(CredentialKind::Token, set(&[]), "\n").await;
        assert!(empty.contains("`token` is empty"), "{empty}");
        let twice = why(CredentialKind::Password, set(&["username=a", "username=b"]), "pw").await;
        assert!(twice.contains("given twice"), "{twice}");
        let fields = Fields { fields: Some("-".into()), ..Fields::default() };
        let broken = why(CredentialKind::Token, fields.clone(), "{\"token\": hunter2").await;
        assert!(broken.contains("no JSON") && !broken.contains("hunter2"), "{broken}");
        let mut again = fields;
        again.from = vec!["token=-".to_owned()];
        let again = why(CredentialKind::Token, again, "{}").await;
        assert!(again.contains("read once"), "{again}");
    }

    #[tokio::test]
    async fn several_fields_come_as_json() {
        let fields = Fields { fields: Some("-".into()), ..Fields::default() };
        let input = r#"{"engine": "postgres", "port": 5432, "password": "pw"}"#;
        let all = read(CredentialKind::Database, fields, input).await.unwrap();
        assert_eq!(all.values["port"], "5432");
        assert_eq!(all.values.len(), 3);
    }

    #[test]
    fn keys_keep_their_last_line_break() {
        assert_eq!(trimmed("a\n"), "a");
        assert_eq!(trimmed("a"), "a");
        assert_eq!(trimmed("a\nb\n"), "a\nb\n");
    }
}
