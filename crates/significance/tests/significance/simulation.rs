//! Simulated sessions of a web application, like those that pages send: most functions do not run in most sessions,
//! times are heavy-tailed, and the functions of one feature run together.

use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, LogNormal, Poisson};
use rand_pcg::Pcg64Mcg;
use selfprof_significance::{FunctionIndex, SessionKey, Sessions};

/// The time of one sample.
pub const INTERVAL_US: i64 = 10_000;

/// One session: its key and the times of its functions.
#[derive(Clone, Debug)]
pub struct Session {
    pub key: u128,
    pub times_us: Vec<(u32, i64)>,
}

impl Session {
    pub fn whole_us(&self) -> i64 {
        self.times_us.iter().map(|&(_, time_us)| time_us).sum()
    }
}

struct Function {
    feature: usize,
    probability: f64,
    time_us: f64,
}

/// An application.
pub struct Application {
    functions: Vec<Function>,
    features: Vec<f64>,
    generator: Pcg64Mcg,
}

// Standard deviations of logarithms: how slow the device is, how long the visit is, how much a feature is used in it,
// and how long the calls of one function take.
const DEVICE: f64 = 0.6;
const VISIT: f64 = 0.9;
const USE: f64 = 0.7;
const CALL: f64 = 0.8;

/// A change of one function in one release.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    pub function: u32,
    pub factor: f64,
}

/// It runs in nine of ten sessions.
pub const FREQUENT: u32 = 0;
/// It runs in one of ten sessions.
pub const RARE: u32 = 1;

impl Application {
    /// An application with so many functions, of which about one in 12 runs in a session for long enough to be sampled.
    pub fn new(functions: usize, seed: u64) -> Self {
        let mut generator = Pcg64Mcg::seed_from_u64(seed);
        let spread = LogNormal::new(0.0, 1.2).unwrap();
        // The first feature is in each session.
        let features: Vec<f64> = (0..20)
            .map(|feature| if feature == 0 { 1.0 } else { generator.random_range(0.02..0.4) })
            .collect();
        let mut functions: Vec<Function> = (0..functions)
            .map(|_| Function {
                feature: generator.random_range(0..features.len()),
                probability: generator.random_range(0.05..1.0),
                time_us: 12_000.0 * spread.sample(&mut generator),
            })
            .collect();
        // Each about a fiftieth of the time of a mean session.
        let whole_us: f64 =
            functions.iter().map(|f| f.time_us * f.probability * features[f.feature]).sum::<f64>();
        functions[FREQUENT as usize] =
            Function { feature: 0, probability: 0.9, time_us: 0.02 * whole_us / 0.9 };
        functions[RARE as usize] = Function { feature: 0, probability: 0.1, time_us: 0.02 * whole_us / 0.1 };
        Self { functions, features, generator }
    }

    /// The true mean time of a function in a session without a change.
    pub fn mean_us(&self, function: u32) -> f64 {
        let function = &self.functions[function as usize];
        let spreads: f64 = [DEVICE, VISIT, USE, CALL].iter().map(|spread| spread * spread / 2.0).sum();
        function.time_us * function.probability * self.features[function.feature] * spreads.exp()
    }

    pub fn sessions(&mut self, count: usize, change: Option<Change>) -> Vec<Session> {
        (0..count).map(|_| self.session(change)).collect()
    }

    fn session(&mut self, change: Option<Change>) -> Session {
        let generator = &mut self.generator;
        let device = LogNormal::new(0.0, DEVICE).unwrap().sample(generator);
        let visit = LogNormal::new(0.0, VISIT).unwrap().sample(generator);
        let (use_of_feature, call) = (LogNormal::new(0.0, USE).unwrap(), LogNormal::new(0.0, CALL).unwrap());
        let features: Vec<f64> = self
            .features
            .iter()
            .map(
                |&probability| {
                    if generator.random_bool(probability) { use_of_feature.sample(generator) } else { 0.0 }
                },
            )
            .collect();
        let mut times_us = Vec::new();
        for (index, function) in (0..).zip(&self.functions) {
            let feature = features[function.feature];
            if feature == 0.0 || !generator.random_bool(function.probability) {
                continue;
            }
            let factor = change.filter(|change| change.function == index).map_or(1.0, |change| change.factor);
            let time_us = function.time_us * factor * device * visit * feature * call.sample(generator);
            let samples: f64 = Poisson::new(time_us / INTERVAL_US as f64).unwrap().sample(generator);
            if samples > 0.0 {
                times_us.push((index, samples as i64 * INTERVAL_US));
            }
        }
        Session { key: generator.random(), times_us }
    }

    /// Makes one session 100 times slower.
    pub fn slow_down_one(&mut self, sessions: &mut [Session]) {
        let index = self.generator.random_range(0..sessions.len());
        sessions[index].times_us.iter_mut().for_each(|(_, time_us)| *time_us *= 100);
    }
}

pub fn packed(sessions: &[Session]) -> Sessions {
    let mut packed = Sessions::new();
    for session in sessions {
        let times_us = session.times_us.iter().map(|&(function, time_us)| (FunctionIndex(function), time_us));
        packed.push(SessionKey(session.key), session.whole_us(), times_us);
    }
    packed
}
