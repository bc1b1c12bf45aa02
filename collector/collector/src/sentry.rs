//! [Envelopes](https://develop.sentry.dev/sdk/data-model/envelopes/) that Sentry's SDKs send: the profiles in them.
//!
//! An item `profile` is the profile of one transaction; the marks, measures and long tasks among the transaction's
//! spans are kept with it. An item `profile_chunk` is a part of a profile that goes on. All other items are counted and
//! dropped.

mod envelope;
mod item;
mod number;
mod stacks;
mod transaction;

use selfprof_store::profile::{Labels, Profile, Sent, clean_text, clean_url};

use crate::upload::{self, Refused, Sender};

use envelope::Item;
use item::ProfileItem;
use transaction::Transaction;

pub use envelope::NotAnEnvelope;

/// What an envelope has.
#[derive(Debug, Default)]
pub struct Read {
    /// Its id, with which it is answered.
    pub event_id: Option<String>,
    /// Its profiles.
    pub profiles: Vec<Profile>,
    /// Why others are not taken in.
    pub refused: Vec<String>,
    /// The types of all items.
    pub types: Vec<String>,
}

/// Reads an envelope of an application, received at a time in microseconds since 1970.
pub fn read(bytes: &[u8], app: &str, time: i64, sender: &Sender) -> Result<Read, NotAnEnvelope> {
    let (header, items) = envelope::read(bytes)?;
    let types = items.iter().map(|item| item.header.kind.clone()).collect();
    let mut read = Read { event_id: header.event_id, types, ..Read::default() };
    let of_type = |kind: &'static str| items.iter().filter(move |item| item.header.kind == kind);
    let has_profiles = of_type("profile").next().is_some();
    // A transaction that is not understood is dropped, as others are.
    let transactions: Vec<Transaction> = match has_profiles {
        true => of_type("transaction").filter_map(|item| serde_json::from_slice(item.payload).ok()).collect(),
        false => Vec::new(),
    };
    for item in of_type("profile").chain(of_type("profile_chunk")) {
        match profiles(item, &transactions, app, time, sender) {
            Ok(profiles) => read.profiles.extend(profiles),
            Err(reason) => read.refused.push(format!("{}: {reason}", item.header.kind)),
        }
    }
    Ok(read)
}

/// The profiles of an item: one for each thread, of which pages have one.
fn profiles(
    item: &Item,
    transactions: &[Transaction],
    app: &str,
    time: i64,
    sender: &Sender,
) -> Result<Vec<Profile>, Refused> {
    let item: ProfileItem = serde_json::from_slice(item.payload)?;
    let named = item.transaction();
    let transaction = transactions.iter().find(|transaction| {
        named.is_some_and(|named| named.id.is_some() && transaction.event_id == named.id)
    });
    let page = named.and_then(|named| named.name.as_deref());
    let page = page.or_else(|| transaction.and_then(|transaction| transaction.name.as_deref()));
    let text = |text: &Option<String>| text.as_deref().map(clean_text).unwrap_or_default();
    let labels = Labels {
        app: app.to_owned(),
        release: text(&item.release),
        page: page.map(clean_url).unwrap_or_default(),
        environment: text(&item.environment),
        browser: sender.browser.clone(),
        device: sender.device.clone(),
    };
    // A trace is one visit to a page, and a profiler is one run of the SDK.
    let session = item.profiler_id.as_deref().or_else(|| named.and_then(|named| named.trace_id.as_deref()));
    let session = session.filter(|session| !session.is_empty());
    let id = item.chunk_id.as_deref().or(item.event_id.as_deref()).filter(|id| !id.is_empty());
    let spans = match (transaction, item.start()) {
        (Some(transaction), Some(start)) => transaction.spans_since(start),
        _ => Vec::new(),
    };
    let threads = item.traces()?;
    let mut profiles = Vec::with_capacity(threads.len());
    for (number, trace) in threads.iter().enumerate() {
        let id = id.map(|id| if number == 0 { id.to_owned() } else { format!("{id}/{number}") });
        let sent = Sent { id: id.as_deref(), session, rate: None };
        profiles.push(upload::profile(time, labels.clone(), &sent, spans.clone(), trace)?);
    }
    Ok(profiles)
}

#[cfg(test)]
mod tests;
