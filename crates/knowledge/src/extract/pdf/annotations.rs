//! What a page shows beside its content: values of form fields, and annotations. Texts that stand on the page join its spans
//! where they stand, so that a value is read after its label; remarks of readers come after the page.

use super::content::{Interpreter, Sources, numbers_of};
use super::spans::Glyph;
use super::text_string;
use crate::matrix::Matrix;
use hayro_syntax::Pdf;
use hayro_syntax::object::{Array, Dict, MaybeRef, Name, Object, Rect, Stream, String as PdfString};
use hayro_syntax::page::Page;
use std::collections::HashSet;

/// Fields above a field.
const PARENTS: usize = 32;
const FIELDS: usize = 50_000;
/// Letters are about so wide and so far below their line, in sizes.
const WIDTH: f32 = 0.5;
const DESCENT: f32 = 0.25;
const USUAL_SIZE: f32 = 10.0;
const MULTILINE: i32 = 1 << 12;
const PASSWORD: i32 = 1 << 13;
/// Kinds whose texts are part of the page.
const SHOWN: &[&[u8]] = &[b"FreeText", b"Stamp", b"Watermark", b"Line", b"Square", b"Circle", b"Polygon", b"PolyLine"];
/// Kinds that lead somewhere or belong to another annotation.
const WITHOUT_TEXT: &[&[u8]] = &[b"Link", b"Popup", b"PrinterMark", b"TrapNet"];

/// The fields of a document that stand on a page.
#[derive(Default)]
pub(super) struct Fields {
    seen: HashSet<Vec<u8>>,
}

/// A remark of a reader.
pub(super) struct Remark(pub String);

/// Adds what annotations show, and gives the remarks.
pub(super) fn draw(
    interpreter: &mut Interpreter<'_, '_>,
    page: &Page<'_>,
    fields: &mut Fields,
) -> super::Result<Vec<Remark>> {
    let mut remarks = Vec::new();
    for annotation in dicts(page.raw(), "Annots") {
        interpreter.count()?;
        let kind = annotation.get::<Name<'_>>("Subtype");
        let kind = kind.as_deref().unwrap_or_default();
        if kind == b"Widget" {
            let name = full_name(&annotation);
            let shown = if is_button(&annotation) {
                // Its name is for programs; what it means stands beside it.
                state_of_button(&annotation).map(|state| if state.is_empty() { "[ ]" } else { "[x]" }.to_owned())
            } else {
                value(&annotation, interpreter.sources())
            };
            match shown {
                Some(text) if !text.trim().is_empty() => write(interpreter, &annotation, &text),
                Some(_) => {}
                None => {
                    let letters = interpreter.spans.letters;
                    draw_appearance(interpreter, &annotation)?;
                    if let Some(text) = caption(&annotation).filter(|_| interpreter.spans.letters == letters) {
                        write(interpreter, &annotation, &text);
                    }
                }
            }
            fields.seen.insert(name);
        } else if SHOWN.contains(&kind) {
            let letters = interpreter.spans.letters;
            draw_appearance(interpreter, &annotation)?;
            if interpreter.spans.letters == letters
                && let Some(text) = text_of(&annotation, "Contents")
            {
                write(interpreter, &annotation, &text);
            }
        } else if !WITHOUT_TEXT.contains(&kind)
            && let Some(text) = text_of(&annotation, "Contents")
        {
            let author = text_of(&annotation, "T").map(|author| format!(" by {author}")).unwrap_or_default();
            remarks.push(Remark(format!("Comment{author}: {text}")));
        }
    }
    Ok(remarks)
}

