//! Pictures that are the values of cells, and how they are described.

use super::super::error::Result;
use super::super::limits::Budget;
use super::super::relations::Relations;
use super::super::xml::{Node, Xml};
use super::super::zip::Archive;

/// By the number (from 1) that cells name, what is there; `None`: no picture.
#[derive(Default)]
pub(super) struct CellPictures(Vec<Option<String>>);

impl CellPictures {
    pub fn read(related: &Relations, archive: &Archive<'_>, budget: &Budget<'_>) -> Result<Self> {
        let part = |kind: &str| related.text_of(kind, archive);
        let (Some(metadata), Some(values), Some(structures)) =
            (part("sheetMetadata")?, part("rdRichValue")?, part("rdRichValueStructure")?)
        else {
            return Ok(Self::default());
        };
        // Of each structure, whether it is a picture, and which of its values describes it.
        let mut kinds: Vec<(bool, usize, Option<usize>)> = Vec::new();
        let mut xml = Xml::new(&structures, "rdRichValueStructure", budget);
        while let Some(element) = xml.next_open()? {
            match (element.name(), kinds.last_mut()) {
                ("s", _) => kinds.push((element.attribute("t").is_some_and(|kind| kind.ends_with("Image")), 0, None)),
                ("k", Some((_, count, text))) => {
                    if element.attribute("n").is_some_and(|name| name == "Text") {
                        *text = Some(*count);
                    }
                    *count += 1;
                }
                _ => {}
            }
        }
        let mut pictures: Vec<Option<String>> = Vec::new();
        let mut xml = Xml::new(&values, "rdRichValue", budget);
        let (mut kind, mut at) = ((false, 0, None), 0);
        while let Some(element) = xml.next_open()? {
            match element.name() {
                "rv" => {
                    let which = element.attribute("s").and_then(|which| which.parse::<usize>().ok());
                    kind = which.and_then(|which| kinds.get(which)).copied().unwrap_or_default();
                    pictures.push(kind.0.then(String::new));
                    at = 0;
                }
                "v" => {
                    let text = xml.inner_text()?;
                    if kind.2 == Some(at) {
                        pictures.last_mut().into_iter().flatten().for_each(|picture| picture.push_str(text.trim()));
                    }
                    at += 1;
                }
                _ => {}
            }
        }
        Self::named(&metadata, &pictures, budget)
    }

    /// Cells name a value of the metadata, which names one of a second list, which names the picture.
    fn named(metadata: &str, pictures: &[Option<String>], budget: &Budget<'_>) -> Result<Self> {
        let (mut second, mut first): (Vec<Option<usize>>, Vec<Option<usize>>) = (Vec::new(), Vec::new());
        let (mut in_rich, mut in_values) = (false, false);
        let mut xml = Xml::new(metadata, "metadata", budget);
        while let Some(node) = xml.next()? {
            match node {
                Node::Open(element) => {
                    let number = |name: &str| element.attribute(name).and_then(|at| at.parse::<usize>().ok());
                    match element.name() {
                        "futureMetadata" => {
                            in_rich = element.attribute("name").is_some_and(|name| name == "XLRICHVALUE");
                        }
                        "valueMetadata" => in_values = true,
                        "bk" if in_values => first.push(None),
                        "bk" if in_rich => second.push(None),
                        "rc" if in_values => first.last_mut().into_iter().for_each(|at| *at = number("v")),
                        "rvb" if in_rich => second.last_mut().into_iter().for_each(|at| *at = number("i")),
                        _ => {}
                    }
                }
                Node::Close(name) => match name.as_str() {
                    "futureMetadata" => in_rich = false,
                    "valueMetadata" => in_values = false,
                    _ => {}
                },
                Node::Text(_) => {}
            }
        }
        let picture = |at: Option<usize>| pictures.get((*second.get(at?)?)?).cloned().flatten();
        Ok(Self(first.into_iter().map(picture).collect()))
    }

    /// The description of the picture that a cell names, empty where there is none; `None`: it names no picture.
    pub fn description(&self, number: usize) -> Option<&str> {
        self.0.get(number.checked_sub(1)?)?.as_deref()
    }
}
