//! The HTTP server.

mod access;
mod api;
mod asked;
mod body;
mod envelopes;
mod health;
mod ingest;
mod intake;
mod metrics;
mod openapi;
mod otlp;
mod page;
mod problem;
mod sessions;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::{delete, get, post};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use selfprof_store::Store;
use selfprof_store::coverage::Coverages;
use selfprof_store::query::Reader;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tower_http::cors::{Any, CorsLayer};

pub use access::Access;

use crate::alerts::Watch;
use body::Budget;
use metrics::Metrics;

use crate::upkeep::Keeper;

/// What all requests share. It lives as long as the server.
pub struct State {
    pub store: Store,
    pub reader: Reader,
    pub access: Access,
    pub keeper: Keeper,
    pub watch: Watch,
    pub coverage: Coverages,
    budget: Budget,
    metrics: Metrics,
}

type Shared = Arc<State>;

/// The connections that may be open at the same time.
const CONNECTIONS: usize = 2_000;

/// How long a sender may take for the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// How long requests may still take after the server was asked to stop.
const DRAIN_TIME: Duration = Duration::from_secs(10);

impl State {
    /// Nothing has been asked yet.
    pub fn new(
        store: Store,
        reader: Reader,
        access: Access,
        keeper: Keeper,
        watch: Watch,
        coverage: Coverages,
    ) -> Self {
        let (budget, metrics) = (Budget::default(), Metrics::default());
        Self { store, reader, access, keeper, watch, coverage, budget, metrics }
    }
}

/// The routes.
fn router(state: Shared) -> Router {
    // Pages of any origin send profiles; what they may not is decided by their key.
    let ingest = Router::new()
        .route("/v1/profiles", post(ingest::profiles))
        .route("/api/{project}/envelope/", post(envelopes::envelope))
        .route("/api/{project}/envelope", post(envelopes::envelope))
        .route("/v1development/profiles", post(otlp::profiles))
        .layer(CorsLayer::new().allow_origin(Any).allow_methods(Any).allow_headers(Any).expose_headers(Any));
    let questions = Router::new()
        .route("/api/v1/functions", get(api::functions))
        .route("/api/v1/flamegraph", get(api::flame_graph))
        .route("/api/v1/series", get(api::series))
        .route("/api/v1/spans", get(api::spans))
        .route("/api/v1/spans/slow", get(api::slow_spans))
        .route("/api/v1/diff", get(api::diff))
        .route("/api/v1/profiles", get(api::profiles))
        .route("/api/v1/profiles/{id}", get(api::trace))
        .route("/api/v1/profiles/{id}/timeline", get(api::timeline))
        .route("/api/v1/alerts", get(api::alerts))
        .route("/api/v1/coverage", get(api::coverage))
        .route("/api/v1/apps", get(api::apps))
        .route("/api/v1/values", get(api::values))
        .route("/api/v1/maps", post(api::put_map))
        .route("/api/v1/sessions", delete(sessions::delete))
        .route("/metrics", get(metrics::metrics))
        .layer(axum::middleware::from_fn_with_state(Arc::clone(&state), access::of_readers));
    Router::new()
        .merge(ingest)
        .merge(questions)
        .route("/api/v1/openapi.json", get(openapi::openapi))
        .route("/", get(page::page))
        .route("/profiles/{id}", get(page::profile))
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .with_state(state)
}

/// Serves until `stop` is ready, then lets requests end.
pub async fn serve(listener: TcpListener, state: Shared, stop: impl Future<Output = ()>) {
    let service = router(Arc::clone(&state));
    let connections = Arc::new(Semaphore::new(CONNECTIONS));
    let (stopping, is_stopping) = watch::channel(());
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
    tokio::pin!(stop);
    loop {
        // With too many connections, further ones wait in the system's queue.
        let accepted = tokio::select! {
            () = &mut stop => break,
            accepted = accept(&listener, &connections) => accepted,
        };
        let Some((stream, permit)) = accepted else { continue };
        let service = TowerToHyperService::new(service.clone());
        let connection = builder.serve_connection(TokioIo::new(stream), service).into_owned();
        let mut is_stopping = is_stopping.clone();
        tokio::spawn(async move {
            let mut connection = pin!(connection);
            let result = tokio::select! {
                result = connection.as_mut() => result,
                _ = is_stopping.changed() => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            if let Err(error) = result {
                tracing::debug!(error, "a connection ended early");
            }
            drop(permit);
        });
    }
    drop(listener);
    drop(stopping);
    // All connections have ended when nobody else has a permit.
    let ended = connections.acquire_many(CONNECTIONS as u32);
    if tokio::time::timeout(DRAIN_TIME, ended).await.is_err() {
        tracing::warn!("some requests did not end in {DRAIN_TIME:?} and were cut off");
    }
}

async fn accept(
    listener: &TcpListener,
    connections: &Arc<Semaphore>,
) -> Option<(tokio::net::TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let permit = Arc::clone(connections).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => {
            // Answers are small, and their senders wait for them.
            let _ = stream.set_nodelay(true);
            Some((stream, permit))
        }
        Err(error) => {
            // Such as too many open files. Some will be closed.
            tracing::warn!(%error, "a connection could not be taken");
            tokio::time::sleep(Duration::from_millis(100)).await;
            None
        }
    }
}
