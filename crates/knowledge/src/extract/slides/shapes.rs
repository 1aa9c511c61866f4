//! The shapes of a slide.

use super::super::draft::Draft;
use super::super::drawing::{Outside, add_outside, description, run_style};
use super::super::error::Result;
use super::super::escapes::unescape;
use super::super::formula;
use super::super::list_number::written;
use super::super::mail::ReadAttached;
use super::super::office::read_embedded;
use super::super::relations::{self, Relations};
use super::super::rich_text::{RichText, TextStyle};
use super::super::table;
use super::super::xml::{Element, Node, Xml};
use super::super::zip::Archive;
use std::collections::HashSet;
use steward_core::extracted::{Area, BlockKind};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Slide,
    /// A layout or master, whose places for texts are filled by slides.
    Background,
    /// They have no place on the slide.
    Notes,
}

pub(super) struct Shapes<'s, 'a> {
    pub archive: &'s Archive<'a>,
    pub size: (f64, f64),
    pub attached: ReadAttached<'s>,
    /// Footers that were read already.
    pub seen: HashSet<String>,
}

#[derive(Default)]
struct Shape {
    /// Of a place for text.
    kind: String,
    area: Option<Area>,
    paragraphs: Vec<Paragraph>,
    rows: Vec<Vec<String>>,
    description: Option<String>,
    outside: Vec<Outside>,
}

#[derive(Default)]
struct Paragraph {
    runs: RichText,
    /// What the runs said, when the shape has ended.
    text: String,
    level: usize,
    has_bullet: bool,
    /// How its number is written, and where that begins.
    numbering: Option<(String, u32)>,
}

impl Shape {
    fn add(&mut self, text: &str, style: TextStyle) {
        if let Some(last) = self.paragraphs.last_mut() {
            last.runs.add(text, style);
        }
    }

    fn end_runs(&mut self) {
        self.paragraphs.iter_mut().for_each(|paragraph| paragraph.text = paragraph.runs.take());
    }

    /// Writes the numbers of paragraphs into their texts.
    fn number(&mut self) {
        // How far each level is counted, and in which way.
        let mut counted: Vec<(String, u32)> = Vec::new();
        for paragraph in self.paragraphs.iter_mut().filter(|paragraph| !paragraph.text.trim().is_empty()) {
            counted.truncate(paragraph.level + 1);
            let Some((way, start)) = &paragraph.numbering else {
                counted.truncate(paragraph.level);
                continue;
            };
            counted.resize_with(paragraph.level + 1, Default::default);
            let own = &mut counted[paragraph.level];
            let number = if own.0 == *way { own.1.saturating_add(1) } else { *start };
            *own = (way.clone(), number);
            paragraph.text = format!("{} {}", automatic(number, way), paragraph.text.trim_start());
        }
    }
}

/// A number as `buAutoNum` says, such as `alphaLcParenR`.
fn automatic(number: u32, way: &str) -> String {
    let how = match () {
        () if way.starts_with("alphaLc") => "lowerLetter",
        () if way.starts_with("alphaUc") => "upperLetter",
        () if way.starts_with("romanLc") => "lowerRoman",
        () if way.starts_with("romanUc") => "upperRoman",
        () if way.starts_with("circleNum") => "decimalEnclosedCircle",
        () => "decimal",
    };
    let number = written(number, how);
    match () {
        () if way.ends_with("Period") => format!("{number}."),
        () if way.ends_with("ParenBoth") => format!("({number})"),
        () if way.ends_with("ParenR") => format!("{number})"),
        () if way.ends_with("Minus") => format!("{number}-"),
        () => number,
    }
}

