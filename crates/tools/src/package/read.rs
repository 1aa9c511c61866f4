use super::error::{PackageError, entry};
use super::front_matter::{FrontMatter, front_matter};
use super::names;
use super::zip::unpack;
use crate::catalogue;
use crate::text::is_one_of;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr as _;
use steward_core::policy::RiskClass;
use steward_core::skill::{Skill, SkillKind};
use steward_core::tool::EffectClass;
use steward_core::{hash, schema};

pub(crate) const MAIN: &str = "SKILL.md";
pub(crate) const SKILLS: &str = "skills/";
pub(crate) const REFERENCES: &str = "references/";
/// Largest `SKILL.md` and skill definition.
const TEXT_BYTES: usize = 256 << 10;

pub type Files = BTreeMap<String, Vec<u8>>;

#[derive(Debug, Clone, PartialEq)]
pub struct PackageContents {
    pub front: FrontMatter,
    pub body: String,
    /// All files, including `SKILL.md` and definitions.
    pub files: Files,
    /// Skills defined under `skills/`, without id, version and author.
    pub skills: Vec<Skill>,
    pub hash: String,
}

pub fn hash(files: &Files) -> String {
    let all: BTreeMap<&str, Value> =
        files.iter().map(|(path, content)| (path.as_str(), Value::String(hash::sha256(content)))).collect();
    hash::of_json(&serde_json::json!(all))
}

pub fn read(bytes: &[u8]) -> Result<PackageContents, PackageError> {
    let (folder, files) = one_folder(unpack(bytes)?)?;
    parse_folder(&folder, files)
}

fn one_folder(all: Files) -> Result<(String, Files), PackageError> {
    let layout = |text: String| Err(PackageError::Layout(text));
    if all.is_empty() {
        return layout("the archive is empty; zip the package's folder".into());
    }
    let mut tops: BTreeSet<&str> = all.keys().map(|path| path.split('/').next().unwrap_or_default()).collect();
    if let Some(loose) = all.keys().find(|path| !path.contains('/')) {
        return layout(format!(
            "`{loose}` lies at the top of the archive; put everything into one folder that is named like the package, and zip that folder"
        ));
    }
    let folder = tops.pop_first().unwrap_or_default().to_owned();
    if let Some(second) = tops.first() {
        return layout(format!("the archive has several folders (`{folder}`, `{second}`); zip one package at a time"));
    }
    let inside = folder.len() + 1;
    let files = all.into_iter().map(|(path, content)| (path[inside..].to_owned(), content)).collect();
    Ok((folder, files))
}

pub fn parse_folder(folder: &str, files: Files) -> Result<PackageContents, PackageError> {
    let Some(main) = files.get(MAIN) else {
        let near =
            files.keys().find(|path| path.rsplit('/').next().is_some_and(|last| last.eq_ignore_ascii_case(MAIN)));
        return Err(PackageError::Layout(match near {
            Some(near) => format!("there is `{near}`, but no `{folder}/{MAIN}`; move or rename it"),
            None => format!("the folder `{folder}` has no {MAIN}; add one with `name:` and `description:`"),
        }));
    };
    let (front, body) = front_matter(utf8_text(MAIN, main)?)?;
    if front.name != folder {
        return Err(PackageError::Layout(format!(
            "the folder is called `{folder}`, the package `{}`; give both the same name",
            front.name
        )));
    }
    for (path, content) in &files {
        refuse_archive(path, content)?;
    }
    let mut skills = Vec::new();
    for (path, content) in files.iter().filter(|(path, _)| path.starts_with(SKILLS)) {
        skills.extend(definitions(path, utf8_text(path, content)?, &files)?);
    }
    distinct(&front.name, &skills)?;
    let hash = hash(&files);
    Ok(PackageContents { front, body, files, skills, hash })
}

pub(crate) fn utf8_text<'a>(path: &str, content: &'a [u8]) -> Result<&'a str, PackageError> {
    if content.len() > TEXT_BYTES {
        return Err(PackageError::TooLarge {
            what: format!("`{path}` has {} bytes", content.len()),
            limit: "262144 bytes for this file; move text to references/".into(),
        });
    }
    std::str::from_utf8(content).map_err(|_| entry(path, "isn't UTF-8 text; save it as UTF-8"))
}

/// Nobody would look into them. Office documents are accepted: the scan reports that it can't look inside.
fn refuse_archive(path: &str, content: &[u8]) -> Result<(), PackageError> {
    const OFFICE_EXTENSIONS: [&str; 6] = ["docx", "xlsx", "pptx", "odt", "ods", "odp"];
    const ARCHIVE_SIGNATURES: [&[u8]; 7] = [
        b"PK\x03\x04",
        b"PK\x05\x06",
        b"\x1f\x8b",
        b"7z\xbc\xaf\x27\x1c",
        b"Rar!\x1a\x07",
        b"\xfd7zXZ\0",
        b"\x28\xb5\x2f\xfd",
    ];
    let extension = path.rsplit_once('.').map(|(_, last)| last.to_lowercase());
    let office = extension.is_some_and(|last| OFFICE_EXTENSIONS.contains(&last.as_str()));
    let tar = content.get(257..262) == Some(b"ustar");
    let bzip = content.starts_with(b"BZh") && content.get(4..8) == Some(b"1AY&");
    let packed = ARCHIVE_SIGNATURES.iter().any(|begin| content.starts_with(begin));
    if tar || bzip || packed && !office {
        return Err(entry(path, "is an archive itself; put its files into the package instead"));
    }
    Ok(())
}

