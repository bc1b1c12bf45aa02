use std::fs::{self, OpenOptions};
use std::io::Write;

use super::*;

const LARGE: SegmentLimits =
    SegmentLimits { bytes: u64::MAX, age: Duration::from_secs(3_600), in_turn: false };

fn open(folder: &Path, limits: SegmentLimits) -> (Log, mpsc::UnboundedReceiver<Segment>) {
    let (sender, sealed) = mpsc::unbounded_channel();
    (Log::open(folder, 1, limits, sender).unwrap(), sealed)
}

fn texts(segment: &Segment) -> Vec<String> {
    segment.records().unwrap().into_iter().map(|record| String::from_utf8(record).unwrap()).collect()
}

fn all(sealed: &mut mpsc::UnboundedReceiver<Segment>) -> Vec<Vec<String>> {
    std::iter::from_fn(|| sealed.try_recv().ok()).map(|segment| texts(&segment)).collect()
}

#[tokio::test]
async fn records_are_there_again() {
    let folder = tempfile::tempdir().unwrap();
    let (log, mut sealed) = open(folder.path(), LARGE);
    log.append(vec![b"a".to_vec(), b"b".to_vec()]).await.unwrap();
    log.append(vec![b"c".to_vec()]).await.unwrap();
    log.close();
    assert_eq!(all(&mut sealed), [["a", "b", "c"]]);
    // As after a crash: nobody has deleted the segment.
    let (log, mut sealed) = open(folder.path(), LARGE);
    log.append(vec![b"d".to_vec()]).await.unwrap();
    log.close();
    let segments: Vec<Segment> = std::iter::from_fn(|| sealed.try_recv().ok()).collect();
    assert_eq!(segments.iter().map(|segment| segment.number).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(segments.iter().map(texts).collect::<Vec<_>>(), [vec!["a", "b", "c"], vec!["d"]]);
    segments.iter().for_each(|segment| segment.delete().unwrap());
    assert_eq!(all(&mut open(folder.path(), LARGE).1), Vec::<Vec<String>>::new());
}

#[tokio::test]
async fn a_segment_is_sealed_by_size_and_by_age() {
    let folder = tempfile::tempdir().unwrap();
    let (log, mut sealed) = open(folder.path(), SegmentLimits { bytes: 100, ..LARGE });
    log.append(vec![vec![b'a'; 60]]).await.unwrap();
    assert!(sealed.try_recv().is_err());
    log.append(vec![vec![b'b'; 60]]).await.unwrap();
    assert_eq!(texts(&sealed.recv().await.unwrap()).len(), 2);
    drop(log);
    let folder = tempfile::tempdir().unwrap();
    let (log, mut sealed) = open(folder.path(), SegmentLimits { age: Duration::from_millis(5), ..LARGE });
    log.append(vec![b"a".to_vec()]).await.unwrap();
    assert_eq!(texts(&sealed.recv().await.unwrap()), ["a"]);
}

#[tokio::test]
async fn a_segment_waits_for_its_turn() {
    let folder = tempfile::tempdir().unwrap();
    let limits = SegmentLimits { age: Duration::from_millis(1), in_turn: true, ..LARGE };
    let (log, mut sealed) = open(folder.path(), limits);
    assert_eq!(log.append(vec![b"a".to_vec()]).await.unwrap(), 1);
    let first = sealed.recv().await.unwrap();
    // What comes while somebody works on the first one is in one segment.
    assert_eq!(log.append(vec![b"b".to_vec()]).await.unwrap(), 2);
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(log.append(vec![b"c".to_vec()]).await.unwrap(), 2);
    assert!(sealed.try_recv().is_err());
    drop(first);
    assert_eq!(texts(&sealed.recv().await.unwrap()), ["b", "c"]);
}

#[tokio::test]
async fn a_torn_record_at_the_end_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let (log, mut sealed) = open(folder.path(), LARGE);
    log.append(vec![b"first".to_vec(), b"second".to_vec()]).await.unwrap();
    log.close();
    let segment = sealed.recv().await.unwrap();
    let whole = fs::read(segment.path()).unwrap();
    for length in 0..whole.len() {
        fs::write(segment.path(), &whole[..length]).unwrap();
        let records = segment.records().unwrap();
        assert!(records.len() < 2, "{length}");
        assert!(records.iter().all(|record| record == b"first"));
    }
    // A length that was never written, and a bit that has changed.
    let mut damaged = whole.clone();
    damaged.extend([0xff; 8]);
    fs::write(segment.path(), &damaged).unwrap();
    assert_eq!(texts(&segment), ["first", "second"]);
    let last = whole.len() - 1;
    damaged[last] ^= 1;
    fs::write(segment.path(), &damaged).unwrap();
    assert_eq!(texts(&segment), ["first"]);
}

#[tokio::test]
async fn another_file_is_not_taken_for_a_segment() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("000000000007.log");
    OpenOptions::new()
        .create_new(true)
        .write(true)
        .open(path)
        .unwrap()
        .write_all(b"something else, longer")
        .unwrap();
    fs::write(folder.path().join("notes.txt"), "x").unwrap();
    let (_log, mut sealed) = open(folder.path(), LARGE);
    let error = sealed.recv().await.unwrap().records().unwrap_err();
    assert!(error.to_string().contains("is not a segment of a log"), "{error}");
}

#[tokio::test]
async fn a_failure_is_told_and_later_records_are_kept() {
    let full = io::Error::from(io::ErrorKind::StorageFull);
    assert!(matches!(AppendError::from(&full), AppendError::Full));
    let folder = tempfile::tempdir().unwrap();
    let (log, mut sealed) = open(folder.path(), LARGE);
    // The first segment's name is taken, so it cannot be begun.
    fs::create_dir(folder.path().join("000000000001.log")).unwrap();
    assert!(matches!(log.append(vec![b"lost".to_vec()]).await, Err(AppendError::Io(_))));
    fs::remove_dir(folder.path().join("000000000001.log")).unwrap();
    log.append(vec![b"kept".to_vec()]).await.unwrap();
    log.close();
    assert_eq!(all(&mut sealed), [["kept"]]);
}

#[tokio::test]
async fn what_waits_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let (log, mut sealed) = open(folder.path(), LARGE);
    let backlog = |log: &Log| log.waiting().backlog(std::time::SystemTime::now());
    assert_eq!(backlog(&log), Backlog::default());
    assert_eq!(log.seal().await.unwrap(), 1, "nothing to seal");
    log.append(vec![b"a".to_vec()]).await.unwrap();
    log.append(vec![b"b".to_vec()]).await.unwrap();
    assert_eq!((backlog(&log).segments, backlog(&log).bytes), (1, 15 + 2 * 9));
    assert!(backlog(&log).oldest.is_some());
    assert_eq!(log.seal().await.unwrap(), 2);
    log.append(vec![b"c".to_vec()]).await.unwrap();
    assert!(log.waiting().has_before(2));
    let first = sealed.recv().await.unwrap();
    assert_eq!(texts(&first), ["a", "b"]);
    log.waiting().ended(first.number);
    assert!(!log.waiting().has_before(2) && log.waiting().has_before(3));
    log.close();
    // As after a crash.
    let (log, _sealed) = open(folder.path(), LARGE);
    assert_eq!((backlog(&log).segments, backlog(&log).bytes), (2, 2 * 15 + 3 * 9));
}
