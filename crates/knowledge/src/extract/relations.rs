//! Which parts of an Office file belong to which.

use super::error::Result;
use super::limits::Budget;
use super::xml::Xml;
use super::zip::Archive;
use std::collections::HashMap;

/// The targets of a part's relations by their ids, as names of parts.
pub(super) fn of(part: &str, archive: &Archive<'_>, budget: &Budget<'_>) -> Result<HashMap<String, String>> {
    let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
    let name = format!("{folder}/_rels/{file}.rels");
    let name = name.trim_start_matches('/');
    let mut found = HashMap::new();
    let Some(text) = archive.text(name)? else { return Ok(found) };
    let mut xml = Xml::new(&text, name, budget);
    while let Some(element) = xml.next_open()? {
        if element.name() == "Relationship"
            && let (Some(id), Some(target)) = (element.attribute("Id"), element.attribute("Target"))
        {
            found.insert(id, resolve(folder, &target));
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
