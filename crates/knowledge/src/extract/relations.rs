//! Which parts of an Office file belong to which.

use super::error::Result;
use super::limits::Budget;
use super::xml::Xml;
use super::zip::Archive;

pub(super) struct Relation {
    pub id: String,
    /// The last part of its type, such as `styles`.
    pub kind: String,
    /// The name of a part, or an address.
    pub target: String,
    pub is_external: bool,
}

#[derive(Default)]
pub(super) struct Relations(Vec<Relation>);

impl Relations {
    pub fn by_id(&self, id: &str) -> Option<&Relation> {
        self.0.iter().find(|relation| relation.id == id)
    }

    pub fn by_target(&self, target: &str) -> Option<&Relation> {
        self.0.iter().find(|relation| relation.target == target)
    }

    /// The part that a relation leads to.
    pub fn part(&self, id: &str) -> Option<&str> {
        self.by_id(id).filter(|relation| !relation.is_external).map(|relation| relation.target.as_str())
    }

    /// The parts of a kind, each once.
    pub fn of_kind(&self, kind: &str) -> Vec<&str> {
        let mut found: Vec<&str> = Vec::new();
        for relation in self.0.iter().filter(|one| one.kind == kind && !one.is_external) {
            if !found.contains(&relation.target.as_str()) {
                found.push(&relation.target);
            }
        }
        found
    }

    pub fn first(&self, kind: &str) -> Option<&str> {
        self.0.iter().find(|one| one.kind == kind && !one.is_external).map(|one| one.target.as_str())
    }

    /// The text of the first part of a kind.
    pub fn text_of(&self, kind: &str, archive: &Archive<'_>) -> Result<Option<String>> {
        self.first(kind).map_or(Ok(None), |part| archive.text(part))
    }
}

/// The relations of a part; of the whole file, where its name is empty.
pub(super) fn of(part: &str, archive: &Archive<'_>, budget: &Budget<'_>) -> Result<Relations> {
    let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
    let name = format!("{folder}/_rels/{file}.rels");
    let name = name.trim_start_matches('/');
    let mut found = Relations::default();
    let Some(text) = archive.text(name)? else { return Ok(found) };
    let mut xml = Xml::new(&text, name, budget);
    while let Some(element) = xml.next_open()? {
        if element.name() == "Relationship"
            && let (Some(id), Some(target)) = (element.attribute("Id"), element.attribute("Target"))
        {
            let kind = element.attribute("Type").unwrap_or_default();
            let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
            let is_external = element.attribute("TargetMode").is_some_and(|mode| mode == "External");
            let target = if is_external { target } else { resolve(folder, &unescaped(&target)) };
            found.0.push(Relation { id, kind, target, is_external });
        }
    }
    Ok(found)
}

/// A path as it is written in a file of `folder`.
pub(super) fn resolve(folder: &str, target: &str) -> String {
    let mut parts: Vec<&str> = if target.starts_with('/') { Vec::new() } else { folder.split('/').collect() };
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.retain(|part| !part.is_empty());
    parts.join("/")
}

/// Names of parts are written as in links.
pub(super) fn unescaped(target: &str) -> String {
    let mut bytes = Vec::with_capacity(target.len());
    let mut rest = target.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|code| std::str::from_utf8(code).ok()).filter(|_| *first == b'%');
        if let Some(byte) = code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            bytes.push(byte);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
