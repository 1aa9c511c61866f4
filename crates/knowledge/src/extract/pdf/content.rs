//! Carries out the drawing operations of a page as far as they place text, lines and pictures.

use super::super::error::{ExtractError, Result};
use super::super::limits::Budget;
use super::font::{Font, Shown};
use super::pictures::Drawn;
use super::spans::{Glyph, Rule, Spans};
use crate::matrix::Matrix;
use hayro_syntax::Filter;
use hayro_syntax::content::UntypedIter;
use hayro_syntax::object::{Array, Dict, Name, Object, Stream};
use hayro_syntax::page::{Page, Resources};
use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_zlib_with_limit};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Forms within forms.
const FORMS: usize = 12;
const STATES: usize = 200;
/// Deflate can't make more of a byte.
const RATIO: usize = 1032;

/// Decodes streams within the limits, and remembers the fonts of a file.
pub(super) struct Sources<'a> {
    budget: &'a Budget<'a>,
    fonts: RefCell<HashMap<(usize, usize), Rc<Font>>>,
    failure: RefCell<Option<ExtractError>>,
}

impl<'a> Sources<'a> {
    pub fn new(budget: &'a Budget<'a>) -> Self {
        Self { budget, fonts: RefCell::default(), failure: RefCell::default() }
    }

    /// `None` if it can't be decoded.
    pub fn decode(&self, stream: &Stream<'_>) -> Option<Vec<u8>> {
        if let Err(error) = self.check(stream) {
            *self.failure.borrow_mut() = Some(error);
            return None;
        }
        let decoded = stream.decoded_data().ok()?.into_owned();
        match self.budget.unpack(decoded.len()) {
            Ok(()) => Some(decoded),
            Err(error) => {
                *self.failure.borrow_mut() = Some(error);
                None
            }
        }
    }

    /// Tries streams that could become too large before they are decoded without a limit.
    fn check(&self, stream: &Stream<'_>) -> Result<()> {
        let filters = stream.filters();
        let [Filter::FlateDecode, ..] = filters.as_slice() else { return Ok(()) };
        let raw = stream.raw_data();
        let room = self.budget.room();
        if raw.len() < room / RATIO {
            return Ok(());
        }
        match decompress_to_vec_zlib_with_limit(&raw, room) {
            Err(error) if error.status == TINFLStatus::HasMoreOutput => self.budget.unpack(usize::MAX),
            _ => Ok(()),
        }
    }

    fn font(&self, dict: &Dict<'_>) -> Rc<Font> {
        let data = dict.data();
        let key = (data.as_ptr().addr(), data.len());
        if let Some(known) = self.fonts.borrow().get(&key) {
            return Rc::clone(known);
        }
        let font = Rc::new(Font::read(dict, &|stream| self.decode(stream)));
        self.fonts.borrow_mut().insert(key, Rc::clone(&font));
        font
    }

    fn failed(&self) -> Result<()> {
        self.failure.borrow_mut().take().map_or(Ok(()), Err)
    }
}

#[derive(Clone)]
struct State {
    matrix: Matrix,
    font: Option<Rc<Font>>,
    size: f32,
    letter_space: f32,
    word_space: f32,
    /// 1 is as wide as the font is.
    stretch: f32,
    leading: f32,
    rise: f32,
}

/// A part of the page that is marked.
enum Mark {
    Plain,
    /// What stands for its glyphs; taken by the first of them.
    Replaced(String),
}

pub(super) struct Interpreter<'s, 'a> {
    sources: &'s Sources<'a>,
    state: State,
    saved: Vec<State>,
    text: Matrix,
    line: Matrix,
    /// Ends of the lines of the path at work, on the page.
    path: Vec<((f32, f32), (f32, f32))>,
    at: (f32, f32),
    marks: Vec<Mark>,
    pub spans: Spans,
    /// Pictures are kept only where somebody asked for them.
    pictures: Option<Vec<Drawn>>,
}

/// All text of a page's content, with where it stands, from the upper left corner, in points; with `pictures` also these,
/// in the order in which they are drawn.
pub(super) fn interpret(page: &Page<'_>, sources: &Sources<'_>, pictures: bool) -> Result<(Spans, Vec<Drawn>)> {
    let interpreter = Interpreter::of(page, sources, pictures)?;
    Ok((interpreter.spans, interpreter.pictures.unwrap_or_default()))
}

