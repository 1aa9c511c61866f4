use super::error::PackageError;
use super::names;
use serde_json::{Map, Value};
use steward_core::package::Permissions;

const FRONT_MATTER_BYTES: usize = 64 << 10;
/// Longest description, characters (limit of the open format).
const DESCRIPTION: usize = 1024;
/// Longest `compatibility`, characters (limit of the open format).
const COMPATIBILITY: usize = 500;
/// Keys of `metadata` by which a package of the open format declares permissions.
const OPEN_NETWORK: &str = "steward-network";
const OPEN_CREDENTIALS: &str = "steward-credentials";
const OPEN_SCRIPTS: &str = "steward-scripts";

#[derive(Debug, Clone, Default, PartialEq)]
pub struct FrontMatter {
    pub name: String,
    pub description: String,
    pub license: Option<String>,
    /// `compatibility`: what the package needs around it.
    pub compatibility: Option<String>,
    /// `version`, else `metadata.version`.
    pub version: Option<String>,
    pub metadata: Map<String, Value>,
    /// `permissions`, with what `allowed-tools` and `metadata.steward-*` add.
    pub permissions: Permissions,
    /// Unknown fields, kept as they are.
    pub other: Map<String, Value>,
}

fn front_error(problem: impl Into<String>) -> PackageError {
    PackageError::Front(problem.into())
}

/// A YAML document as JSON, within limits. Anchors and aliases are refused: they make a small document huge.
pub(crate) fn yaml(text: &str) -> Result<Value, String> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: 50_000,
            max_aliases: 0,
            max_anchors: 0,
            max_depth: 64,
            max_nodes: 20_000,
        },
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let message = error.to_string();
        let first = message.lines().next().unwrap_or_default();
        format!("its YAML can't be read: {first}")
    })
}

/// Splits `SKILL.md` into front matter and body; normalises line ends and drops a byte order mark.
pub(crate) fn split(text: &str) -> Result<(String, String), PackageError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let missing = || {
        front_error(
            "it has no front matter; begin the file with a line `---`, then `name:` and `description:`, then a line `---`",
        )
    };
    let rest = text.split_once('\n').and_then(|(first, rest)| (first.trim_end() == "---").then_some(rest));
    let rest = rest.ok_or_else(missing)?;
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            let body = rest[at + line.len()..].trim();
            if at > FRONT_MATTER_BYTES {
                return Err(front_error("its front matter is over 64 KiB; move text to the body"));
            }
            return Ok((rest[..at].to_owned(), body.to_owned()));
        }
        at += line.len();
    }
    Err(front_error("its front matter has no end; put a line `---` after the last field"))
}

pub fn front_matter(text: &str) -> Result<(FrontMatter, String), PackageError> {
    let (yaml_text, body) = split(text)?;
    let value = yaml(&yaml_text).map_err(front_error)?;
    let Value::Object(mut fields) = value else {
        return Err(front_error("its front matter must be fields like `name: my-package`"));
    };
    let name = required_text(&mut fields, "name")?;
    names::check_package_name(&name).map_err(front_error)?;
    let description = required_text(&mut fields, "description")?;
    let license = optional_text(&mut fields, "license", DESCRIPTION)?;
    let compatibility = optional_text(&mut fields, "compatibility", COMPATIBILITY)?;
    let metadata = match given(&mut fields, "metadata") {
        None => Map::new(),
        Some(Value::Object(map)) => map,
        Some(_) => return Err(front_error("`metadata` must be fields with values")),
    };
    let version = optional_text(&mut fields, "version", VERSION_CHARS)?;
    let version = version.or_else(|| metadata.get("version").and_then(scalar));
    let permissions = given(&mut fields, "permissions").map(parse_permissions).transpose()?;
    let mut permissions = permissions.unwrap_or_default();
    for (key, into) in [(OPEN_NETWORK, &mut permissions.network), (OPEN_CREDENTIALS, &mut permissions.credentials)] {
        if let Some(text) = metadata.get(key).and_then(scalar) {
            into.extend(words(&text));
        }
    }
    if metadata.get(OPEN_SCRIPTS).and_then(scalar).as_deref() == Some("true") {
        permissions.scripts = true;
    }
    match given(&mut fields, "allowed-tools") {
        None => {}
        Some(Value::String(text)) => permissions.tools.extend(words(&text)),
        Some(Value::Array(list)) => permissions.tools.extend(list.iter().filter_map(scalar)),
        Some(_) => return Err(front_error("`allowed-tools` must be names with spaces between")),
    }
    Ok((FrontMatter { name, description, license, compatibility, version, metadata, permissions, other: fields }, body))
}

const VERSION_CHARS: usize = 100;

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split([' ', ',', '\n']).filter(|word| !word.is_empty()).map(str::to_owned)
}

/// Text, number or boolean as text, since YAML reads `version: 1.0` as a number.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}

fn required_text(fields: &mut Map<String, Value>, name: &str) -> Result<String, PackageError> {
    let most = DESCRIPTION;
    match fields.shift_remove(name) {
        Some(Value::String(text)) => {
            let text = text.trim();
            if text.is_empty() || text.chars().count() > most {
                return Err(front_error(format!(
                    "`{name}` has {} characters; write 1 to {most}",
                    text.chars().count()
                )));
            }
            Ok(text.to_owned())
        }
        None => Err(front_error(format!("it has no `{name}`; add it to the front matter"))),
        Some(_) => Err(front_error(format!("`{name}` must be text; put it in quotes"))),
    }
}

fn optional_text(fields: &mut Map<String, Value>, name: &str, most: usize) -> Result<Option<String>, PackageError> {
    let Some(value) = given(fields, name) else {
        return Ok(None);
    };
    match scalar(&value) {
        Some(text) if text.chars().count() <= most => Ok(Some(text)),
        _ => Err(front_error(format!("`{name}` must be text of at most {most} characters"))),
    }
}

/// A field, unless it is null.
fn given(fields: &mut Map<String, Value>, name: &str) -> Option<Value> {
    fields.shift_remove(name).filter(|value| !value.is_null())
}

fn parse_permissions(value: Value) -> Result<Permissions, PackageError> {
    const KEYS: [&str; 4] = ["network", "tools", "credentials", "scripts"];
    let unknown = value.as_object().and_then(|map| map.keys().find(|key| !KEYS.contains(&key.as_str())));
    if let Some(key) = unknown {
        return Err(front_error(format!("`permissions.{key}` is unknown; there are {}", KEYS.join(", "))));
    }
    serde_json::from_value(value).map_err(|error| {
        front_error(format!(
            "`permissions` can't be read ({error}); `network`, `tools` and `credentials` are lists of names, `scripts` is true or false"
        ))
    })
}
