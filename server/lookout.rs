//! What is known at this moment of the tasks, loops and results below some folders, for views that stay open.
//! Watches, reads and folds; starts nothing, changes nothing, and knows nothing of the protocol that shows it.
//!
//! One task owns the [`world::World`]. Whoever hears of a change calls [`Lookout::nudge`]; nudges that come while
//! it looks are one. Every look ends in a [`Picture`], whole, which replaces the last.

pub(crate) mod live;
mod loops;
mod made;
pub(crate) mod picture;
pub(crate) mod quick;
mod results;
mod tasks;
mod watching;
mod world;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::{sleep, timeout};

pub(crate) use self::live::Live;
pub(crate) use self::picture::Picture;
use self::quick::Quick;
pub(crate) use self::tasks::is_config;
use self::watching::Watching;
use self::world::World;
use crate::adapters::state_dir::{StateDir, StateError};

/// Events come in bursts; looked at is what they leave.
const BURST: Duration = Duration::from_millis(40);
/// What no event tells is looked at this often, and only while something is at work.
const PULSE: Duration = Duration::from_secs(5);
/// A round without a loop leaves its results a moment before it lets go of the tree.
const QUICK_PULSE: Duration = Duration::from_millis(500);

/// What may have changed.
#[expect(clippy::struct_excessive_bools, reason = "each may have changed without the others")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Nudge {
    /// Texts in the editor.
    pub(crate) texts: bool,
    /// Task documents and configuration on disk, and which there are.
    pub(crate) files: bool,
    /// Journals and results: what the state folder holds of loops and checks.
    pub(crate) state: bool,
    /// What the user trusts.
    pub(crate) trust: bool,
    /// Any file of the work tree: are results still those of the present tree?
    pub(crate) tree: bool,
    /// Comes from a watcher, so that more of it may follow at once.
    pub(crate) burst: bool,
}

impl Nudge {
    pub(crate) const TEXTS: Self =
        Self { texts: true, files: false, state: false, trust: false, tree: false, burst: false };
    pub(crate) const FILES: Self = Self { files: true, ..Self::TEXTS };
    pub(crate) const LOOPS: Self = Self { state: true, ..Self::TEXTS };
    pub(crate) const STATE: Self = Self { trust: true, ..Self::LOOPS };
    pub(crate) const ALL: Self = Self { files: true, tree: true, ..Self::STATE };

    pub(crate) const fn in_burst(self) -> Self {
        Self { burst: true, ..self }
    }

    /// Asks for more than the texts of the editor.
    fn is_deep(self) -> bool {
        self.files || self.state || self.trust
    }

    fn and(self, other: Self) -> Self {
        Self {
            texts: self.texts || other.texts,
            files: self.files || other.files,
            state: self.state || other.state,
            trust: self.trust || other.trust,
            tree: self.tree || other.tree,
            burst: self.burst || other.burst,
        }
    }
}

/// What an editor shows in place of files on disk.
pub(crate) trait Texts: Send + Sync + 'static {
    fn open(&self) -> Vec<OpenText>;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenText {
    pub(crate) path: PathBuf,
    pub(crate) text: Arc<str>,
}

/// Where pictures come from. Clones are the same lookout.
#[derive(Clone)]
pub(crate) struct Lookout {
    wanted: Arc<Wanted>,
    pictures: watch::Receiver<Arc<Picture>>,
    live: Live,
}

#[derive(Default)]
struct Wanted {
    /// With the number of the last one.
    nudge: Mutex<(Nudge, u64)>,
    folders: Mutex<Option<Vec<PathBuf>>>,
    woken: Notify,
}

/// Where loops and results are kept: asked for anew, since it may be repaired or deleted meanwhile.
pub(crate) type OpenState = Arc<dyn Fn() -> Result<StateDir, StateError> + Send + Sync>;

/// What a lookout looks at.
pub(crate) struct Scope {
    pub(crate) state: OpenState,
    pub(crate) folders: Vec<PathBuf>,
    /// The editor's own trust: without it nothing stored counts.
    pub(crate) trusted: bool,
    pub(crate) texts: Arc<dyn Texts>,
}

impl Scope {
    fn world(&self) -> World {
        World::new(Arc::clone(&self.state), self.folders.clone(), self.trusted)
    }

    /// Does something with the world, where that may block. A look that panics is a bug, and no reason never to look
    /// again.
    async fn with(
        &self,
        quick: &mut Quick,
        mut world: World,
        work: impl FnOnce(&mut World) + Send + 'static,
    ) -> World {
        let worked = quick.run(move || {
            work(&mut world);
            world
        });
        worked.await.unwrap_or_else(|| {
            let mut world = self.world();
            world.trouble("looking at the folders failed. Hint: this is a bug, please report it".to_owned());
            world
        })
    }
}

impl Lookout {
    /// Begins to look; ends when the last clone is gone. Needs a tokio runtime.
    pub(crate) fn start(scope: Scope) -> Self {
        let wanted = Arc::new(Wanted::default());
        let (sender, pictures) = watch::channel(Arc::new(Picture::default()));
        let lookout = Self { wanted: Arc::clone(&wanted), pictures, live: Live::default() };
        lookout.nudge(Nudge::ALL);
        let post = Post { wanted: Arc::clone(&wanted), sender, live: lookout.live.clone() };
        tokio::spawn(post.keep(scope));
        lookout
    }

