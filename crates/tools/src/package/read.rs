//! From an archive to a package.

use super::definition;
use super::error::{PackageError, entry};
use super::front::{Front, front_matter};
use super::zip::{Limits, unpack};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use steward_core::{hash, skill::Skill};

/// The file that makes a folder a package.
pub(crate) const MAIN: &str = "SKILL.md";
/// Where skill definitions lie.
pub(crate) const SKILLS: &str = "skills/";
/// Largest `SKILL.md` and skill definition, bytes.
const TEXT: usize = 256 << 10;

/// Files by their path inside the package.
pub type Files = BTreeMap<String, Vec<u8>>;

/// A package as read; nothing of it is judged yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Read {
    pub front: Front,
    pub body: String,
    /// All files, `SKILL.md` and definitions with them.
    pub files: Files,
    /// Skills defined under `skills/`, without id, version and author.
    pub skills: Vec<Skill>,
    /// Hash over names and contents.
    pub hash: String,
}

/// Hash over names and contents; how and when they were zipped makes no difference.
pub fn hash(files: &Files) -> String {
    let all: BTreeMap<&str, Value> =
        files.iter().map(|(path, content)| (path.as_str(), Value::String(hash::sha256(content)))).collect();
    hash::of_json(&serde_json::json!(all))
}

pub fn read(bytes: &[u8]) -> Result<Read, PackageError> {
    let (folder, files) = one_folder(unpack(bytes, Limits::default())?)?;
    understand(&folder, files)
}

/// All files lie in one folder: its name and what is in it.
fn one_folder(all: Files) -> Result<(String, Files), PackageError> {
    let layout = |text: String| Err(PackageError::Layout(text));
    if all.is_empty() {
        return layout("the archive is empty; zip the package's folder".into());
    }
    let tops: BTreeSet<String> = all.keys().map(|path| path.split('/').next().unwrap_or_default().to_owned()).collect();
    if let Some(loose) = all.keys().find(|path| !path.contains('/')) {
        return layout(format!(
            "`{loose}` lies at the top of the archive; put everything into one folder that is named like the package, and zip that folder"
        ));
    }
    let mut names = tops.into_iter();
    let folder = names.next().unwrap_or_default();
    if let Some(second) = names.next() {
        return layout(format!("the archive has several folders (`{folder}`, `{second}`); zip one package at a time"));
    }
    let inside = folder.len() + 1;
    let files = all.into_iter().map(|(path, content)| (path[inside..].to_owned(), content)).collect();
    Ok((folder, files))
}

/// Makes a package of a folder's files.
pub fn understand(folder: &str, files: Files) -> Result<Read, PackageError> {
    let Some(main) = files.get(MAIN) else {
        let near =
            files.keys().find(|path| path.rsplit('/').next().is_some_and(|last| last.eq_ignore_ascii_case(MAIN)));
        return Err(PackageError::Layout(match near {
            Some(near) => format!("there is `{near}`, but no `{folder}/{MAIN}`; move or rename it"),
            None => format!("the folder `{folder}` has no {MAIN}; add one with `name:` and `description:`"),
        }));
    };
    let (front, body) = front_matter(text(MAIN, main)?)?;
    if front.name != folder {
        return Err(PackageError::Layout(format!(
            "the folder is called `{folder}`, the package `{}`; give both the same name",
            front.name
        )));
    }
    if body.is_empty() {
        return Err(PackageError::Front(
            "it has no text after the front matter; write there what the agent has to know".into(),
        ));
    }
    for (path, content) in &files {
        archive(path, content)?;
    }
    let mut skills = Vec::new();
    for (path, content) in files.iter().filter(|(path, _)| path.starts_with(SKILLS)) {
        skills.extend(definition::read(path, text(path, content)?, &files)?);
    }
    definition::distinct(&front.name, &skills)?;
    let hash = hash(&files);
    Ok(Read { front, body, files, skills, hash })
}

/// A file that must be text.
pub(crate) fn text<'a>(path: &str, content: &'a [u8]) -> Result<&'a str, PackageError> {
    if content.len() > TEXT {
        return Err(PackageError::TooLarge {
            what: format!("`{path}` has {} bytes", content.len()),
            limit: "262144 bytes for this file; move text to references/".into(),
        });
    }
    std::str::from_utf8(content).map_err(|_| entry(path, "isn't UTF-8 text; save it as UTF-8"))
}

/// Refuses an archive in the archive: nobody would look into it. Office documents are archives too;
/// they are taken, and the scan says that it can't look inside.
fn archive(path: &str, content: &[u8]) -> Result<(), PackageError> {
    const OFFICE: [&str; 6] = ["docx", "xlsx", "pptx", "odt", "ods", "odp"];
    const BEGINNINGS: [&[u8]; 7] = [
        b"PK\x03\x04",
        b"PK\x05\x06",
        b"\x1f\x8b",
        b"7z\xbc\xaf\x27\x1c",
        b"Rar!\x1a\x07",
        b"\xfd7zXZ\0",
        b"\x28\xb5\x2f\xfd",
    ];
    let extension = path.rsplit_once('.').map(|(_, last)| last.to_lowercase());
    let office = extension.is_some_and(|last| OFFICE.contains(&last.as_str()));
    let tar = content.get(257..262) == Some(b"ustar");
    let bzip = content.starts_with(b"BZh") && content.get(4..8) == Some(b"1AY&");
    let packed = BEGINNINGS.iter().any(|begin| content.starts_with(begin));
    if tar || bzip || packed && !office {
        return Err(entry(path, "is an archive itself; put its files into the package instead"));
    }
    Ok(())
}
