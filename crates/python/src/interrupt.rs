//! Work without the GIL, which Ctrl-C interrupts.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SendError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::errors::Result;

/// Below so many documents or values, work takes a few milliseconds at most and is not interrupted: handing it to another thread
/// would take longer than many of its answers.
const INTERRUPTIBLE: u64 = 1 << 20;

/// The time between two looks for Ctrl-C.
const PAUSE: Duration = Duration::from_millis(20);

/// Whether threads for searches may have been started, and whether this process was forked after that.
static IS_USED: AtomicBool = AtomicBool::new(false);
static IS_FORKED: AtomicBool = AtomicBool::new(false);

/// Refuses to go on in a process that was forked: it has none of the threads that searches wait for.
pub(crate) fn refuse_fork() -> PyResult<()> {
    if is_forked() {
        return Err(PyRuntimeError::new_err(
            "this process was forked after docvalues was used: start it by \"spawn\" or \"forkserver\"",
        ));
    }
    IS_USED.store(true, Ordering::Relaxed);
    Ok(())
}

/// Is called in a process that was forked.
#[pyfunction]
pub(crate) fn _forked() {
    IS_FORKED.fetch_or(IS_USED.load(Ordering::Relaxed), Ordering::Relaxed);
}

/// Whether this process was forked after docvalues was used.
pub(crate) fn is_forked() -> bool {
    IS_FORKED.load(Ordering::Relaxed)
}

/// Set when the search should stop.
pub(crate) type Stop = Arc<AtomicBool>;

/// An error if work should stop.
pub(crate) fn go_on(stop: &Stop) -> Result<(), docvalues::search::Error> {
    if stop.load(Ordering::Relaxed) { Err(docvalues::search::Error::Interrupted) } else { Ok(()) }
}

/// Whether this is Python's main thread. Others have no signals.
fn has_signals(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    threading.call_method0("get_ident")?.eq(main)
}

/// Tells `progress` a number. Ctrl-C has its turn before, on Python's main thread. Call it detached.
pub(crate) fn tell(progress: Option<&Py<PyAny>>, number: u64) -> PyResult<()> {
    Python::attach(|py| {
        py.check_signals()?;
        progress.map_or(Ok(()), |progress| progress.call1(py, (number,)).map(drop))
    })
}

/// Runs a search over so many documents, or for so many values, without the GIL. Ctrl-C sets `Stop`; its exception is returned
/// once the search has stopped, so that nothing reads the files after the call.
///
/// Python handles signals on its main thread only, so the search runs on another one meanwhile. It must not poll for them
/// itself, as a handler would run while the search holds locks. It does not run in rayon's pool, either: a thread there that
/// waits for a part of one search may begin another search, which may wait for the locks of the first one.
pub(crate) fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    count: u64,
    search: impl FnOnce(&Stop) -> Result<T> + Send + 'static,
) -> Result<T> {
    let stop = Stop::default();
    if count < INTERRUPTIBLE || !has_signals(py)? {
        return py.detach(|| search(&stop));
    }
    let (send, receive) = channel();
    let asked = Arc::clone(&stop);
    let answered = move || catch_unwind(AssertUnwindSafe(|| search(&asked)));
    let job: Job = Box::new(move || drop(send.send(answered())));
    py.detach(move || {
        if let Err(SendError(job)) = searcher().send(job) {
            job();
        }
        loop {
            // A panic continues here.
            if let Ok(answer) = receive.recv_timeout(PAUSE) {
                return answer.unwrap_or_else(|panic| resume_unwind(panic));
            }
            Python::attach(|py| py.check_signals()).inspect_err(|_| {
                stop.store(true, Ordering::Relaxed);
                drop(receive.recv());
            })?;
        }
    })
}

/// Work for the thread of [`searcher`].
type Job = Box<dyn FnOnce() + Send>;

/// The thread that runs the searches of the main thread, one after the other. Starting one for each search takes longer than
/// many answers. A signal handler that searches waits for the search that it interrupts.
fn searcher() -> &'static Sender<Job> {
    static SEARCHER: OnceLock<Sender<Job>> = OnceLock::new();
    SEARCHER.get_or_init(|| {
        let (send, receive) = channel::<Job>();
        thread::spawn(move || receive.into_iter().for_each(|job| job()));
        send
    })
}