    /// The latest picture, once there is one.
    pub(crate) async fn looked(&self) -> Arc<Picture> {
        const PATIENCE: Duration = Duration::from_secs(10);
        let picture = self.picture();
        if picture.looked {
            return picture;
        }
        let mut pictures = self.pictures.clone();
        let _ = timeout(PATIENCE, pictures.wait_for(|it| it.looked)).await;
        self.picture()
    }

    /// Something may have changed.
    pub(crate) fn nudge(&self, nudge: Nudge) {
        let _ = self.wanted.nudge(nudge);
    }

    /// Other folders are open now.
    pub(crate) fn set_folders(&self, folders: Vec<PathBuf>) {
        *self.wanted.folders.lock().unwrap_or_else(PoisonError::into_inner) = Some(folders);
        self.nudge(Nudge::ALL);
    }

    /// The latest picture.
    pub(crate) fn picture(&self) -> Arc<Picture> {
        self.pictures.borrow().clone()
    }

    /// A picture from a look that began after this call, within reason: for answers that must show what was just done.
    pub(crate) async fn fresh(&self, nudge: Nudge) -> Arc<Picture> {
        const PATIENCE: Duration = Duration::from_secs(5);
        let mut pictures = self.pictures.clone();
        let number = self.wanted.nudge(nudge);
        let _ = timeout(PATIENCE, pictures.wait_for(|it| it.answers >= number)).await;
        self.picture()
    }

    /// Told of every new picture; only the latest is kept.
    pub(crate) fn pictures(&self) -> watch::Receiver<Arc<Picture>> {
        self.pictures.clone()
    }

    /// What keepers tell and no journal holds.
    pub(crate) fn live(&self) -> &Live {
        &self.live
    }
}

impl Wanted {
    /// Its number: the look that answers it answers all before it.
    fn nudge(&self, nudge: Nudge) -> u64 {
        let mut wanted = self.nudge.lock().unwrap_or_else(PoisonError::into_inner);
        *wanted = (wanted.0.and(nudge), wanted.1 + 1);
        self.woken.notify_one();
        wanted.1
    }

    fn take(&self) -> (Nudge, u64) {
        let mut wanted = self.nudge.lock().unwrap_or_else(PoisonError::into_inner);
        (std::mem::take(&mut wanted.0), wanted.1)
    }
}

/// The side that looks.
struct Post {
    wanted: Arc<Wanted>,
    sender: watch::Sender<Arc<Picture>>,
    live: Live,
}

impl Post {
    async fn keep(self, mut scope: Scope) {
        let mut world = scope.world();
        let mut watching = {
            let wanted = Arc::clone(&self.wanted);
            Watching::new(move |nudge| {
                let _ = wanted.nudge(nudge);
            })
        };
        let (mut pulse, mut quick) = (None, Quick::default());
        while self.woken(pulse).await {
            let (mut nudge, mut number) = self.wanted.take();
            if nudge.burst {
                sleep(BURST).await;
                let (more, last) = self.wanted.take();
                (nudge, number) = (nudge.and(more), last);
            }
            if let Some(folders) = self.wanted.folders.lock().unwrap_or_else(PoisonError::into_inner).take() {
                scope.folders.clone_from(&folders);
                world.set_folders(folders);
            }
            let (texts, mut slow) = (Arc::clone(&scope.texts), Quick::default());
            // Everything else reads files.
            let is_keystroke = world.has_begun() && !nudge.is_deep() && !nudge.tree;
            let quick = if is_keystroke { &mut quick } else { &mut slow };
            world = scope.with(quick, world, move |world| world.look(nudge, texts.open())).await;
            if nudge.is_deep() {
                let places = world.places();
                let followed = tokio::task::spawn_blocking(move || {
                    let is_new = watching.follow(&places);
                    (watching, is_new)
                });
                let Ok((back, is_new)) = followed.await else { return };
                watching = back;
                if is_new {
                    let _ = self.wanted.nudge(Nudge { files: true, ..Nudge::STATE });
                }
            }
            self.publish(&world, number);
            if nudge.tree {
                world = scope.with(&mut Quick::default(), world, World::look_at_trees).await;
                self.publish(&world, number);
            }
            pulse = world.pulse();
        }
    }

    /// False once nobody holds the lookout any more.
    async fn woken(&self, pulse: Option<Duration>) -> bool {
        tokio::select! {
            () = self.wanted.woken.notified() => {}
            () = sleep(pulse.unwrap_or(PULSE)), if pulse.is_some() => {
                let _ = self.wanted.nudge(Nudge::LOOPS);
            },
            () = self.sender.closed() => return false,
        }
        !self.sender.is_closed()
    }

    fn publish(&self, world: &World, number: u64) {
        let picture = Picture { answers: number, ..world.picture() };
        let hear = Arc::clone(&self.wanted);
        if let Some(store) = world.store() {
            self.live.listen(store, &picture.loops, move || {
                let _ = hear.nudge(Nudge::LOOPS);
            });
        }
        self.sender.send_replace(Arc::new(picture));
    }
}

#[cfg(test)]
mod tests;