impl<'s, 'a> Interpreter<'s, 'a> {
    /// One that has carried out the content of a page.
    pub fn of(page: &Page<'_>, sources: &'s Sources<'a>, pictures: bool) -> Result<Self> {
        let (width, height) = page.render_dimensions();
        let state = State {
            matrix: Matrix::of(page.initial_transform(true).as_coeffs()),
            font: None,
            size: 1.0,
            letter_space: 0.0,
            word_space: 0.0,
            stretch: 1.0,
            leading: 0.0,
            rise: 0.0,
        };
        let begin = state.clone();
        let mut interpreter = Interpreter {
            sources,
            state,
            saved: Vec::new(),
            text: Matrix::IDENTITY,
            line: Matrix::IDENTITY,
            path: Vec::new(),
            at: (0.0, 0.0),
            marks: Vec::new(),
            spans: Spans::new(width, height),
            pictures: pictures.then(Vec::new),
        };
        let content = page_content(page, sources);
        sources.failed()?;
        interpreter.run(&content, page.resources(), 0)?;
        interpreter.state = begin;
        interpreter.marks.clear();
        Ok(interpreter)
    }

    pub fn sources(&self) -> &'s Sources<'a> {
        self.sources
    }

    /// Counts a step of drawing.
    pub fn count(&self) -> Result<()> {
        self.sources.budget.operation()
    }

    /// From the page's own measures.
    pub fn page_matrix(&self) -> Matrix {
        self.state.matrix
    }

    /// Carries out a form that stands beside the content, fitted into the page by `fit`.
    pub fn draw_form(&mut self, form: &Stream<'_>, fit: Matrix) -> Result<()> {
        let Some(content) = self.sources.decode(form) else { return self.sources.failed() };
        let begin = self.state.clone();
        let own = form.dict().get::<[f64; 6]>("Matrix").map_or(Matrix::IDENTITY, Matrix::of);
        self.state.matrix = own.then(fit).then(begin.matrix);
        let resources = Resources::new(form.dict().get::<Dict<'_>>("Resources").unwrap_or_else(Dict::empty));
        self.run(&content, &resources, 1)?;
        self.state = begin;
        self.marks.clear();
        Ok(())
    }
}

fn page_content(page: &Page<'_>, sources: &Sources<'_>) -> Vec<u8> {
    if let Some(stream) = page.raw().get::<Stream<'_>>("Contents") {
        return sources.decode(&stream).unwrap_or_default();
    }
    let mut all = Vec::new();
    for stream in page.raw().get::<Array<'_>>("Contents").into_iter().flat_map(|list| list.iter::<Stream<'_>>()) {
        all.extend(sources.decode(&stream).unwrap_or_default());
        all.push(b'\n');
    }
    all
}

