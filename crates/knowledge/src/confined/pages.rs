//! Reads pages that are pictures: the picture is taken out of its file and prepared in a confined process of this same
//! program, which reads it with models, or hands it on to Tesseract, which is confined as well.

use super::page_child::{self, Answer, COMMAND, Purpose};
use super::process::{crashed, empty_folder, ended_well, failure, not_utf_8, unavailable, unreadable};
use crate::extract::ExtractLimits;
use crate::ocr::{MODEL_FILES, Place, Steps, read_tsv};
use async_trait::async_trait;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::time::Duration;
use steward_core::extracted::{ExtractFailure, ExtractFailureKind, OcrEngine, PageReading};
use steward_core::live::Live;
use steward_core::ports::PageReader;
use steward_sandbox::process::{Access, CommandSpec, Exit, Helper, Limits, Outcome, Sandbox, SandboxError};
use tokio::io::AsyncRead;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

/// What Tesseract reads unless somebody says otherwise, as far as it is installed.
pub const LANGUAGES: &str = "eng+deu+fra+spa";
/// Dots per inch of pages that another program draws.
const DPI: &str = "300";

/// Where the engines are.
#[derive(Debug, Clone, Default)]
pub struct Engines {
    /// The program; `None`: not installed.
    pub tesseract: Option<PathBuf>,
    /// The program that draws pages of PDFs without a picture that can be read here.
    pub pdftoppm: Option<PathBuf>,
    /// The folder of the models; `None` or without its files: not installed.
    pub models: Option<PathBuf>,
    /// Languages as Tesseract names them, joined by `+`.
    pub languages: String,
}

impl Engines {
    /// Programs in these folders.
    pub fn find(folders: &[PathBuf], models: PathBuf, languages: Option<String>) -> Self {
        let program = |name: &str| folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file());
        let languages = languages.unwrap_or_else(|| LANGUAGES.to_owned());
        Self { tesseract: program("tesseract"), pdftoppm: program("pdftoppm"), models: Some(models), languages }
    }

    /// Languages as Tesseract names them, joined by `+`: `eng`, `chi_sim`, `script/Latin`.
    pub fn languages(text: &str) -> Result<String, String> {
        let is_name = |name: &&str| {
            let mut letters = name.chars();
            letters.next().is_some_and(|first| first.is_ascii_alphabetic())
                && letters.all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '/'))
        };
        let names: Vec<&str> = text.split([',', '+', ' ']).filter(|name| !name.is_empty()).collect();
        match names.iter().find(|name| !is_name(name)) {
            None if !names.is_empty() => Ok(names.join("+")),
            _ => Err(format!("STEWARD_OCR_LANGUAGES is `{text}`; name languages as Tesseract does, such as eng,deu")),
        }
    }

    fn models(&self) -> Option<&Path> {
        self.models.as_deref().filter(|folder| MODEL_FILES.iter().all(|file| folder.join(file).is_file()))
    }
}

pub struct ConfinedPages {
    sandbox: Sandbox,
    program: PathBuf,
    installed: Live<Installed>,
    steps: Steps,
    process: Limits,
}

#[derive(Default)]
struct Installed {
    engines: Engines,
    /// Of those that are wanted, the languages that Tesseract has.
    languages: OnceCell<String>,
}

impl ConfinedPages {
    pub fn new(helper: Helper, engines: Engines) -> Self {
        let process = Limits {
            wall: Duration::from_mins(4),
            cpu_s: 180,
            memory_bytes: 3 << 30,
            processes: 32,
            file_bytes: 4096,
            // A prepared picture, a byte a pixel.
            output_bytes: 128 << 20,
            ..Limits::default()
        };
        let program = helper.program.clone();
        let (sandbox, steps) = (Sandbox::new(helper), Steps::default());
        let installed = Live::new(Installed { engines, languages: OnceCell::new() });
        Self { sandbox, program, installed, steps, process }
    }

    /// For the pages that are read next.
    pub fn change_engines(&self, engines: Engines) {
        self.installed.replace(Installed { engines, languages: OnceCell::new() });
    }

    /// Languages that are wanted.
    pub fn languages(&self) -> String {
        self.installed.get().engines.languages.clone()
    }

    /// With only these steps of preparation.
    #[must_use]
    pub fn with_steps(mut self, steps: Steps) -> Self {
        self.steps = steps;
        self
    }

    /// The page prepared for a purpose; drawn by another program where that is needed.
    async fn look(&self, purpose: Purpose, file: &Path, page: u32) -> Result<(Answer, Vec<u8>), ExtractFailure> {
        let input = tokio::fs::File::open(file).await.map_err(|error| unreadable(&error))?;
        let (answer, rest) = self.child(purpose, page, input).await?;
        if !matches!(answer, Answer::NeedsDrawing) {
            return Ok((answer, rest));
        }
        let installed = self.installed.get();
        let Some(pdftoppm) = &installed.engines.pdftoppm else {
            return Err(failure(
                ExtractFailureKind::UnknownFormat,
                &format!("page {page} is a drawing, which is not read by itself"),
                "Install poppler-utils and process the document again.",
            ));
        };
        let number = page.to_string();
        let arguments = ["-gray", "-r", DPI, "-f", &number, "-l", &number, "-singlefile", "-"];
        let input = tokio::fs::File::open(file).await.map_err(|error| unreadable(&error))?;
        let drawn = self.run(pdftoppm, &arguments, &[], input).await?;
        ended_well(&drawn)?;
        self.child(purpose, 1, Cursor::new(drawn.stdout.bytes)).await
    }

