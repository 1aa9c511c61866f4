use super::{Refusal, Sampling};
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::sampling::LlamaSampler;
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::token::data::LlamaTokenData;
use llama_cpp_2::token::data_array::LlamaTokenDataArray;
use serde_json::Value;
use std::collections::HashMap;
use steward_core::schema;

/// Chooses tokens, under a grammar if there is one.
///
/// The grammar is asked about the best token first, then about the likeliest few hundred, and about the whole
/// vocabulary only if none of those is allowed: checking 49,000 tokens costs more than evaluating a small model. The
/// distribution is the same: a token drawn freely and kept if allowed, or else drawn again among the allowed, is a
/// draw among the allowed.
pub(super) struct Sampler {
    settings: Sampling,
    grammar: Option<LlamaSampler>,
    counts: HashMap<i32, u16>,
    random: u64,
}

const FIRST_LOOK: usize = 256;

impl Sampler {
    pub fn new(model: &LlamaModel, settings: Sampling, constraint: &Constraint) -> Result<Self, Refusal> {
        let grammar = match constraint {
            Constraint::Free => None,
            Constraint::Grammar { gbnf, param } => Some(
                LlamaSampler::grammar(model, gbnf, "root")
                    .map_err(|e| Refusal::invalid(param, format!("this grammar is not valid GBNF: {e}")))?,
            ),
        };
        Ok(Self { random: settings.seed, settings, grammar, counts: HashMap::new() })
    }

    /// `logits`: the model's output, by token.
    pub fn next(&mut self, logits: &[f32]) -> Result<LlamaToken, Refusal> {
        let mut candidates = self.penalised(logits);
        let favourite = if self.settings.temperature <= 0.0 {
            largest(&candidates)
        } else {
            self.draw(likeliest(&mut candidates, self.settings.top_k))
        };
        let chosen = match favourite {
            Some(token) if self.allows(token) => token,
            _ => self.constrained(&mut candidates)?,
        };
        self.accept(chosen.id())?;
        Ok(chosen.id())
    }

    fn constrained(&mut self, candidates: &mut Vec<LlamaTokenData>) -> Result<LlamaTokenData, Refusal> {
        let few = likeliest(candidates, FIRST_LOOK).to_vec();
        for pool in [few, std::mem::take(candidates)] {
            let mut allowed = self.allowed(pool);
            let chosen = if self.settings.temperature <= 0.0 {
                largest(&allowed)
            } else {
                self.draw(likeliest(&mut allowed, self.settings.top_k))
            };
            if let Some(token) = chosen {
                return Ok(token);
            }
        }
        Err(Refusal::internal("the grammar allows no token here; it may have an unreachable end"))
    }

    fn allows(&mut self, token: LlamaTokenData) -> bool {
        !self.allowed(vec![token]).is_empty()
    }

    fn allowed(&mut self, pool: Vec<LlamaTokenData>) -> Vec<LlamaTokenData> {
        let Some(grammar) = &mut self.grammar else {
            return pool;
        };
        let mut array = LlamaTokenDataArray::new(pool, false);
        grammar.apply(&mut array);
        array.data.retain(|t| t.logit() > f32::NEG_INFINITY);
        array.data
    }

    fn accept(&mut self, token: LlamaToken) -> Result<(), Refusal> {
        if let Some(grammar) = &mut self.grammar {
            grammar.try_accept(token).map_err(|e| Refusal::internal(format!("the grammar broke: {e}")))?;
        }
        let count = self.counts.entry(token.0).or_default();
        *count = count.saturating_add(1);
        Ok(())
    }

    fn penalised(&self, logits: &[f32]) -> Vec<LlamaTokenData> {
        let mut all: Vec<LlamaTokenData> =
            (0_i32..).zip(logits).map(|(id, logit)| LlamaTokenData::new(LlamaToken(id), *logit, 0.0)).collect();
        let Sampling { repeat_penalty, frequency_penalty, presence_penalty, .. } = self.settings;
        for (id, count) in &self.counts {
            let Some(entry) = usize::try_from(*id).ok().and_then(|i| all.get_mut(i)) else {
                continue;
            };
            let logit = entry.logit();
            let repeated = if logit > 0.0 { logit / repeat_penalty } else { logit * repeat_penalty };
            entry.set_logit(repeated - f32::from(*count) * frequency_penalty - presence_penalty);
        }
        all
    }

    /// `sorted`: likeliest first.
    fn draw(&mut self, sorted: &[LlamaTokenData]) -> Option<LlamaTokenData> {
        let top = sorted.first()?.logit();
        let plain: Vec<f32> = sorted.iter().map(|t| (t.logit() - top).exp()).collect();
        let total: f32 = plain.iter().sum();
        let mut mass = 0.0;
        let mut count = 0;
        for p in &plain {
            if count > 0 && (mass >= self.settings.top_p * total || *p < self.settings.min_p) {
                break;
            }
            mass += p;
            count += 1;
        }
        let heated: Vec<f32> =
            sorted[..count].iter().map(|t| ((t.logit() - top) / self.settings.temperature).exp()).collect();
        let mut point = self.uniform() * heated.iter().sum::<f32>();
        for (token, weight) in sorted.iter().zip(&heated) {
            point -= weight;
            if point < 0.0 {
                return Some(*token);
            }
        }
        sorted.first().copied()
    }

    /// SplitMix64: small, seedable, and the same on every machine.
    fn uniform(&mut self) -> f32 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        #[expect(clippy::cast_precision_loss, reason = "24 bits fit a float's mantissa")]
        let unit = (z >> 40) as f32 / (1_u32 << 24) as f32;
        unit
    }
}

fn largest(candidates: &[LlamaTokenData]) -> Option<LlamaTokenData> {
    candidates.iter().copied().reduce(|best, t| if t.logit() > best.logit() { t } else { best })
}

/// The `count` likeliest, sorted, moved to the front; all of them for 0.
fn likeliest(candidates: &mut [LlamaTokenData], count: usize) -> &[LlamaTokenData] {
    let descending =
        |a: &LlamaTokenData, b: &LlamaTokenData| b.logit().total_cmp(&a.logit()).then_with(|| a.id().0.cmp(&b.id().0));
    let count = if count == 0 { candidates.len() } else { count.min(candidates.len()) };
    if count < candidates.len() {
        candidates.select_nth_unstable_by(count, descending);
    }
    let front = &mut candidates[..count];
    front.sort_unstable_by(descending);
    front
}

#[derive(Debug, Clone)]
pub(crate) enum Constraint {
    Free,
    /// In llama.cpp's notation, from the parameter `param`.
    Grammar {
        gbnf: String,
        param: &'static str,
    },
}

impl Constraint {
    pub fn schema(schema: &Value, param: &'static str) -> Result<Self, Refusal> {
        // llama.cpp follows references without an end.
        schema::check(schema).map_err(|why| Refusal::invalid(param, why))?;
        let gbnf = llama_cpp_2::json_schema_to_grammar(&schema.to_string()).map_err(|_| {
            Refusal::invalid(
                param,
                "this JSON schema cannot be turned into a grammar; use type, properties, required, items, enum, const, anyOf, oneOf, pattern (anchored with ^ and $), format, minLength, maxLength, minItems, maxItems, minimum, maximum and local $ref only",
            )
        })?;
        Ok(Self::Grammar { gbnf, param })
    }

    pub fn any_object(param: &'static str) -> Result<Self, Refusal> {
        Self::schema(&serde_json::json!({"type": "object"}), param)
    }
}
