use super::read::{self, Files};
use super::zip::write;
use rust_embed::RustEmbed;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

#[derive(RustEmbed)]
#[folder = "$CARGO_MANIFEST_DIR/../../packages"]
struct Bundled;

pub fn bundled_names() -> Vec<String> {
    let names: BTreeSet<String> = Bundled::iter()
        .filter_map(|path| path.strip_suffix("/SKILL.md").filter(|name| !name.contains('/')).map(str::to_owned))
        .collect();
    names.into_iter().collect()
}

pub(super) fn is_bundled(name: &str, hash: &str) -> bool {
    static HASHES: LazyLock<BTreeMap<String, String>> =
        LazyLock::new(|| bundled_names().into_iter().map(|name| (name.clone(), read::hash(&files(&name)))).collect());
    HASHES.get(name).is_some_and(|known| known == hash)
}

fn files(name: &str) -> Files {
    let prefix = format!("{name}/");
    Bundled::iter()
        .filter_map(|path| {
            let inside = path.strip_prefix(&prefix)?.to_owned();
            Some((inside, Bundled::get(&path)?.data.into_owned()))
        })
        .collect()
}

/// A bundled package as a `.skill` archive; `None` if there is none with this name.
pub fn bundled(name: &str) -> Option<Vec<u8>> {
    let files = files(name);
    files.contains_key("SKILL.md").then(|| write(name, &files))
}
