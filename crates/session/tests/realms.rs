//! The registry keeps only realms that are open or that sessions can still see.

use selfprof_session::{Reach, RealmError, RealmId, Realms};
use selfprof_trace::Marker;

#[track_caller]
fn check(realms: &Realms, count: usize, scripts: usize) {
    assert_eq!((realms.len(), realms.script_count(), realms.is_empty()), (count, scripts, count == 0));
}

#[test]
fn a_closed_realm_that_no_session_sees_is_forgotten() {
    let mut realms = Realms::new();
    for script_id in 0..1_000 {
        let realm = realms.open(Some("a.example"));
        realms.register(realm, script_id, false).unwrap();
        check(&realms, 1, 1);
        realms.close(realm);
        check(&realms, 0, 0);
    }
}

#[test]
fn a_session_keeps_its_realm() {
    let mut realms = Realms::new();
    let realm = realms.open(None);
    realms.register(realm, 1, false).unwrap();
    realms.join(realm, Reach::Realm).unwrap();
    realms.join(realm, Reach::SameOrigin).unwrap();
    realms.close(realm);
    realms.leave(realm, Reach::Realm);
    check(&realms, 1, 1);
    realms.leave(realm, Reach::SameOrigin);
    check(&realms, 0, 0);
    realms.leave(realm, Reach::Realm);
}

#[test]
fn a_session_that_sees_its_origin_group_keeps_it() {
    let mut realms = Realms::new();
    let [page, frame, other] =
        [Some("a.example"), Some("a.example"), Some("b.example")].map(|group| realms.open(group));
    for (realm, script_id) in [(page, 1), (frame, 2), (other, 3)] {
        realms.register(realm, script_id, false).unwrap();
    }
    realms.join(page, Reach::Realm).unwrap();
    realms.join(page, Reach::SameOrigin).unwrap();
    realms.close(other);
    realms.close(frame);
    check(&realms, 2, 2);
    realms.leave(page, Reach::SameOrigin);
    check(&realms, 1, 1);
    realms.close(page);
    realms.leave(page, Reach::Realm);
    check(&realms, 0, 0);
}

#[test]
fn a_closed_realm_gets_neither_scripts_nor_sessions() {
    let mut realms = Realms::new();
    let realm = realms.open(None);
    realms.join(realm, Reach::Realm).unwrap();
    assert!(realms.is_open(realm));
    realms.close(realm);
    realms.close(realm);
    assert!(!realms.is_open(realm));
    let closed = Err(RealmError::Closed(realm));
    assert_eq!(realms.register(realm, 1, false), closed);
    assert_eq!(realms.join(realm, Reach::Realm), closed);
    assert_eq!(realms.register(RealmId(77), 1, false), Err(RealmError::Closed(RealmId(77))));
}

#[test]
fn a_script_stays_with_its_realm() {
    let mut realms = Realms::new();
    let (one, other) = (realms.open(None), realms.open(None));
    assert_ne!(one, other);
    realms.register(one, 1, false).unwrap();
    realms.register(one, 1, true).unwrap();
    realms.register(one, 1, false).unwrap();
    assert_eq!(realms.register(other, 1, false), Err(RealmError::BelongsTo(one)));
    assert_eq!(realms.realm_of(1), Some(one));
    check(&realms, 2, 1);
    realms.register_work(other, 2, Marker::Parse).unwrap();
    assert_eq!((realms.realm_of(2), realms.realm_of(3)), (None, None));
}