impl Shapes<'_, '_> {
    pub fn read(&mut self, text: &str, part: &str, source: Source, draft: &mut Draft<'_>) -> Result<()> {
        let related = relations::of(part, self.archive, draft.budget)?;
        let mut xml = Xml::new(text, part, draft.budget);
        let (mut shape, mut offset, mut style) = (Shape::default(), (0.0, 0.0), TextStyle::default());
        // A shape may have a bullet without saying so, as its layout does.
        let (mut titles, mut in_frame) = (0, false);
        while let Some(node) = xml.next()? {
            match node {
                Node::Open(element) => match element.name() {
                    "sp" | "cxnSp" => shape = Shape::default(),
                    "graphicFrame" => (shape, in_frame) = (Shape::default(), true),
                    // An object of another program has a picture of itself.
                    "pic" if in_frame => {}
                    "pic" => {
                        shape = Shape::default();
                        // Logos are on every slide.
                        if source == Source::Slide {
                            draft.count_picture();
                        }
                    }
                    "cNvPr" if source == Source::Slide => shape.description = description(&element),
                    "ph" => shape.kind = element.attribute("type").unwrap_or_else(|| "body".to_owned()),
                    "off" => offset = point(&element, "x", "y"),
                    "ext" if element.attribute("cx").is_some() => {
                        let size = self.size;
                        shape.area = (source == Source::Slide)
                            .then(|| area(offset, point(&element, "cx", "cy"), size))
                            .flatten();
                    }
                    "p" => shape.paragraphs.push(Paragraph::default()),
                    "pPr" => {
                        let level = element.attribute("lvl").and_then(|level| level.parse::<usize>().ok());
                        shape.paragraphs.last_mut().into_iter().for_each(|one| one.level = level.unwrap_or(0).min(8));
                    }
                    "buChar" => shape.paragraphs.last_mut().into_iter().for_each(|one| one.has_bullet = true),
                    "buAutoNum" => {
                        if let Some(paragraph) = shape.paragraphs.last_mut() {
                            let start = element.attribute("startAt").and_then(|start| start.parse().ok()).unwrap_or(1);
                            paragraph.has_bullet = true;
                            paragraph.numbering = element.attribute("type").map(|way| (way, start));
                        }
                    }
                    "r" | "fld" => style = TextStyle::default(),
                    "rPr" => style = run_style(&element),
                    "t" => shape.add(&unescape(&xml.inner_text()?), style),
                    "oMath" => shape.add(&formula::read(&mut xml)?, TextStyle::default()),
                    "br" => shape.add("\n", TextStyle::default()),
                    "tr" => shape.rows.push(Vec::new()),
                    "videoFile" | "audioFile" | "wavAudioFile" | "quickTimeFile" => {
                        draft.warn("Sound and films in it are not read.");
                    }
                    _ => shape.outside.extend(Outside::of(&element, &xml)),
                },
                Node::Close(name) => match name.as_str() {
                    "tc" => {
                        shape.end_runs();
                        let cell: Vec<String> = shape.paragraphs.drain(..).map(|paragraph| paragraph.text).collect();
                        if let Some(row) = shape.rows.last_mut() {
                            row.push(cell.join(" "));
                        }
                    }
                    "pic" if in_frame => {}
                    "sp" | "graphicFrame" | "pic" | "cxnSp" => {
                        in_frame = false;
                        let ended = std::mem::take(&mut shape);
                        titles += usize::from(ended.kind.to_lowercase().contains("title"));
                        if source != Source::Background || ended.kind.is_empty() {
                            self.end(ended, titles > 1, &related, draft)?;
                        }
                    }
                    _ => {}
                },
                Node::Text(_) => {}
            }
        }
        Ok(())
    }

    fn end(&mut self, mut shape: Shape, has_title: bool, related: &Relations, draft: &mut Draft<'_>) -> Result<()> {
        table::add(&shape.rows, draft)?;
        shape.end_runs();
        let is_title = matches!(shape.kind.as_str(), "title" | "ctrTitle") && !has_title;
        match shape.kind.as_str() {
            // Which slide it is, when, and a picture of it.
            "sldNum" | "dt" | "sldImg" => return Ok(()),
            "ftr" | "hdr" => {
                let seen = &mut self.seen;
                shape.paragraphs.retain(|paragraph| seen.insert(paragraph.text.trim().to_owned()));
            }
            _ => {}
        }
        shape.number();
        let items = shape.paragraphs.iter().filter(|paragraph| !paragraph.text.trim().is_empty()).count();
        for paragraph in &shape.paragraphs {
            let kind = match () {
                () if is_title => BlockKind::Heading { level: 1 },
                () if paragraph.has_bullet || shape.kind == "body" && items > 1 => BlockKind::ListItem,
                () => BlockKind::Paragraph,
            };
            draft.block_at(kind, &paragraph.text, shape.area)?;
        }
        if let Some(text) = &shape.description {
            draft.block_at(BlockKind::Paragraph, &format!("Description: {text}"), shape.area)?;
        }
        for outside in &shape.outside {
            if let Outside::File(id) = outside {
                if let Some(relation) = related.by_id(id) {
                    let (pages, _) = draft.position();
                    read_embedded(relation, self.archive, draft, &mut *self.attached)?;
                    draft.join_pages(pages);
                }
            } else {
                add_outside(outside, related, self.archive, draft)?;
            }
        }
        Ok(())
    }
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