/// Values of fields that stand on no page, as `name: value`; a button's is the name of its state, as nothing else tells it.
pub(super) fn without_a_place(pdf: &Pdf, fields: &Fields, sources: &Sources<'_>) -> Vec<String> {
    let mut found = Vec::new();
    let Some(form) = form(pdf) else { return found };
    let mut waiting = fields_of(pdf, &form, "Fields");
    waiting.reverse();
    let mut looked_at = 0;
    while let Some(field) = waiting.pop() {
        looked_at += 1;
        if looked_at > FIELDS {
            break;
        }
        let mut below = fields_of(pdf, &field, "Kids");
        below.retain(|kid| kid.contains_key("T"));
        if below.is_empty() {
            let name = full_name(&field);
            let text = value(&field, sources).filter(|text| !text.trim().is_empty());
            if let Some(text) = text.filter(|_| !fields.seen.contains(&name)) {
                found.push(format!("{}: {text}", text_string(&name)));
            }
        }
        below.reverse();
        waiting.extend(below);
    }
    found
}

/// What of a document is not read, with what to do.
pub(super) fn left_out(pdf: &Pdf) -> Vec<String> {
    let mut found = Vec::new();
    if form(pdf).is_some_and(|form| form.contains_key("XFA")) {
        found.push(
            "It has a form in XFA, of which only what stands on its pages is read. If values are missing, print the form \
             into another PDF and add that."
                .to_owned(),
        );
    }
    let mut names = Vec::new();
    let catalog = pdf.xref().get::<Dict<'_>>(pdf.xref().root_id());
    let tree = catalog.and_then(|root| root.get::<Dict<'_>>("Names")?.get::<Dict<'_>>("EmbeddedFiles"));
    let mut waiting: Vec<Dict<'_>> = tree.into_iter().collect();
    let mut looked_at = 0;
    while let Some(node) = waiting.pop() {
        looked_at += 1;
        if looked_at > FIELDS {
            break;
        }
        names.extend(dicts(&node, "Names").map(|file| name_of_file(&file)));
        waiting.extend(dicts(&node, "Kids"));
    }
    for page in pdf.pages().iter() {
        for annotation in dicts(page.raw(), "Annots") {
            if let Some(file) = annotation.get::<Dict<'_>>("FS") {
                names.push(name_of_file(&file));
            }
        }
    }
    names.sort();
    names.dedup();
    found
        .extend(names.into_iter().map(|name| format!("`{name}`, which is attached, is not read; save it and add it.")));
    found
}

fn name_of_file(file: &Dict<'_>) -> String {
    text_of(file, "UF").or_else(|| text_of(file, "F")).unwrap_or_else(|| "a file".to_owned())
}

fn form<'p>(pdf: &'p Pdf) -> Option<Dict<'p>> {
    pdf.xref().get::<Dict<'p>>(pdf.xref().root_id())?.get::<Dict<'p>>("AcroForm")
}

/// Each read anew from the file: the library doesn't find a field's parent where the field was come to through it.
fn fields_of<'p>(pdf: &'p Pdf, of: &Dict<'p>, key: &str) -> Vec<Dict<'p>> {
    let all = of.get::<Array<'p>>(key);
    let all = all.into_iter().flat_map(|list| list.raw_iter().collect::<Vec<_>>());
    all.filter_map(|one| match one {
        MaybeRef::Ref(reference) => pdf.xref().get::<Dict<'p>>(reference.into()),
        MaybeRef::NotRef(Object::Dict(field)) => Some(field),
        MaybeRef::NotRef(_) => None,
    })
    .collect()
}

/// Those of an array, whatever stands between them.
fn dicts<'p>(of: &Dict<'p>, key: &str) -> impl Iterator<Item = Dict<'p>> {
    let all = of.get::<Array<'p>>(key);
    all.into_iter().flat_map(|list| list.iter::<Object<'p>>().collect::<Vec<_>>()).filter_map(|one| match one {
        Object::Dict(dict) => Some(dict),
        _ => None,
    })
}

fn text_of(dict: &Dict<'_>, key: &str) -> Option<String> {
    let text = text_string(dict.get::<PdfString<'_>>(key)?.as_bytes());
    (!text.trim().is_empty()).then_some(text)
}

/// A field and those above it, which it has what it lacks from.
fn lineage<'p>(field: &Dict<'p>) -> impl Iterator<Item = Dict<'p>> {
    std::iter::successors(Some(field.clone()), |one| one.get::<Dict<'p>>("Parent")).take(PARENTS)
}

