//! The packages that come with Steward: presales, finance, infra, legal (SKILL-6).

use super::read::Files;
use super::zip::write;
use rust_embed::RustEmbed;
use std::collections::BTreeSet;

#[derive(RustEmbed)]
#[folder = "$CARGO_MANIFEST_DIR/../../packages"]
struct Ready;

/// Names of the packages that come with the program.
pub fn ready_names() -> Vec<String> {
    let names: BTreeSet<String> = Ready::iter()
        .filter_map(|path| {
            path.strip_suffix("/SKILL.md")
                .filter(|name| !name.contains('/'))
                .map(str::to_owned)
        })
        .collect();
    names.into_iter().collect()
}

/// One of them as a `.skill` archive; `None` if there is none of that name.
pub fn ready(name: &str) -> Option<Vec<u8>> {
    let prefix = format!("{name}/");
    let files: Files = Ready::iter()
        .filter_map(|path| {
            let inside = path.strip_prefix(&prefix)?.to_owned();
            Some((inside, Ready::get(&path)?.data.into_owned()))
        })
        .collect();
    files.contains_key("SKILL.md").then(|| write(name, &files))
}
