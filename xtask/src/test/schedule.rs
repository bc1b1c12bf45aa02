//! Decides which step starts next: no threads, no clock, no processes.
//!
//! Steps start in the order of the plan as soon as what they need has passed, no running step uses the same
//! [`BuildFolder`] resource, and the processors have room for their [`Load`].

/// A build folder of cargo, which one step at a time may use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BuildFolder {
    /// That of the `dev` profile. Cargo locks it, too: a second build would wait inside cargo and count as work.
    Dev,
    /// That of the `release` profile, where the addon of one Node major replaces another's.
    Release,
    /// That of the `collector` profile.
    Collector,
}

/// How much of the processors a step uses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Load {
    /// As much as the others leave: it compiles, at low priority.
    Background,
    /// Hundredths of a processor, on average: tests mostly wait.
    Percent(u32),
}

/// What the schedule knows of a step.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The earlier steps that must have passed.
    pub needs: Vec<usize>,
    /// How much of the processors it uses.
    pub load: Load,
    /// What no other step uses meanwhile.
    pub exclusive: Option<BuildFolder>,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// Start this step, and call [`Schedule::end`] when it ends.
    Start(usize),
    /// This step cannot run, since the other one did not pass. It counts as failed.
    Skip { step: usize, needed: usize },
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Waiting,
    Running,
    Passed,
    Failed,
}

/// The steps of one test run.
pub struct Schedule {
    entries: Vec<Entry>,
    states: Vec<State>,
    jobs: usize,
}

impl Schedule {
    /// Steps that share so many processors. With one processor they run one after the other.
    pub fn new(entries: Vec<Entry>, jobs: usize) -> Self {
        let states = vec![State::Waiting; entries.len()];
        Self { entries, states, jobs: jobs.max(1) }
    }

    /// What can be done now; `None` means that a running step must end first, or that all steps are done.
    pub fn next(&mut self) -> Option<Next> {
        for step in 0..self.entries.len() {
            if self.states[step] != State::Waiting {
                continue;
            }
            let needs = &self.entries[step].needs;
            if let Some(&needed) = needs.iter().find(|needed| self.states[**needed] == State::Failed) {
                self.states[step] = State::Failed;
                return Some(Next::Skip { step, needed });
            }
            if needs.iter().all(|needed| self.states[*needed] == State::Passed) && self.has_room_for(step) {
                self.states[step] = State::Running;
                return Some(Next::Start(step));
            }
        }
        None
    }

    /// Records how a step ended that was started.
    pub fn end(&mut self, step: usize, passed: bool) {
        self.states[step] = if passed { State::Passed } else { State::Failed };
    }

    /// Whether every step has passed, failed or been skipped.
    pub fn is_done(&self) -> bool {
        self.states.iter().all(|state| matches!(state, State::Passed | State::Failed))
    }

    fn has_room_for(&self, step: usize) -> bool {
        let Entry { load, exclusive, .. } = self.entries[step];
        let running: Vec<&Entry> = (0..self.entries.len())
            .filter(|other| self.states[*other] == State::Running)
            .map(|other| &self.entries[other])
            .collect();
        if self.jobs == 1 {
            return running.is_empty();
        }
        if exclusive.is_some() && running.iter().any(|other| other.exclusive == exclusive) {
            return false;
        }
        let in_background = running.iter().filter(|other| other.load == Load::Background).count();
        let used: u32 = running.iter().map(|other| percent(other.load)).sum();
        match load {
            Load::Background => in_background < self.jobs,
            // A step that needs more than all processors still runs, alongside nothing but compilers.
            Load::Percent(percent) => used == 0 || (used + percent) as usize <= self.jobs * 100,
        }
    }
}

