//! PPTX: a page for each slide, also for hidden ones, with its notes and comments. What its layout and its master show
//! on each slide stands on the first.

mod comments;
mod shapes;

use super::draft::Draft;
use super::error::{ExtractError, Result};
use super::mail::ReadAttached;
use super::office::{Office, names, title};
use super::relations;
use super::xml::Xml;
use shapes::{Shapes, Source};
use std::collections::{HashMap, HashSet};
use steward_core::extracted::BlockKind;

pub(super) fn read(office: &Office<'_>, draft: &mut Draft<'_>, attached: ReadAttached<'_>) -> Result<()> {
    let (archive, main) = (&office.archive, office.main.as_str());
    draft.title = title(archive, draft.budget)?;
    let text = archive.need(main)?;
    let related = relations::of(main, archive, draft.budget)?;
    let mut xml = Xml::new(&text, main, draft.budget);
    let (mut slides, mut size) = (Vec::new(), (0.0, 0.0));
    while let Some(element) = xml.next_open()? {
        match element.name() {
            "sldId" => {
                slides.extend(xml.relation(&element, "id").and_then(|id| related.part(&id).map(str::to_owned)));
            }
            "sldSz" => size = (element.number("cx").unwrap_or(0.0), element.number("cy").unwrap_or(0.0)),
            _ => {}
        }
    }
    if slides.is_empty() {
        return Err(ExtractError::broken("it names no slides"));
    }
    let mut authors: HashMap<String, String> =
        names(related.first("commentAuthors"), ("cmAuthor", "id", "name"), archive, draft.budget)?;
    authors.extend(names(related.first("authors"), ("author", "id", "name"), archive, draft.budget)?);
    let mut shapes = Shapes { archive, size, attached, seen: HashSet::new() };
    let mut backgrounds = HashSet::new();
    for slide in &slides {
        let text = archive.need(slide)?;
        let related = relations::of(slide, archive, draft.budget)?;
        draft.page(None)?;
        shapes.read(&text, slide, Source::Slide, draft)?;
        name_page(draft);
        for layout in related.of_kind("slideLayout") {
            let above = relations::of(layout, archive, draft.budget)?;
            for part in [layout].into_iter().chain(above.of_kind("slideMaster")) {
                if backgrounds.insert(part.to_owned())
                    && let Some(text) = archive.text(part)?
                {
                    shapes.read(&text, part, Source::Background, draft)?;
                }
            }
        }
        for notes in related.of_kind("notesSlide") {
            if let Some(text) = archive.text(notes)? {
                shapes.read(&text, notes, Source::Notes, draft)?;
            }
        }
        for part in related.of_kind("comments") {
            let Some(text) = archive.text(part)? else { continue };
            for remark in comments::read(&text, part, &authors, draft.budget)? {
                draft.paragraph(&remark.written(""))?;
            }
        }
    }
    Ok(())
}

fn name_page(draft: &mut Draft<'_>) {
    if let Some(page) = draft.last_page() {
        let heading = page.blocks.iter().find(|block| matches!(block.kind, BlockKind::Heading { .. }));
        page.name = heading.map(|block| block.text.clone());
    }
}
