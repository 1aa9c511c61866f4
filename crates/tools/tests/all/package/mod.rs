//! Skill packages, from bytes to skills.

mod archive;
mod flow;
mod layout;
mod ports;
mod property;
mod ready;
mod reference;
mod scanning;

use std::collections::BTreeMap;
use steward_tools::package::{Files, PackageContents, read, write};

/// A minimal package of this name with more files.
pub fn files(name: &str, more: &[(&str, &str)]) -> Files {
    let main = format!("---\nname: {name}\ndescription: What it is for.\n---\n# Prompt\nHelp people.\n");
    let mut files = BTreeMap::from([("SKILL.md".to_owned(), main.into_bytes())]);
    for (path, text) in more {
        files.insert((*path).to_owned(), text.as_bytes().to_vec());
    }
    files
}

/// The same, read from its archive.
pub fn package(name: &str, more: &[(&str, &str)]) -> PackageContents {
    read(&write(name, &files(name, more))).unwrap()
}

/// What is said of an archive that is refused.
pub fn refused(bytes: &[u8]) -> String {
    read(bytes).expect_err("was taken").to_string()
}