    async fn child(
        &self,
        purpose: Purpose,
        page: u32,
        input: impl AsyncRead + Unpin,
    ) -> Result<(Answer, Vec<u8>), ExtractFailure> {
        let bad = |error: serde_json::Error| unavailable(&SandboxError::Io(error.into()));
        let limits = serde_json::to_string(&ExtractLimits::default()).map_err(bad)?;
        let steps = serde_json::to_string(&self.steps).map_err(bad)?;
        let number = page.to_string();
        let mut arguments = vec![COMMAND, "--page", &number, "--limits", &limits, "--steps", &steps];
        arguments.extend(["--purpose", purpose.as_str()]);
        let mut readable = vec![self.program.clone()];
        let installed = self.installed.get();
        if let (Purpose::Models, Some(models)) = (purpose, installed.engines.models()) {
            arguments.extend(["--models", models.to_str().ok_or_else(|| unavailable(&not_utf_8()))?]);
            readable.push(models.to_owned());
        }
        let outcome = self.run(&self.program, &arguments, &readable, input).await?;
        ended_well(&outcome)?;
        page_child::parted(outcome.stdout.bytes).ok_or_else(crashed)?
    }

    async fn run(
        &self,
        program: &Path,
        arguments: &[&str],
        readable: &[PathBuf],
        input: impl AsyncRead + Unpin,
    ) -> Result<Outcome, ExtractFailure> {
        let folder = empty_folder().map_err(|error| unavailable(&SandboxError::Io(error)))?;
        let program = program.to_str().ok_or_else(|| unavailable(&not_utf_8()))?;
        let argv = std::iter::once(program).chain(arguments.iter().copied());
        let mut spec = CommandSpec::new(argv, folder.path());
        spec.access = Access::ReadOnly;
        spec.read_paths = readable.to_vec();
        spec.limits = self.process.clone();
        // Others wait for the processors, too.
        spec.env.insert("OMP_THREAD_LIMIT".to_owned(), "1".to_owned());
        self.sandbox.feed(spec, input, &CancellationToken::new()).await.map_err(|error| unavailable(&error))
    }

    async fn tesseract(&self, program: &Path, file: &Path, page: u32) -> Result<PageReading, ExtractFailure> {
        let installed = self.installed.get();
        let find = || self.installed_languages(program, &installed.engines.languages);
        let languages = installed.languages.get_or_try_init(find).await?;
        let (answer, picture) = self.look(Purpose::Tesseract, file, page).await?;
        let Answer::Picture(place) = answer else { return Err(crashed()) };
        let arguments = ["stdin", "stdout", "-l", languages, "--oem", "1", "--psm", "3", "--dpi", DPI, "tsv"];
        let outcome = self.run(program, &arguments, &[], Cursor::new(picture)).await?;
        told_by_tesseract(&outcome, languages)?;
        Ok(read_tsv(&outcome.stdout.text(), &place))
    }

    /// Those that are wanted and there; else the first that is there.
    async fn installed_languages(&self, program: &Path, wanted: &str) -> Result<String, ExtractFailure> {
        let outcome = self.run(program, &["--list-langs"], &[], tokio::io::empty()).await?;
        let text = outcome.stdout.text().into_owned() + &outcome.stderr.text();
        let there: Vec<&str> = text.lines().skip(1).map(str::trim).filter(|name| !name.is_empty()).collect();
        let wanted: Vec<&str> = wanted.split('+').filter(|name| there.contains(name)).collect();
        if !wanted.is_empty() {
            return Ok(wanted.join("+"));
        }
        let first = there.iter().find(|name| **name != "osd" && !name.contains(' '));
        first.map(|name| (*name).to_owned()).ok_or_else(|| {
            failure(
                ExtractFailureKind::Unavailable,
                "Tesseract has no language to read with",
                "Install one, such as tesseract-ocr-eng, and process the document again.",
            )
        })
    }
}

fn told_by_tesseract(outcome: &Outcome, languages: &str) -> Result<(), ExtractFailure> {
    match outcome.exit {
        Exit::Exited(0) => Ok(()),
        Exit::Exited(_) if outcome.stderr.text().contains("language") => Err(failure(
            ExtractFailureKind::Unavailable,
            &format!("Tesseract can't load its languages ({languages})"),
            "Install their packages again, or name others in STEWARD_OCR_LANGUAGES.",
        )),
        _ => ended_well(outcome),
    }
}

#[async_trait]
impl PageReader for ConfinedPages {
    fn engines(&self) -> Vec<OcrEngine> {
        let installed = self.installed.get();
        let models = installed.engines.models().map(|_| OcrEngine::Onnx);
        let tesseract = installed.engines.tesseract.as_ref().map(|_| OcrEngine::Tesseract);
        models.into_iter().chain(tesseract).collect()
    }

    async fn read(&self, engine: OcrEngine, file: &Path, page: u32) -> Result<PageReading, ExtractFailure> {
        let installed = self.installed.get();
        match (engine, &installed.engines.tesseract) {
            (OcrEngine::Tesseract, Some(program)) => self.tesseract(program, file, page).await,
            (OcrEngine::Onnx, _) => match self.look(Purpose::Models, file, page).await? {
                (Answer::Reading(reading), _) => Ok(reading),
                _ => Err(crashed()),
            },
            _ => Err(failure(
                ExtractFailureKind::Unavailable,
                "this engine is not installed",
                "See docs/ocr.md for how to install engines.",
            )),
        }
    }

    async fn show(&self, file: &Path, page: u32) -> Result<Vec<u8>, ExtractFailure> {
        match self.look(Purpose::Model, file, page).await? {
            (Answer::Picture(_), png) => Ok(png),
            _ => Err(crashed()),
        }
    }
}

/// An answer of [`Place`] is that of a picture.
impl From<Place> for Answer {
    fn from(place: Place) -> Self {
        Self::Picture(place)
    }
}
