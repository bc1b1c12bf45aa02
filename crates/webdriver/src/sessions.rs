//! The open sessions. They run concurrently; the commands of one session run one after the other.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::json;
use tokio::sync::Mutex as AsyncMutex;
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

/// The maximum number of open sessions; each has its own process.
const MAX_SESSIONS: usize = 32;

pub struct Sessions {
    host: Arc<dyn PageHost>,
    /// Shared with the threads that start sessions.
    open: Arc<Mutex<HashMap<String, Entry>>>,
}

/// A session, and its pages, which can be ended while a command is running.
#[derive(Clone)]
struct Entry {
    session: Arc<AsyncMutex<Session>>,
    pages: Arc<dyn Pages>,
}

impl Sessions {
    pub fn new(host: Arc<dyn PageHost>) -> Self {
        Self { host, open: Arc::default() }
    }

    /// Performs a command, after the session's earlier ones.
    pub async fn handle(&self, message: Message) -> WebDriverResult<WebDriverResponse> {
        let Message { session_id, command } = message;
        match (session_id, command) {
            (_, WebDriverCommand::Status) => Ok(self.status()),
            (_, WebDriverCommand::NewSession(parameters)) => self.new_session(parameters).await,
            // Does not wait for earlier commands, which may run forever.
            (Some(id), WebDriverCommand::DeleteSession) => {
                self.entry(&id)?;
                self.end(&id);
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
        for (_, entry) in self.open.lock().drain() {
            entry.pages.end();
        }
    }

    fn status(&self) -> WebDriverResponse {
        let count = self.open.lock().len();
        let message = match count {
            1 => "1 session is open".to_owned(),
            count => format!("{count} sessions are open"),
        };
        let value = json!({ "ready": count < MAX_SESSIONS, "message": message });
        WebDriverResponse::Generic(ValueResponse(value))
    }

    async fn new_session(&self, parameters: NewSessionParameters) -> WebDriverResult<WebDriverResponse> {
        let config = SessionConfig::negotiate(&parameters)?;
        let capabilities = config.to_json();
        let (host, open) = (Arc::clone(&self.host), Arc::clone(&self.open));
        let full = || {
            let message = format!("the maximum of {MAX_SESSIONS} sessions is open");
            WebDriverError::new(ErrorStatus::SessionNotCreated, message)
        };
        if open.lock().len() >= MAX_SESSIONS {
            return Err(full());
        }
        let id = on_thread(move || {
            let options = PageOptions { accepts_insecure_certificates: config.accepts_insecure_certificates };
            let not_created =
                |error: crate::CallError| WebDriverError::new(ErrorStatus::SessionNotCreated, error.message);
            let pages = host.start(&options).map_err(not_created)?;
            let session = Session::open(Arc::clone(&pages), config).inspect_err(|_| pages.end())?;
            let id = Uuid::new_v4().to_string();
            let mut open = open.lock();
            if open.len() >= MAX_SESSIONS {
                pages.end();
                return Err(full());
            }
            open.insert(id.clone(), Entry { session: Arc::new(AsyncMutex::new(session)), pages });
            Ok(id)
        })
        .await?;
        Ok(WebDriverResponse::NewSession(NewSessionResponse::new(id, capabilities)))
    }

    async fn command(
        &self,
        id: String,
        command: WebDriverCommand<ForceSample>,
    ) -> WebDriverResult<WebDriverResponse> {
        let mut session = self.entry(&id)?.session.lock_owned().await;
        // The session may have ended in the meantime.
        self.entry(&id)?;
        let result = on_thread(move || session.perform(command)).await;
        match &result {
            Ok(WebDriverResponse::CloseWindow(CloseWindowResponse(left))) if left.is_empty() => self.end(&id),
            Err(_) if self.entry(&id).is_err() => {
                return Err(WebDriverError::new(
                    ErrorStatus::InvalidSessionId,
                    "the session has ended in the meantime",
                ));
            }
            _ => {}
        }
        result
    }

    fn entry(&self, id: &str) -> WebDriverResult<Entry> {
        self.open.lock().get(id).cloned().ok_or_else(|| {
            WebDriverError::new(ErrorStatus::InvalidSessionId, format!("no session has the id {id}"))
        })
    }

    fn end(&self, id: &str) {
        let entry = self.open.lock().remove(id);
        if let Some(entry) = entry {
            entry.pages.end();
        }
    }
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
