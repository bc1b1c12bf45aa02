//! The open sessions. They run concurrently; the commands of one session run one after the other.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::json;
use tokio::sync::{Mutex as AsyncMutex, OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;
use uuid::Uuid;
use webdriver::command::{NewSessionParameters, WebDriverCommand};
use webdriver::error::{ErrorStatus, WebDriverError, WebDriverResult};
use webdriver::response::{CloseWindowResponse, NewSessionResponse, ValueResponse, WebDriverResponse};

use crate::force_sample::ForceSample;
use crate::pages::{PageHost, PageOptions, Pages};
use crate::router::Message;
use crate::session::Session;
use crate::session_config::SessionConfig;

/// The maximum number of sessions that are open or being started; each has its own process.
const MAX_SESSIONS: usize = 32;

pub struct Sessions {
    host: Arc<dyn PageHost>,
    /// Shared with the threads that perform commands.
    open: Arc<Mutex<HashMap<String, Entry>>>,
    free: Arc<Semaphore>,
}

struct Entry {
    session: Arc<AsyncMutex<Session>>,
    _running: Running,
}

/// The pages of a session, which end with this value, whatever command is running. So do those of a client that has
/// disconnected while its session was being started: nobody knows the id of that.
struct Running {
    pages: Arc<dyn Pages>,
    _place: OwnedSemaphorePermit,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.pages.end();
    }
}

impl Sessions {
    pub fn new(host: Arc<dyn PageHost>) -> Self {
        Self { host, open: Arc::default(), free: Arc::new(Semaphore::new(MAX_SESSIONS)) }
    }

    /// Performs a command, after the session's earlier ones.
    pub async fn handle(&self, message: Message) -> WebDriverResult<WebDriverResponse> {
        let Message { session_id, command } = message;
        match (session_id, command) {
            (_, WebDriverCommand::Status) => Ok(self.status()),
            (_, WebDriverCommand::NewSession(parameters)) => self.new_session(parameters).await,
            // Does not wait for earlier commands, which may run forever.
            (Some(id), WebDriverCommand::DeleteSession) => {
                self.session(&id)?;
                end(&self.open, &id);
                Ok(WebDriverResponse::DeleteSession)
            }
            (Some(id), command) => self.command(id, command).await,
            (None, _) => {
                Err(WebDriverError::new(ErrorStatus::InvalidSessionId, "the command needs a session"))
            }
        }
    }

    /// Ends all sessions.
    pub fn end_all(&self) {
        self.open.lock().clear();
    }

    fn status(&self) -> WebDriverResponse {
        let count = self.open.lock().len();
        let message = match count {
            1 => "1 session is open".to_owned(),
            count => format!("{count} sessions are open"),
        };
        let value = json!({ "ready": self.free.available_permits() > 0, "message": message });
        WebDriverResponse::Generic(ValueResponse(value))
    }

    async fn new_session(&self, parameters: NewSessionParameters) -> WebDriverResult<WebDriverResponse> {
        let config = SessionConfig::negotiate(&parameters)?;
        let capabilities = config.to_json();
        let host = Arc::clone(&self.host);
        let place = Arc::clone(&self.free).try_acquire_owned().map_err(|_| {
            let message = format!("the maximum of {MAX_SESSIONS} sessions is open or being started");
            WebDriverError::new(ErrorStatus::SessionNotCreated, message)
        })?;
        let options = PageOptions { accepts_insecure_certificates: config.accepts_insecure_certificates };
        let running = on_thread(move || {
            let pages = host.start(&options).map_err(|error: crate::CallError| {
                WebDriverError::new(ErrorStatus::SessionNotCreated, error.message)
            })?;
            Ok(Running { pages, _place: place })
        })
        .await?;
        let pages = Arc::clone(&running.pages);
        let session = on_thread(move || Session::open(pages, config)).await?;
        let id = Uuid::new_v4().to_string();
        let session = Arc::new(AsyncMutex::new(session));
        self.open.lock().insert(id.clone(), Entry { session, _running: running });
        Ok(WebDriverResponse::NewSession(NewSessionResponse::new(id, capabilities)))
    }

    async fn command(
        &self,
        id: String,
        command: WebDriverCommand<ForceSample>,
    ) -> WebDriverResult<WebDriverResponse> {
        let mut session = self.session(&id)?.lock_owned().await;
        // The session may have ended in the meantime.
        self.session(&id)?;
        let (open, ended) = (Arc::clone(&self.open), id.clone());
        let result = on_thread(move || {
            let result = session.perform(command);
            // Here, because nobody awaits the result when the client has disconnected.
            if let Ok(WebDriverResponse::CloseWindow(CloseWindowResponse(left))) = &result
                && left.is_empty()
            {
                end(&open, &ended);
            }
            result
        })
        .await;
        match &result {
            Err(_) if self.session(&id).is_err() => {
                return Err(WebDriverError::new(
                    ErrorStatus::InvalidSessionId,
                    "the session has ended in the meantime",
                ));
            }
            _ => {}
        }
        result
    }

    fn session(&self, id: &str) -> WebDriverResult<Arc<AsyncMutex<Session>>> {
        self.open.lock().get(id).map(|entry| Arc::clone(&entry.session)).ok_or_else(|| {
            WebDriverError::new(ErrorStatus::InvalidSessionId, format!("no session has the id {id}"))
        })
    }
}

fn end(open: &Mutex<HashMap<String, Entry>>, id: &str) {
    let entry = open.lock().remove(id);
    drop(entry);
}

/// Runs blocking work on another thread.
async fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> WebDriverResult<T> + Send + 'static,
) -> WebDriverResult<T> {
    spawn_blocking(work).await.unwrap_or_else(|_| {
        Err(WebDriverError::new(
            ErrorStatus::UnknownError,
            "the command failed unexpectedly; this is a bug in selfprof",
        ))
    })
}
