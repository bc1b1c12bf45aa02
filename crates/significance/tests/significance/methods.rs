//! Other methods to find changed functions, to compare with: which functions of two releases each of them names.

use super::simulation::{INTERVAL_US, Session};

/// Sums of one function over the sessions of one release.
#[derive(Clone, Copy, Default)]
struct Sums {
    sum: f64,
    squares: f64,
}

fn sums<'a>(sessions: impl Iterator<Item = &'a Session>, functions: usize) -> Vec<Sums> {
    let mut sums = vec![Sums::default(); functions];
    for &(function, time_us) in sessions.flat_map(|session| &session.times_us) {
        let samples = (time_us / INTERVAL_US) as f64;
        sums[function as usize].sum += samples;
        sums[function as usize].squares += samples * samples;
    }
    sums
}

/// Holm's procedure: the indices of the p-values that are significant.
pub fn holm(p: &[f64], error_rate: f64) -> Vec<u32> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let significant =
        order.iter().enumerate().take_while(|&(rank, &i)| p[i] <= error_rate / (p.len() - rank) as f64);
    significant.map(|(_, &i)| i as u32).collect()
}

/// The wrong method: each sample is taken for an observation of its own.
pub fn samples_as_units(base: &[Session], new: &[Session], functions: usize, error_rate: f64) -> Vec<u32> {
    let (first, second) = (sums(base.iter(), functions), sums(new.iter(), functions));
    let (n, m) = (base.len() as f64, new.len() as f64);
    let p: Vec<f64> = first
        .iter()
        .zip(&second)
        .map(|(a, b)| {
            let error = (a.sum / (n * n) + b.sum / (m * m)).sqrt();
            let z = if error > 0.0 { (b.sum / m - a.sum / n).abs() / error } else { 0.0 };
            // Of the normal distribution, from its bound by Mills: never less than the true one.
            if z < 1.0 { 1.0 } else { 2.0 * (-z * z / 2.0).exp() / (z * (2.0 * std::f64::consts::PI).sqrt()) }
        })
        .collect();
    holm(&p, error_rate)
}
