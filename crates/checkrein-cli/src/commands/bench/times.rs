//! Statistics of measured times.

use std::time::Duration;

use serde_json::{Value, json};

/// Measured times, sorted.
#[derive(Debug, Clone)]
pub struct Times {
    /// At least one time.
    sorted: Vec<Duration>,
}

/// Number of measurements between two times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucket {
    pub from: Duration,
    pub to: Duration,
    pub count: usize,
}

impl Times {
    /// Sorts measurements. `None` if there are none.
    pub fn new(mut measured: Vec<Duration>) -> Option<Self> {
        if measured.is_empty() {
            return None;
        }
        measured.sort_unstable();
        Some(Self { sorted: measured })
    }

    /// Number of measurements.
    pub fn count(&self) -> usize {
        self.sorted.len()
    }

    /// The smallest measured time that this percentage of all measurements does not exceed.
    pub fn percentile(&self, of_hundred: usize) -> Duration {
        let rank = (self.sorted.len() * of_hundred).div_ceil(100).max(1);
        self.sorted.get(rank - 1).or(self.sorted.last()).copied().unwrap_or_default()
    }

    /// The longest time.
    pub fn longest(&self) -> Duration {
        self.percentile(100)
    }

    /// The sum of all times.
    pub fn sum(&self) -> Duration {
        self.sorted.iter().sum()
    }

    /// Distribution of the measurements. Each bucket is wider than the previous one by the same factor, so that one slow run
    /// does not push all others into one bucket.
    pub fn histogram(&self, most: usize) -> Vec<Bucket> {
        let (from, to) = (self.percentile(0), self.longest());
        let ratio = to.as_secs_f64() / from.as_secs_f64().max(1e-9);
        // Buckets narrower than 5 % show only noise.
        let wanted = (ratio.ln() / 1.05_f64.ln()).ceil();
        let count = if wanted >= most as f64 { most } else { (wanted as usize).max(1) };
        let edge = |index: usize| from.mul_f64(ratio.powf(index as f64 / count as f64));
        let mut rest = &self.sorted[..];
        (1..=count)
            .map(|index| {
                let inside = if index == count { rest.len() } else { rest.partition_point(|time| *time < edge(index)) };
                rest = &rest[inside..];
                Bucket { from: edge(index - 1), to: edge(index), count: inside }
            })
            .collect()
    }

    /// Times for `--json`, in microseconds.
    pub fn json(&self) -> Value {
        json!({
            "runs": self.count(),
            "p50_us": micros(self.percentile(50)),
            "p95_us": micros(self.percentile(95)),
            "p99_us": micros(self.percentile(99)),
            "max_us": micros(self.longest()),
            "mean_us": micros(self.sum()) / self.count() as f64,
        })
    }
}

/// A time in microseconds.
pub fn micros(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1000.0
}

/// A time with a unit and three significant digits.
pub fn shown(time: Duration) -> String {
    let us = micros(time);
    let (value, unit) = match us {
        us if us < 1000.0 => (us, "µs"),
        us if us < 1_000_000.0 => (us / 1000.0, "ms"),
        us => (us / 1_000_000.0, "s"),
    };
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(ms: impl IntoIterator<Item = u64>) -> Times {
        Times::new(ms.into_iter().map(Duration::from_millis).collect()).unwrap()
    }

    #[test]
    fn percentiles_are_measured_times() {
        let hundred = times((1..=100).rev());
        for (of_hundred, ms) in [(0, 1), (50, 50), (95, 95), (99, 99), (100, 100)] {
            assert_eq!(hundred.percentile(of_hundred), Duration::from_millis(ms), "{of_hundred}");
        }
        let three = times([30, 10, 20]);
        for (of_hundred, ms) in [(0, 10), (33, 10), (34, 20), (50, 20), (67, 30), (99, 30)] {
            assert_eq!(three.percentile(of_hundred), Duration::from_millis(ms), "{of_hundred}");
        }
        assert!(Times::new(Vec::new()).is_none());
    }

    #[test]
    fn every_measurement_is_in_one_bucket() {
        for times in [times([5]), times([5, 5, 5]), times([1, 2, 3, 4, 1000]), times(1..500), times([0, 0, 7])] {
            let buckets = times.histogram(8);
            assert!(!buckets.is_empty() && buckets.len() <= 8);
            assert_eq!(buckets.iter().map(|bucket| bucket.count).sum::<usize>(), times.count(), "{buckets:?}");
            assert!(buckets.windows(2).all(|pair| pair[0].to == pair[1].from), "{buckets:?}");
        }
        assert_eq!(times([5, 5]).histogram(8).len(), 1);
    }

    #[test]
    fn times_have_three_digits() {
        for (ns, text) in [(1_500, "1.50 µs"), (999_000, "999 µs"), (12_340_000, "12.3 ms"), (2_000_000_000, "2.00 s")]
        {
            assert_eq!(shown(Duration::from_nanos(ns)), text);
        }
    }
}
