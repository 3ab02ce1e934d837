//! The ways out that an agent tries. Each is shell code that succeeds exactly if the agent got out, with these
//! variables: `HOME`, `STATE` (loopkeeper's state folder), `RUN` (sockets of the user's services), `OUTSIDE` (the pid of
//! a process of the user), `DISPLAY_SOCKET`, `FORWARDED` (a socket of an SSH agent), and programs: `CONNECT` to a socket, `ATTACH` to a process as a debugger,
//! `TAKE` memory or a descriptor of a process.

/// What an agent gets by a way out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gain {
    Read,
    Write,
    Connect,
    Execute,
}

/// Where a way is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closed {
    /// With namespaces and with Landlock.
    Always,
    /// With namespaces only.
    Namespaces,
}

pub(super) struct WayOut {
    pub(super) gain: Gain,
    pub(super) name: &'static str,
    pub(super) code: &'static str,
    pub(super) closed: Closed,
}

const fn way(gain: Gain, name: &'static str, code: &'static str) -> WayOut {
    WayOut { gain, name, code, closed: Closed::Always }
}

const fn only_namespaces(gain: Gain, name: &'static str, code: &'static str) -> WayOut {
    WayOut { gain, name, code, closed: Closed::Namespaces }
}

use Gain::{Connect, Execute, Read, Write};

