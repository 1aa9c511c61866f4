//! EPUB: a page for each chapter.

use super::draft::Draft;
use super::error::{ExtractError, Result};
use super::html;
use super::relations::{resolve, unescaped};
use super::text::is_one_of;
use super::xml::Xml;
use super::zip::Archive;
use std::collections::HashMap;
use steward_core::extracted::BlockKind;
use steward_sandbox::text::decode;

const CONTAINER: &str = "META-INF/container.xml";

pub(super) fn read(archive: &Archive<'_>, draft: &mut Draft<'_>) -> Result<()> {
    let package = package(archive, draft)?;
    let text = archive.need(&package)?;
    let mut xml = Xml::new(&text, &package, draft.budget);
    let folder = package.rsplit_once('/').map_or("", |(folder, _)| folder);
    let (mut items, mut spine) = (HashMap::new(), Vec::new());
    while let Some(element) = xml.next_open()? {
        match element.name() {
            "title" if draft.title.is_none() => draft.title = Some(xml.inner_text()?),
            "item" => {
                match element.attribute("media-type").unwrap_or_default().split_once('/') {
                    Some(("image", _)) => draft.count_picture(),
                    Some(("audio" | "video", _)) => draft.warn("Sound and films in it are not read."),
                    _ => {}
                }
                let is_contents = element.attribute("properties").is_some_and(|all| is_one_of("nav", &all));
                if let (Some(id), Some(target)) = (element.attribute("id"), element.attribute("href")) {
                    items.insert(id, (resolve(folder, &unescaped(&target)), is_contents));
                }
            }
            "itemref" => spine.extend(element.attribute("idref")),
            _ => {}
        }
    }
    let mut read = 0;
    for id in spine {
        let Some((part, is_contents)) = items.get(&id) else {
            draft.warn(format!("A chapter that the book's order names (`{id}`) is missing."));
            continue;
        };
        if *is_contents {
            continue;
        }
        let Some(bytes) = archive.read(part)? else {
            draft.warn(format!("The chapter `{part}` is not in the file."));
            continue;
        };
        let text = decode(bytes).ok_or(ExtractError::PasswordProtected)?.text;
        read += 1;
        draft.page(None)?;
        let title = html::read(&text, draft)?;
        if let Some(page) = draft.last_page() {
            let heading = page.blocks.iter().find(|block| matches!(block.kind, BlockKind::Heading { .. }));
            page.name = heading.map(|block| block.text.clone()).or(title);
        }
    }
    if read == 0 {
        return Err(ExtractError::broken("it has no chapters"));
    }
    Ok(())
}

fn package(archive: &Archive<'_>, draft: &Draft<'_>) -> Result<String> {
    let text = archive.need(CONTAINER)?;
    let mut xml = Xml::new(&text, CONTAINER, draft.budget);
    while let Some(element) = xml.next_open()? {
        if element.name() == "rootfile"
            && let Some(path) = element.attribute("full-path")
        {
            return Ok(path);
        }
    }
    Err(ExtractError::broken("it doesn't say where its contents are"))
}
