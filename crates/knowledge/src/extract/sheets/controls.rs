//! Captions of buttons and boxes of forms that lie over a sheet, which older and newer files keep in VML.

use super::super::draft::Draft;
use super::super::error::Result;
use super::super::xml::{Node, Xml};
use super::super::zip::Archive;

pub(super) fn add_controls(part: &str, archive: &Archive<'_>, draft: &mut Draft<'_>) -> Result<()> {
    let Some(text) = archive.text(part)? else { return Ok(()) };
    // Programs write it like a web page.
    let text = text.replace("<br>", "<br/>");
    let mut captions = Vec::new();
    if let Err(error) = read_captions(&text, part, draft, &mut captions) {
        draft.warn(format!("Captions of buttons on a sheet are not all read: {error}."));
    }
    for (caption, mark) in captions {
        // Newer files have the caption a second time, without what is ticked.
        let known = draft.last_page().and_then(|page| page.blocks.iter_mut().find(|block| block.text == caption));
        match known {
            Some(block) => block.text.insert_str(0, mark),
            None => draft.paragraph(&format!("{mark}{caption}"))?,
        }
    }
    Ok(())
}

/// Captions, and the mark before each.
fn read_captions(text: &str, part: &str, draft: &Draft<'_>, captions: &mut Vec<(String, &'static str)>) -> Result<()> {
    let mut xml = Xml::new(text, part, draft.budget);
    let (mut caption, mut kind, mut is_ticked) = (String::new(), String::new(), false);
    while let Some(node) = xml.next()? {
        match node {
            Node::Open(element) => match element.name() {
                "shape" => (caption, kind, is_ticked) = (String::new(), String::new(), false),
                "textbox" => caption = xml.inner_text()?.split_whitespace().collect::<Vec<_>>().join(" "),
                "ClientData" => kind = element.attribute("ObjectType").unwrap_or_default(),
                "Checked" => is_ticked = xml.inner_text()?.trim() == "1",
                _ => {}
            },
            Node::Close(name) if name == "shape" => {
                let mark = match kind.as_str() {
                    "" | "Note" | "Pict" => continue,
                    "Checkbox" | "Radio" if is_ticked => "☒ ",
                    "Checkbox" | "Radio" => "☐ ",
                    _ => "",
                };
                if !caption.is_empty() {
                    captions.push((std::mem::take(&mut caption), mark));
                }
            }
            _ => {}
        }
    }
    Ok(())
}
