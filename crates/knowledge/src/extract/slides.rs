//! PPTX.

use super::draft::Draft;
use super::error::{ExtractError, Result};
use super::relations;
use super::table;
use super::word::title;
use super::xml::{Element, Node, Xml};
use super::zip::Archive;
use steward_core::extracted::{Area, BlockKind};

pub(super) const PRESENTATION: &str = "ppt/presentation.xml";

pub(super) fn read(archive: &Archive<'_>, draft: &mut Draft<'_>) -> Result<()> {
    draft.title = title(archive, draft.budget)?;
    let text = archive.need(PRESENTATION)?;
    let targets = relations::of(PRESENTATION, archive, draft.budget)?;
    let mut xml = Xml::new(&text, PRESENTATION, draft.budget);
    let (mut slides, mut size) = (Vec::new(), (0.0, 0.0));
    while let Some(element) = xml.next_open()? {
        match element.name() {
            "sldId" => slides.extend(element.prefixed("r:id").and_then(|id| targets.get(&id).cloned())),
            "sldSz" => size = (element.number("cx").unwrap_or(0.0), element.number("cy").unwrap_or(0.0)),
            _ => {}
        }
    }
    if slides.is_empty() {
        return Err(ExtractError::broken("it names no slides"));
    }
    for slide in &slides {
        let text = archive.need(slide)?;
        draft.page(None)?;
        shapes(&text, slide, Some(size), draft)?;
        name_page(draft);
        let related = relations::of(slide, archive, draft.budget)?;
        let notes = related.values().find(|target| target.contains("/notesSlides/"));
        if let Some(notes) = notes
            && let Some(text) = archive.text(notes)?
        {
            shapes(&text, notes, None, draft)?;
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

#[derive(Default)]
struct Shape {
    kind: String,
    area: Option<Area>,
    paragraphs: Vec<(String, bool)>,
    rows: Vec<Vec<String>>,
}

impl Shape {
    fn add(&mut self, text: &str) {
        if let Some((last, _)) = self.paragraphs.last_mut() {
            last.push_str(text);
        }
    }
}

/// Reads the shapes of a slide. Those of notes have no place on it.
fn shapes(text: &str, part: &str, size: Option<(f64, f64)>, draft: &mut Draft<'_>) -> Result<()> {
    let mut xml = Xml::new(text, part, draft.budget);
    let (mut shape, mut offset) = (Shape::default(), (0.0, 0.0));
    // A shape may have a bullet without saying so, as its layout does.
    let mut titles = 0;
    while let Some(node) = xml.next()? {
        match node {
            Node::Open(element) => match element.name() {
                "sp" | "graphicFrame" => shape = Shape::default(),
                "ph" => shape.kind = element.attribute("type").unwrap_or_else(|| "body".to_owned()),
                "off" => offset = point(&element, "x", "y"),
                "ext" if element.attribute("cx").is_some() => {
                    shape.area = size.and_then(|size| area(offset, point(&element, "cx", "cy"), size));
                }
                "p" => shape.paragraphs.push((String::new(), false)),
                "buChar" | "buAutoNum" => {
                    if let Some((_, bullet)) = shape.paragraphs.last_mut() {
                        *bullet = true;
                    }
                }
                "t" => shape.add(&xml.inner_text()?),
                "br" => shape.add("\n"),
                "tr" => shape.rows.push(Vec::new()),
                "Fallback" => xml.skip()?,
                _ => {}
            },
            Node::Close(name) => match name.as_str() {
                "tc" => {
                    let cell: Vec<String> = shape.paragraphs.drain(..).map(|(text, _)| text).collect();
                    if let Some(row) = shape.rows.last_mut() {
                        row.push(cell.join(" "));
                    }
                }
                "sp" | "graphicFrame" => {
                    let ended = std::mem::take(&mut shape);
                    titles += usize::from(ended.kind.to_lowercase().contains("title"));
                    end(&ended, titles > 1, draft)?;
                }
                _ => {}
            },
            Node::Text(_) => {}
        }
    }
    Ok(())
}

fn end(shape: &Shape, has_title: bool, draft: &mut Draft<'_>) -> Result<()> {
    table::add(&shape.rows, draft)?;
    let is_title = matches!(shape.kind.as_str(), "title" | "ctrTitle") && !has_title;
    // Numbers and dates of slides are on each of them; pictures of slides stand in notes.
    if matches!(shape.kind.as_str(), "sldNum" | "dt" | "ftr" | "hdr" | "sldImg") {
        return Ok(());
    }
    let items = shape.paragraphs.iter().filter(|(text, _)| !text.trim().is_empty()).count();
    for (text, bullet) in &shape.paragraphs {
        let kind = match () {
            () if is_title => BlockKind::Heading { level: 1 },
            () if *bullet || shape.kind == "body" && items > 1 => BlockKind::ListItem,
            () => BlockKind::Paragraph,
        };
        draft.block_at(kind, text, shape.area)?;
    }
    Ok(())
}

fn point(element: &Element<'_>, x: &str, y: &str) -> (f64, f64) {
    (element.number(x).unwrap_or(0.0), element.number(y).unwrap_or(0.0))
}

#[expect(clippy::cast_possible_truncation, reason = "fractions")]
fn area(offset: (f64, f64), extent: (f64, f64), size: (f64, f64)) -> Option<Area> {
    let is_there = size.0 > 0.0 && size.1 > 0.0 && extent.0 > 0.0 && extent.1 > 0.0;
    let share = |part: f64, whole: f64| (part / whole).clamp(0.0, 1.0) as f32;
    is_there.then(|| Area {
        x: share(offset.0, size.0),
        y: share(offset.1, size.1),
        width: share(extent.0, size.0),
        height: share(extent.1, size.1),
    })
}