/// Fields of a definition. Id, version, author and package are given by Steward.
const FIELDS: &str = "name description utterances parameters type config risk effect credential compensation limits enabled \
    untrusted category";
/// Placeholder until a skill is created.
const NO_ID: &str = "00000000-0000-0000-0000-000000000000";
/// In a python skill's `config`: a file of the package, instead of `code`.
pub(crate) const FILE: &str = "file";

/// The skills of one file: an object, or a list of objects.
pub(crate) fn definitions(path: &str, source: &str, files: &Files) -> Result<Vec<Skill>, PackageError> {
    let wrong = |problem: String| PackageError::Definition { file: path.to_owned(), problem };
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    let extension = path.rsplit_once('.').map_or("", |(_, last)| last);
    let value = match extension {
        "json" => serde_json::from_str(source).map_err(|error| wrong(format!("its JSON can't be read: {error}")))?,
        "yaml" | "yml" => super::front_matter::yaml(source).map_err(wrong)?,
        _ => {
            return Err(wrong("is no skill definition; put only .json and .yaml files into skills/".into()));
        }
    };
    let list = match value {
        Value::Array(list) => list,
        one => vec![one],
    };
    list.into_iter().map(|one| definition(one, path, files).map_err(wrong)).collect()
}

fn definition(value: Value, path: &str, files: &Files) -> Result<Skill, String> {
    let Value::Object(mut fields) = value else {
        return Err("a skill is an object with `name`, `type` and `config`".into());
    };
    if let Some(unknown) = fields.keys().find(|key| !is_one_of(key, FIELDS)) {
        return Err(format!("`{unknown}` is unknown; there are {}", FIELDS.replace(' ', ", ")));
    }
    if !fields.contains_key("name") {
        let file = path.rsplit('/').next().unwrap_or_default();
        let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
        fields.insert("name".into(), Value::String(stem.replace('-', "_")));
    }
    let name = fields.get("name").and_then(Value::as_str).unwrap_or_default();
    names::check_skill_name(name)?;
    if catalogue::known(name) {
        return Err(format!("`{name}` is the name of a built-in tool; choose another"));
    }
    let kind = fields.get("type").and_then(Value::as_str);
    let kind = SkillKind::from_str(kind.ok_or("`type` is missing, such as \"http\"")?)?;
    if fields.get("description").and_then(Value::as_str).is_none_or(|text| text.trim().is_empty()) {
        return Err("`description` is missing; say what the skill does".into());
    }
    let config = fields.entry("config").or_insert_with(|| json!({}));
    if kind == SkillKind::Python {
        inline_code_file(config, files)?;
    }
    parameters(&mut fields)?;
    let (risk, effect) = defaults(kind, &fields["config"]);
    fields.entry("risk").or_insert_with(|| json!(risk));
    fields.entry("effect").or_insert_with(|| json!(effect));
    for (field, value) in [("id", json!(NO_ID)), ("version", json!(0)), ("at", json!(0))] {
        fields.insert(field.into(), value);
    }
    serde_json::from_value(Value::Object(fields)).map_err(|error| error.to_string())
}

/// Cautious defaults; a statement that may write is not a read.
fn defaults(kind: SkillKind, config: &Value) -> (RiskClass, EffectClass) {
    if kind == SkillKind::Sql && config.get("readonly") == Some(&Value::Bool(false)) {
        return (RiskClass::Destructive, EffectClass::Write);
    }
    kind.defaults()
}

/// Replaces `config.file` by its text as `config.code`.
fn inline_code_file(config: &mut Value, files: &Files) -> Result<(), String> {
    let Some(config) = config.as_object_mut() else {
        return Ok(());
    };
    let Some(file) = config.shift_remove(FILE) else {
        return Ok(());
    };
    if config.contains_key("code") {
        return Err("`config` has both `code` and `file`; keep one".into());
    }
    let file = file.as_str().ok_or("`config.file` must be a path in the package")?;
    let content = files.get(file).ok_or_else(|| format!("`config.file`: there is no `{file}` in the package"))?;
    let code = utf8_text(file, content).map_err(|error| error.to_string())?;
    config.insert("code".into(), Value::String(code.to_owned()));
    Ok(())
}

fn parameters(fields: &mut Map<String, Value>) -> Result<(), String> {
    let schema = fields
        .entry("parameters")
        .or_insert_with(|| json!({"type": "object", "properties": {}, "additionalProperties": false}));
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err("`parameters` must be a JSON Schema with \"type\": \"object\"".into());
    }
    schema::check(schema).map_err(|problem| format!("`parameters`: {problem}"))
}

/// Checks that skill names are distinct, also from the name of the package's prompt.
pub(crate) fn distinct(package: &str, skills: &[Skill]) -> Result<(), PackageError> {
    let mut seen = BTreeSet::from([names::skill_of(package)]);
    match skills.iter().find(|skill| !seen.insert(skill.name.clone())) {
        None => Ok(()),
        Some(skill) => Err(PackageError::Definition {
            file: SKILLS.to_owned(),
            problem: format!(
                "two skills are called `{}` (the package's own prompt is `{}`); rename one",
                skill.name,
                names::skill_of(package)
            ),
        }),
    }
}