fn full_name(field: &Dict<'_>) -> Vec<u8> {
    let mut parts: Vec<Vec<u8>> =
        lineage(field).filter_map(|one| Some(one.get::<PdfString<'_>>("T")?.as_bytes().to_vec())).collect();
    parts.reverse();
    parts.join(&b'.')
}

fn flags(field: &Dict<'_>) -> i32 {
    lineage(field).find_map(|one| one.get::<i32>("Ff")).unwrap_or_default()
}

/// What a field says; `None` where its appearance may say more, empty where nobody is to read it.
fn value(field: &Dict<'_>, sources: &Sources<'_>) -> Option<String> {
    let kind = lineage(field).find_map(|one| one.get::<Name<'_>>("FT"));
    let value = lineage(field).find_map(|one| one.get::<Object<'_>>("V"));
    match kind.as_deref() {
        Some(b"Btn") => state_of_button(field).map(|state| match state.as_str() {
            "" => "[ ]".to_owned(),
            state => format!("[x] {state}"),
        }),
        Some(b"Sig") => match value {
            Some(Object::Dict(signature)) => Some(signed(&signature)),
            _ => None,
        },
        Some(b"Tx") if flags(field) & PASSWORD != 0 => Some(String::new()),
        _ => match value? {
            Object::Array(several) => {
                let texts = several.iter::<PdfString<'_>>().map(|one| chosen(field, text_string(one.as_bytes())));
                Some(texts.collect::<Vec<_>>().join(", "))
            }
            Object::String(one) => Some(chosen(field, text_string(one.as_bytes()))),
            Object::Name(one) => Some(one.as_str().to_owned()),
            Object::Number(one) => Some(one.as_f64().to_string()),
            Object::Stream(long) => Some(text_string(&sources.decode(&long)?)),
            _ => None,
        },
    }
}

/// A choice is kept under a name and shown under another.
fn chosen(field: &Dict<'_>, value: String) -> String {
    let options = lineage(field).find_map(|one| one.get::<Array<'_>>("Opt"));
    let pairs = options.into_iter().flat_map(|list| list.iter::<Array<'_>>());
    for pair in pairs {
        let mut texts = pair.iter::<PdfString<'_>>().map(|one| text_string(one.as_bytes()));
        if let (Some(kept), Some(shown)) = (texts.next(), texts.next())
            && kept == value
        {
            return shown;
        }
    }
    value
}

fn is_button(field: &Dict<'_>) -> bool {
    lineage(field).find_map(|one| one.get::<Name<'_>>("FT")).as_deref() == Some(b"Btn")
}

/// Of a button that is pushed.
fn is_pushed(field: &Dict<'_>) -> bool {
    const PUSHED: i32 = 1 << 16;
    is_button(field) && flags(field) & PUSHED != 0
}

/// What stands on a button that is pushed.
fn caption(field: &Dict<'_>) -> Option<String> {
    is_pushed(field).then(|| text_of(&field.get::<Dict<'_>>("MK")?, "CA"))?
}

/// The name of the chosen state, empty if none is; `None` for a button that is pushed, which has a caption.
fn state_of_button(field: &Dict<'_>) -> Option<String> {
    if is_pushed(field) {
        return None;
    }
    let state = field.get::<Name<'_>>("AS").or_else(|| lineage(field).find_map(|one| one.get::<Name<'_>>("V")));
    Some(state.map(|state| state.as_str().to_owned()).filter(|state| state != "Off").unwrap_or_default())
}

fn signed(signature: &Dict<'_>) -> String {
    let mut text = "Signed".to_owned();
    for (key, before) in [("Name", " by "), ("Location", ", "), ("Reason", ", ")] {
        if let Some(part) = text_of(signature, key) {
            text.push_str(before);
            text.push_str(&part);
        }
    }
    // `D:20250901083000+02'00'`
    let date = text_of(signature, "M").and_then(|date| date.strip_prefix("D:")?.get(..8).map(str::to_owned));
    if let Some(date) = date.filter(|date| date.bytes().all(|byte| byte.is_ascii_digit())) {
        text = format!("{text} on {}-{}-{}", &date[..4], &date[4..6], &date[6..]);
    }
    text
}

#[expect(clippy::cast_possible_truncation, reason = "points on a page")]
fn place(annotation: &Dict<'_>) -> Option<[f32; 4]> {
    let rect = annotation.get::<Rect>("Rect")?;
    Some([rect.x0.min(rect.x1), rect.y0.min(rect.y1), rect.x0.max(rect.x1), rect.y0.max(rect.y1)].map(|at| at as f32))
}

/// The text as its field would show it: in the middle of its box, or from its upper edge where it may have several lines.
fn write(interpreter: &mut Interpreter<'_, '_>, annotation: &Dict<'_>, text: &str) {
    let Some([x0, y0, x1, y1]) = place(annotation) else { return };
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let is_long = lines.len() > 1 || flags(annotation) & MULTILINE != 0;
    let height = y1 - y0;
    let said = lineage(annotation).find_map(|one| font_size(&one.get::<PdfString<'_>>("DA")?));
    let size = said.unwrap_or(if is_long { USUAL_SIZE } else { (height * 0.7).clamp(4.0, USUAL_SIZE) });
    let first = if is_long { y1 - size } else { y0 + (height - size) / 2.0 + DESCENT * size };
    let mut line_y = first;
    for line in lines {
        let width = f32::from(u16::try_from(line.chars().count()).unwrap_or(u16::MAX)) * WIDTH * size;
        let matrix = interpreter.page_matrix();
        interpreter.spans.glyph(&Glyph {
            text: Some(line.to_owned()),
            from: matrix.apply(x0 + 2.0, line_y),
            to: matrix.apply((x0 + 2.0 + width).min(x1.max(x0 + 3.0)), line_y),
            direction: matrix.direction(),
            size: size * matrix.height(),
            spread: 0.0,
            is_mono: false,
            is_bold: false,
        });
        line_y -= size * 1.2;
    }
}

/// Of `/Helv 10 Tf 0 g`; 0 is for a size that fits.
fn font_size(appearance: &PdfString<'_>) -> Option<f32> {
    let text = String::from_utf8_lossy(appearance.as_bytes()).into_owned();
    let words: Vec<&str> = text.split_whitespace().collect();
    let at = words.iter().position(|word| *word == "Tf")?;
    let size: f32 = words.get(at.checked_sub(1)?)?.parse().ok()?;
    (size >= 1.0).then_some(size)
}

/// Text of the drawing that a program made of the annotation, put where it is.
fn draw_appearance(interpreter: &mut Interpreter<'_, '_>, annotation: &Dict<'_>) -> super::Result<()> {
    let Some([x0, y0, x1, y1]) = place(annotation) else { return Ok(()) };
    let Some(looks) = annotation.get::<Dict<'_>>("AP") else { return Ok(()) };
    let state = annotation.get::<Name<'_>>("AS");
    let of_state = || looks.get::<Dict<'_>>("N")?.get::<Stream<'_>>(state?);
    let Some(stream) = looks.get::<Stream<'_>>("N").or_else(of_state) else { return Ok(()) };
    let own = stream.dict().get::<[f64; 6]>("Matrix").map_or(Matrix::IDENTITY, Matrix::of);
    let Some([a, b, c, d]) = stream.dict().get::<Array<'_>>("BBox").and_then(|bounds| numbers_of(&bounds)) else {
        return Ok(());
    };
    let corners = [(a, b), (a, d), (c, b), (c, d)].map(|(x, y)| own.apply(x, y));
    let (mut low, mut high) = (corners[0], corners[0]);
    for (x, y) in corners {
        low = (low.0.min(x), low.1.min(y));
        high = (high.0.max(x), high.1.max(y));
    }
    let scale = |to: f32, from: f32| if from.abs() < 0.01 { 1.0 } else { to / from };
    let (across, up) = (scale(x1 - x0, high.0 - low.0), scale(y1 - y0, high.1 - low.1));
    let fit = Matrix([across, 0.0, 0.0, up, x0 - low.0 * across, y0 - low.1 * up]);
    interpreter.draw_form(&stream, fit)
}