#[expect(clippy::cast_possible_truncation, reason = "points on a page")]
fn numbers<const N: usize>(operands: &[&Object<'_>]) -> Option<[f32; N]> {
    let mut all = [0.0; N];
    for (slot, operand) in all.iter_mut().zip(operands.get(..N)?) {
        let Object::Number(number) = operand else { return None };
        *slot = number.as_f64() as f32;
    }
    Some(all)
}

/// So many numbers of an array.
#[expect(clippy::cast_possible_truncation, reason = "points on a page")]
pub(super) fn numbers_of<const N: usize>(array: &Array<'_>) -> Option<[f32; N]> {
    let all: Vec<f32> = array.iter::<f64>().map(|number| number as f32).collect();
    all.get(..N)?.try_into().ok()
}

impl Interpreter<'_, '_> {
    fn run(&mut self, content: &[u8], resources: &Resources<'_>, depth: usize) -> Result<()> {
        let mut operations = UntypedIter::new(content);
        let outer = self.saved.len();
        while let Some(operation) = operations.next() {
            self.sources.budget.operation()?;
            let operands: Vec<&Object<'_>> = operation.operands().collect();
            let operator: &[u8] = operation.operator;
            match operator {
                b"q" if self.saved.len() < STATES => self.saved.push(self.state.clone()),
                b"Q" if self.saved.len() > outer => {
                    if let Some(state) = self.saved.pop() {
                        self.state = state;
                    }
                }
                b"Do" => self.draw(&operands, resources, depth)?,
                b"BDC" => self.begin_mark(&operands, resources),
                b"BMC" => self.marks.push(Mark::Plain),
                b"EMC" => drop(self.marks.pop()),
                b"BI" => self.spans.image(self.state.matrix),
                b"Tf" => self.set_font(&operands, resources),
                b"gs" => self.set_state(&operands, resources),
                b"m" | b"l" | b"re" | b"c" | b"v" | b"y" | b"h" | b"n" | b"S" | b"s" | b"f" | b"F" | b"f*" | b"B"
                | b"B*" | b"b" | b"b*" => {
                    self.path(operator, &operands);
                }
                _ => {
                    self.text(operator, &operands);
                }
            }
            self.sources.failed()?;
        }
        self.saved.truncate(outer);
        Ok(())
    }

    fn draw(&mut self, operands: &[&Object<'_>], resources: &Resources<'_>, depth: usize) -> Result<()> {
        let Some(Object::Name(name)) = operands.first() else { return Ok(()) };
        let Some(stream) = resources.get_x_object(name) else { return Ok(()) };
        let dict = stream.dict();
        match dict.get::<Name<'_>>("Subtype").as_deref() {
            Some(b"Image") => {
                self.spans.image(self.state.matrix);
                if let Some(pictures) = &mut self.pictures {
                    self.sources.check(&stream)?;
                    pictures.extend(Drawn::read(&stream, self.state.matrix, self.sources.budget)?);
                }
            }
            Some(b"Form") if depth < FORMS => {
                let Some(content) = self.sources.decode(&stream) else { return self.sources.failed() };
                let own = dict.get::<Dict<'_>>("Resources").map(Resources::new);
                let before = (self.state.clone(), self.text, self.line);
                if let Some(matrix) = dict.get::<[f64; 6]>("Matrix") {
                    self.state.matrix = Matrix::of(matrix).then(self.state.matrix);
                }
                self.run(&content, own.as_ref().unwrap_or(resources), depth + 1)?;
                (self.state, self.text, self.line) = before;
            }
            _ => {}
        }
        Ok(())
    }

    /// Marked parts may say what their glyphs stand for.
    fn begin_mark(&mut self, operands: &[&Object<'_>], resources: &Resources<'_>) {
        let properties = match operands.get(1) {
            Some(Object::Dict(dict)) => Some(dict.clone()),
            Some(Object::Name(name)) => resources.properties.get::<Dict<'_>>(name),
            _ => None,
        };
        let text = properties.and_then(|dict| dict.get::<hayro_syntax::object::String<'_>>("ActualText"));
        self.marks.push(text.map_or(Mark::Plain, |text| Mark::Replaced(super::text_string(text.as_bytes()))));
    }

    fn set_font(&mut self, operands: &[&Object<'_>], resources: &Resources<'_>) {
        let [Object::Name(name), size] = operands else { return };
        if let Some([size]) = numbers(&[*size]) {
            self.state.size = size;
        }
        self.state.font = resources.get_font(name).map(|dict| self.sources.font(&dict));
    }

    fn set_state(&mut self, operands: &[&Object<'_>], resources: &Resources<'_>) {
        let Some(Object::Name(name)) = operands.first() else { return };
        let font = resources.get_ext_g_state(name).and_then(|state| state.get::<Array<'_>>("Font"));
        let Some(font) = font else { return };
        let mut parts = font.flex_iter();
        if let (Some(dict), Some(size)) = (parts.next::<Dict<'_>>(), parts.next::<f32>()) {
            (self.state.font, self.state.size) = (Some(self.sources.font(&dict)), size);
        }
    }

    /// `None` if operands are missing.
    fn path(&mut self, operator: &[u8], operands: &[&Object<'_>]) -> Option<()> {
        const MOST: usize = 2000;
        let matrix = self.state.matrix;
        let has_room = self.path.len() < MOST;
        match operator {
            b"m" => {
                let [x, y] = numbers(operands)?;
                self.at = matrix.apply(x, y);
            }
            b"l" => {
                let [x, y] = numbers(operands)?;
                let to = matrix.apply(x, y);
                self.path.extend(has_room.then_some((self.at, to)));
                self.at = to;
            }
            b"re" if has_room => {
                let [x, y, width, height] = numbers(operands)?;
                let (low, high) = (matrix.apply(x, y), matrix.apply(x + width, y + height));
                self.path.push((low, (high.0, low.1)));
                self.path.push(((low.0, high.1), high));
            }
            b"re" | b"c" | b"v" | b"y" | b"h" => {}
            b"n" => self.path.clear(),
            _ => {
                for (from, to) in std::mem::take(&mut self.path) {
                    if (from.1 - to.1).abs() < 1.0 {
                        self.spans.rule(Rule { x0: from.0.min(to.0), x1: from.0.max(to.0), y: from.1 });
                    }
                }
            }
        }
        Some(())
    }

    /// `None` if operands are missing.
    fn text(&mut self, operator: &[u8], operands: &[&Object<'_>]) -> Option<()> {
        match operator {
            b"cm" => self.state.matrix = Matrix(numbers(operands)?).then(self.state.matrix),
            b"BT" => (self.text, self.line) = (Matrix::IDENTITY, Matrix::IDENTITY),
            b"Tm" => {
                self.line = Matrix(numbers(operands)?);
                self.text = self.line;
            }
            b"Td" => {
                let [x, y] = numbers(operands)?;
                self.next_line(x, y);
            }
            b"TD" => {
                let [x, y] = numbers(operands)?;
                self.state.leading = -y;
                self.next_line(x, y);
            }
            b"T*" => self.next_line(0.0, -self.state.leading),
            b"Tc" => [self.state.letter_space] = numbers(operands)?,
            b"Tw" => [self.state.word_space] = numbers(operands)?,
            b"Tz" => {
                let [percent] = numbers(operands)?;
                self.state.stretch = percent / 100.0;
            }
            b"TL" => [self.state.leading] = numbers(operands)?,
            b"Ts" => [self.state.rise] = numbers(operands)?,
            b"Tj" => self.show_all(operands),
            b"'" => {
                self.next_line(0.0, -self.state.leading);
                self.show_all(operands);
            }
            b"\"" => {
                if let Some([word, letter]) = numbers(operands) {
                    (self.state.word_space, self.state.letter_space) = (word, letter);
                }
                self.next_line(0.0, -self.state.leading);
                self.show_all(operands);
            }
            b"TJ" => {
                let Object::Array(parts) = operands.first()? else { return None };
                for part in parts.iter::<Object<'_>>() {
                    if let Object::String(string) = part {
                        self.show(string.as_bytes());
                    } else if let Some([back]) = numbers(&[&part]) {
                        self.advance(-back / 1000.0 * self.state.size * self.state.stretch);
                    }
                }
            }
            _ => {}
        }
        Some(())
    }

    fn next_line(&mut self, x: f32, y: f32) {
        self.line = Matrix([1.0, 0.0, 0.0, 1.0, x, y]).then(self.line);
        self.text = self.line;
    }

    fn advance(&mut self, by: f32) {
        self.text = Matrix([1.0, 0.0, 0.0, 1.0, by, 0.0]).then(self.text);
    }

    fn show_all(&mut self, operands: &[&Object<'_>]) {
        for operand in operands {
            if let Object::String(string) = operand {
                self.show(string.as_bytes());
            }
        }
    }

    fn show(&mut self, string: &[u8]) {
        let Some(font) = self.state.font.clone() else { return };
        font.show(string, |shown| self.glyph(&font, shown));
    }

    fn glyph(&mut self, font: &Font, shown: Shown) {
        let State { size, letter_space, word_space, stretch, rise, matrix, .. } = self.state;
        let space = letter_space + if shown.is_space { word_space } else { 0.0 };
        let (width, step) = (shown.width * size * stretch, (shown.width * size + space) * stretch);
        let place = self.text.then(matrix);
        let (from, to) = (place.apply(0.0, rise), place.apply(width, rise));
        let replaced = self.marks.iter_mut().rev().find_map(|mark| match mark {
            Mark::Replaced(text) => Some(std::mem::take(text)),
            Mark::Plain => None,
        });
        let text = replaced.or(shown.text);
        self.spans.glyph(&Glyph {
            text,
            from,
            to,
            direction: place.direction(),
            size: place.height() * size.abs(),
            // Letters that are set apart are no words.
            spread: (letter_space * stretch * place.width()).max(0.0),
            is_mono: font.is_mono,
            is_bold: font.is_bold,
        });
        self.advance(step);
    }
}