#[rustfmt::skip]
pub(super) const WAYS_OUT: &[WayOut] = &[
    // Paths.
    way(Read, "ssh-key", "cat $HOME/.ssh/id"),
    way(Read, "netrc", "cat $HOME/.netrc"),
    way(Read, "cloud", "cat $HOME/.aws/credentials"),
    way(Read, "gpg", "cat $HOME/.gnupg/key"),
    way(Read, "forge-token", "cat $HOME/.config/gh/hosts.yml"),
    way(Read, "registry", "cat $HOME/.docker/config.json"),
    way(Read, "git-password", "cat $HOME/.git-credentials"),
    way(Read, "browser", "cat $HOME/.mozilla/cookies"),
    way(Read, "keyring", "cat $HOME/.local/share/keyrings/login"),
    way(Read, "cluster", "cat $HOME/.kube/config"),
    way(Read, "crates-token", "cat $HOME/.cargo/credentials.toml"),
    way(Read, "history", "cat $HOME/.bash_history"),
    way(Read, "gem-token", "cat $HOME/.gem/credentials"),
    way(Read, "composer-token", "cat $HOME/.config/composer/auth.json"),
    way(Read, "object-store", "cat $HOME/.s3cfg"),
    way(Read, "other-browser", "cat $HOME/.config/vivaldi/cookies"),
    way(Read, "packaged-browser", "cat $HOME/.var/app/one"),
    way(Read, "messenger", "cat $HOME/.config/Signal/key"),
    way(Read, "display-key", "cat $HOME/.Xauthority"),
    way(Read, "database-history", "cat $HOME/.psql_history"),
    way(Read, "saved-history", "cat $HOME/.local/share/atuin/history.db"),
    way(Read, "mail-password", "cat $HOME/.authinfo"),
    way(Read, "other-forge", "cat $HOME/.config/glab-cli/config.yml"),
    way(Read, "chart-registry", "cat $HOME/.config/helm/registry/config.json"),
    way(Read, "wallet", "cat $HOME/.ethereum/keystore/one"),
    way(Read, "key-of-machine", "cat $HOME/.lima/_config/user"),
    way(Read, "archive", "tar -cf - -C $HOME .git-credentials | tar -xOf - | grep secret"),
    way(Read, "by-descriptor", "exec 3< $HOME/.ssh; cat /proc/self/fd/3/id"),
    way(Read, "upwards", "cat ../home/.ssh/id"),
    // Links.
    way(Read, "link", "ln -sf $HOME/.ssh/id link; cat link"),
    way(Read, "link-to-folder", "ln -sfn $HOME/.ssh folder; cat folder/id"),
    way(Read, "hard-link", "ln -f $HOME/.ssh/id hard; cat hard"),
    way(Read, "moved-folder", "mv $HOME/.ssh $HOME/moved; cat $HOME/moved/id; mv $HOME/moved $HOME/.ssh"),
    way(Write, "other-project", "echo evil > $HOME/other-project/Makefile"),
    way(Write, "new-file-of-other-project", "echo evil > $HOME/other-project/conftest.py"),
    way(Write, "moved-project", "mv $HOME/other-project $HOME/was; cp -r $HOME/was $HOME/other-project; echo evil > $HOME/other-project/Makefile"),
    way(Write, "removed-document", "rm -r $HOME/Documents/letter"),
    way(Write, "repository-beside", "echo evil > ../beside/Makefile"),
    way(Write, "replaced-parent", "cd $HOME; mv .config .was; cp -a .was .config; echo evil > .config/nvim/init.lua; rm -r .config; mv .was .config"),
    // /proc.
    way(Read, "own-root", "cat /proc/self/root$HOME/.ssh/id"),
    way(Read, "own-folder", "cat /proc/self/cwd/../home/.ssh/id"),
    way(Read, "root-of-first-process", "cat /proc/1/root$HOME/.ssh/id || cat /proc/$OUTSIDE/root$HOME/.ssh/id"),
    way(Read, "folder-of-process", "cat /proc/$OUTSIDE/cwd/home/.ssh/id"),
    way(Read, "descriptor-of-process", "cat /proc/$OUTSIDE/fd/9"),
    only_namespaces(Read, "environment-of-process", "grep -a TOP_SECRET /proc/$OUTSIDE/environ"),
    way(Write, "memory-of-process", "exec 3<> /proc/$OUTSIDE/mem"),
    way(Read, "memory-by-call", "$TAKE memory $OUTSIDE"),
    way(Read, "descriptor-by-call", "$TAKE descriptor $OUTSIDE"),
    way(Execute, "ptrace", "$ATTACH $OUTSIDE"),
    way(Execute, "signal", "kill -0 $OUTSIDE"),
    // Mounts and namespaces: in a namespace of its own the agent has all capabilities.
    way(Read, "unmount", "unshare -Urm sh -c 'umount $HOME/.ssh; cat $HOME/.ssh/id'"),
    way(Read, "unmount-file", "unshare -Urm sh -c 'umount -l $HOME/.netrc; cat $HOME/.netrc'"),
    way(Read, "bind-mount", "mkdir -p there; unshare -Urm sh -c 'mount --bind $HOME there; cat there/.ssh/id'"),
    way(Read, "change-root", "unshare -Urm chroot / cat $HOME/.ssh/id"),
    way(Read, "overlay", "mkdir -p up work over; unshare -Urm sh -c 'mount -t overlay -o lowerdir='$HOME',upperdir=up,workdir=work,userxattr none over && cat over/.ssh/id || cat $HOME/.ssh/id'"),
    way(Read, "namespace-of-process", "nsenter -t $OUTSIDE -m cat $HOME/.ssh/id"),
    way(Read, "own-proc", "unshare -Urmpf sh -c 'mount -t proc proc /proc; cat /proc/1/root'$HOME/.ssh/id"),
    way(Write, "remount", "unshare -Urm sh -c 'mount -o remount,bind,rw $HOME/.bashrc; echo evil >> $HOME/.bashrc'"),
    // Startup files of shells and programs.
    way(Write, "bashrc", "echo evil >> $HOME/.bashrc"),
    way(Write, "replaced-bashrc", "echo evil > new; mv -f new $HOME/.bashrc"),
    way(Write, "removed-bashrc", "cp $HOME/.bashrc saved; rm -f $HOME/.bashrc; mv saved $HOME/.bashrc"),
    way(Write, "profile-with-preload", "echo 'export LD_PRELOAD=/tmp/evil.so' >> $HOME/.profile"),
    way(Write, "zshrc", "echo evil >> $HOME/.zshrc"),
    way(Write, "git-user-configuration", "git config --global core.pager evil"),
    way(Write, "editor", "echo evil >> $HOME/.config/nvim/init.lua"),
    way(Write, "editor-extension", "touch $HOME/.vscode/extensions/evil.js"),
    way(Write, "autostart", "touch $HOME/.config/autostart/evil.desktop"),
    way(Write, "systemd-unit", "touch $HOME/.config/systemd/user/evil.service"),
    way(Write, "session-start", "echo evil >> $HOME/.xprofile"),
    way(Write, "session-environment", "echo LD_PRELOAD=/tmp/evil.so >> $HOME/.config/environment.d/one.conf"),
    way(Write, "folder-environment", "echo evil >> $HOME/.config/direnv/direnvrc"),
    way(Write, "old-editor", "echo evil >> $HOME/.vim/vimrc"),
    way(Write, "debugger", "echo evil >> $HOME/.gdbinit"),
    way(Write, "window-manager", "echo exec evil >> $HOME/.config/sway/config"),
    way(Write, "desktop-entry", "echo Exec=evil >> $HOME/.local/share/applications/one.desktop"),
    way(Write, "remote-extension", "touch $HOME/.vscode-server/extensions/evil.js"),
    way(Write, "aliases", "echo evil >> $HOME/.bash_aliases"),
    way(Write, "key-bindings", "echo '\"\\C-m\": evil' >> $HOME/.inputrc"),
    way(Write, "shell-framework", "echo evil >> $HOME/.oh-my-zsh/custom/one.zsh"),
    way(Write, "sourced-by-startup", "echo evil >> $HOME/.cargo/env"),
    way(Write, "pager-filter", "echo evil >> $HOME/.lessfilter; chmod +x $HOME/.lessfilter"),
    way(Write, "shell-prompt", "echo evil >> $HOME/.config/starship.toml"),
    way(Write, "editor-plugin", "echo evil >> $HOME/.local/share/nvim/site/plugin/one.lua"),
    way(Write, "editor-trust", "echo evil >> $HOME/.local/state/nvim/trust"),
    way(Write, "folder-environment-trust", "touch $HOME/.local/share/direnv/allow/evil"),
    way(Write, "tool-version-trust", "ln -s $PWD/mise.toml $HOME/.local/state/mise/trusted-configs/evil"),
    way(Write, "hooks-of-all-repositories", "echo evil >> $HOME/.githooks/pre-commit"),
    way(Write, "old-editor-commands", "echo '!evil' >> $HOME/.exrc"),
    way(Write, "interpreter-startup", "echo evil >> $HOME/.ipython/profile_default/startup/one.py"),
    way(Write, "desktop-extension", "touch $HOME/.local/share/gnome-shell/extensions/evil"),
    way(Write, "bus-activation", "echo Exec=evil >> $HOME/.local/share/dbus-1/services/one.service"),
    way(Write, "mail-delivery", "echo '|evil' >> $HOME/.forward"),
    way(Write, "build-daemon-options", "echo org.gradle.jvmargs=-javaagent:evil >> $HOME/.gradle/gradle.properties"),
    way(Write, "build-startup", "echo evil >> $HOME/.mavenrc"),
    way(Write, "provider-override", "echo evil >> $HOME/.terraformrc"),
    way(Write, "cron-of-machine", "touch /etc/cron.d/.evil && rm /etc/cron.d/.evil"),
    way(Write, "link-to-startup", "ln -sf $HOME/.bashrc startup; echo evil >> startup"),
    way(Write, "hard-link-to-startup", "ln -f $HOME/.bashrc startup-hard; echo evil >> startup-hard"),
    way(Write, "truncated-startup", "truncate -s 0 $HOME/.profile"),
    way(Write, "authorized-key", "echo key >> $HOME/.ssh/authorized_keys"),
    // Package managers and agents.
    way(Write, "cargo-wrapper", "echo evil >> $HOME/.cargo/config.toml"),
    way(Write, "npm-scripts", "echo ignore-scripts=false >> $HOME/.npmrc"),
    way(Write, "pip-index", "echo evil >> $HOME/.config/pip/pip.conf"),
    way(Write, "gradle-script", "echo evil >> $HOME/.gradle/init.gradle"),
    way(Write, "agent-hooks", "echo evil >> $HOME/.claude/settings.json"),
    way(Write, "agent-hook-program", "echo evil >> $HOME/.claude/hooks/one"),
    way(Write, "agent-command", "echo evil >> $HOME/.claude/commands/one.md"),
    way(Write, "agent-instructions", "echo evil >> $HOME/.codex/AGENTS.md"),
    way(Write, "agent-plugin", "echo evil >> $HOME/.config/opencode/plugin/one.js"),
    way(Write, "agent-servers", "echo evil >> $HOME/.codex/config.toml"),
    // git in the work tree.
    only_namespaces(Write, "git-hook", "echo evil > .git/hooks/pre-commit"),
    only_namespaces(Write, "moved-git-folder", "mv .git .g && cp -a .g .git && echo evil > .git/hooks/post-commit; got=$?; rm -rf .g; exit $got"),
    only_namespaces(Write, "git-hooks-path", "git config core.hooksPath evil"),
    only_namespaces(Write, "git-filter", "git config filter.evil.smudge evil"),
    only_namespaces(Write, "hook-of-submodule", "echo evil > .git/modules/lib/hooks/post-checkout"),
    way(Write, "named-hooks", "echo evil > $HOME/named-hooks/pre-commit"),
    // loopkeeper itself.
    way(Write, "trust", "touch $STATE/trust/forged"),
    way(Write, "own-programs", "touch $STATE/bin/forged"),
    way(Write, "journal", "exec 3>> $(ls $STATE/workspaces/*/loops/*/journal.jsonl)"),
    way(Write, "prompt-of-loop", "echo evil >> $(ls $STATE/workspaces/*/loops/*/prompts/0001.md)"),
    way(Write, "start-of-loop", "echo ' ' >> $(ls $STATE/workspaces/*/loops/*/start.json)"),
    way(Write, "snapshots", "touch $(ls -d $STATE/workspaces/*/snapshots.git)/forged"),
    way(Write, "own-configuration", "touch $HOME/.config/loopkeeper/forged"),
    way(Write, "moved-state", "mv $STATE/trust $STATE/t && mv $STATE/t $STATE/trust"),
    // Sockets of the user's services.
    only_namespaces(Connect, "session-bus", "$CONNECT $RUN/bus"),
    only_namespaces(Connect, "bus-by-link", "ln -sf $RUN/bus bus; $CONNECT bus"),
    only_namespaces(Connect, "bus-by-process", "$CONNECT /proc/self/root$RUN/bus"),
    only_namespaces(Connect, "systemd", "$CONNECT $RUN/systemd/private"),
    only_namespaces(Connect, "docker", "$CONNECT $RUN/docker.sock"),
    only_namespaces(Connect, "podman", "$CONNECT $RUN/podman/podman.sock"),
    only_namespaces(Connect, "gpg-agent", "$CONNECT $RUN/gnupg/S.gpg-agent"),
    only_namespaces(Connect, "keyring-service", "$CONNECT $RUN/keyring/control"),
    only_namespaces(Connect, "ssh-agent", "$CONNECT $RUN/agent.sock"),
    only_namespaces(Connect, "screen", "$CONNECT $RUN/screen-user/1.session"),
    only_namespaces(Connect, "display", "$CONNECT $DISPLAY_SOCKET"),
    only_namespaces(Connect, "wayland", "$CONNECT $RUN/wayland-0"),
    only_namespaces(Connect, "editor-server", "$CONNECT $RUN/nvim.4242.0"),
    only_namespaces(Connect, "emacs-server", "$CONNECT $RUN/emacs/server"),
    only_namespaces(Connect, "vscode-server", "$CONNECT $RUN/vscode-ipc-1.sock"),
    only_namespaces(Connect, "window-manager-socket", "$CONNECT $RUN/sway-ipc.1.sock"),
    only_namespaces(Connect, "zellij", "$CONNECT $RUN/zellij/one"),
    only_namespaces(Connect, "virtual-machines", "$CONNECT $RUN/libvirt/libvirt-sock"),
    only_namespaces(Connect, "accessibility-bus", "$CONNECT $RUN/at-spi/bus"),
    only_namespaces(Connect, "microphone", "$CONNECT $RUN/pulse/native"),
    only_namespaces(Connect, "session-of-packages", "$CONNECT $RUN/snapd-session-agent.socket"),
    only_namespaces(Connect, "named-by-environment", "$CONNECT $RUN/named.sock"),
    only_namespaces(Connect, "forwarded-keys", "$CONNECT $FORWARDED"),
    way(Connect, "abstract-socket", "$CONNECT @$RUN"),
    only_namespaces(Execute, "tmux", "tmux -S $RUN/tmux-user/default run-shell 'true'"),
    // More rights.
    only_namespaces(Write, "device-node", "mknod node b 7 0; rm node"),
    way(Execute, "setuid", "cp $(command -v id) ./as-root; chmod u+s as-root; setpriv --reuid 65534 --clear-groups ./as-root -u | grep -qx 0"),
    way(Execute, "git-credential-helper", "printf 'protocol=https\\nhost=example.org\\n\\n' | git credential-store get | grep password"),
];

/// What an agent needs for its work, in every sandbox.
#[rustfmt::skip]
pub(super) const NEEDED: &[(&str, &str)] = &[
    ("edit", "mkdir -p src && echo x > src/new && mv src/new moved"),
    ("cache", "echo x > $HOME/.cache/x && mv $HOME/.cache/x $HOME/.cache/y"),
    ("temporary", "file=$(mktemp -p /var/tmp) && echo x > $file && rm $file"),
    ("commit", "git add src && git -c user.name=a -c user.email=a@b commit -qm work --allow-empty"),
    ("read-startup", "cat $HOME/.bashrc && cat $HOME/.cargo/config.toml && ls -a $HOME"),
    ("login-of-agent", "cat $HOME/.codex/auth.json && echo new > $HOME/.codex/auth.json"),
    ("devices", "echo x > /dev/null && head -c1 /dev/urandom && test -w /dev/shm"),
    ("programs", "python3 -c 'import socket; socket.socketpair()' && git log -1"),
    ("own-signals", "sleep 60 & kill $!"),
];