fn percent(load: Load) -> u32 {
    match load {
        Load::Background => 0,
        Load::Percent(percent) => percent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry(needs: &[usize], load: Load, exclusive: Option<BuildFolder>) -> Entry {
        Entry { needs: needs.to_vec(), load, exclusive }
    }

    /// Starts what can start, ends the steps in `ends` one after the other, and gives what happened.
    #[track_caller]
    fn check(jobs: usize, entries: &[Entry], ends: &[(usize, bool)], expected: &[Next]) {
        let mut schedule = Schedule::new(entries.to_vec(), jobs);
        let mut happened = Vec::new();
        happened.extend(std::iter::from_fn(|| schedule.next()));
        for &(step, passed) in ends {
            schedule.end(step, passed);
            happened.extend(std::iter::from_fn(|| schedule.next()));
        }
        assert_eq!(happened, expected);
    }

    const WAITS: Load = Load::Percent(50);

    #[test]
    fn steps_start_in_order_as_far_as_the_processors_go() {
        let five: Vec<Entry> = (0..5).map(|_| entry(&[], WAITS, None)).collect();
        check(1, &five, &[(0, true)], &[Next::Start(0), Next::Start(1)]);
        check(2, &five, &[(2, true)], &[0, 1, 2, 3, 4].map(Next::Start));
        let large = [entry(&[], Load::Percent(300), None), entry(&[], WAITS, None)];
        check(2, &large, &[(0, true)], &[0, 1].map(Next::Start));
    }

    #[test]
    fn a_small_step_passes_a_large_one_that_has_no_room() {
        let steps = [entry(&[], WAITS, None), entry(&[], Load::Percent(200), None), entry(&[], WAITS, None)];
        check(2, &steps, &[(0, true), (2, true)], &[0, 2, 1].map(Next::Start));
    }

    #[test]
    fn compilers_run_beside_tests_and_not_beside_each_other_in_one_folder() {
        let build = |exclusive| entry(&[], Load::Background, Some(exclusive));
        let steps = [
            build(BuildFolder::Dev),
            build(BuildFolder::Dev),
            build(BuildFolder::Release),
            entry(&[], Load::Percent(200), None),
        ];
        check(2, &steps, &[(0, true)], &[0, 2, 3, 1].map(Next::Start));
    }

    #[test]
    fn what_needs_a_failed_step_does_not_run_and_the_rest_does() {
        let steps = [
            entry(&[], WAITS, None),
            entry(&[0], WAITS, None),
            entry(&[1], WAITS, None),
            entry(&[], WAITS, None),
        ];
        check(
            2,
            &steps,
            &[(0, false)],
            &[
                Next::Start(0),
                Next::Start(3),
                Next::Skip { step: 1, needed: 0 },
                Next::Skip { step: 2, needed: 1 },
            ],
        );
    }

    fn any_entries() -> impl Strategy<Value = Vec<Entry>> {
        let load = prop_oneof![Just(Load::Background), (1_u32..300).prop_map(Load::Percent)];
        let exclusive =
            prop_oneof![Just(None), Just(Some(BuildFolder::Dev)), Just(Some(BuildFolder::Release))];
        let one = (proptest::collection::vec(any::<prop::sample::Index>(), 0..3), load, exclusive);
        proptest::collection::vec(one, 1..20).prop_map(|steps| {
            let entry = |(index, (needs, load, exclusive)): (usize, (Vec<prop::sample::Index>, _, _))| {
                let needs = needs.iter().filter(|_| index > 0).map(|need| need.index(index)).collect();
                Entry { needs, load, exclusive }
            };
            steps.into_iter().enumerate().map(entry).collect()
        })
    }

    proptest! {
        #[test]
        fn every_step_runs_once_or_is_skipped_for_a_reason(
            entries in any_entries(),
            jobs in 1_usize..5,
            ends in proptest::collection::vec((any::<prop::sample::Index>(), proptest::bool::weighted(0.9)), 20),
        ) {
            let mut schedule = Schedule::new(entries.clone(), jobs);
            let mut running: Vec<usize> = Vec::new();
            let mut passed = vec![None; entries.len()];
            let mut ends = ends.into_iter();
            loop {
                while let Some(next) = schedule.next() {
                    match next {
                        Next::Start(step) => {
                            prop_assert!(entries[step].needs.iter().all(|needed| passed[*needed] == Some(true)));
                            let exclusive = entries[step].exclusive;
                            prop_assert!(
                                exclusive.is_none() || running.iter().all(|other| entries[*other].exclusive != exclusive)
                            );
                            running.push(step);
                            prop_assert!(jobs > 1 || running.len() == 1);
                        }
                        Next::Skip { step, needed } => {
                            prop_assert_eq!(passed[needed], Some(false));
                            prop_assert_eq!(passed[step], None);
                            passed[step] = Some(false);
                        }
                    }
                }
                let Some((which, ended_well)) = ends.next().filter(|_| !running.is_empty()) else { break };
                let step = running.swap_remove(which.index(running.len()));
                prop_assert_eq!(passed[step].replace(ended_well), None);
                schedule.end(step, ended_well);
            }
            prop_assert!(running.is_empty() && schedule.is_done());
            prop_assert!(passed.iter().all(Option::is_some));
        }
    }
}
