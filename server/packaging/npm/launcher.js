#!/usr/bin/env node
// Starts the program of the package for this platform, with the arguments, streams and environment of this process.
const { spawn } = require("node:child_process");
const os = require("node:os");

const name = `loopkeeper-${process.platform}-${process.arch}`;
const program = findProgram();
const args = process.argv.slice(2);

// Replaces this process where node can (22.15 and newer), so that no node remains beside a language server.
if (process.execve) process.execve(program, [program, ...args], process.env);

const child = spawn(program, args, { stdio: "inherit" });
child.on("error", (error) => fail(`${program} does not start: ${error.message}. Hint: install loopkeeper again.`));
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => {
  process.exit(code ?? 128 + os.constants.signals[signal]);
});

function findProgram() {
  try {
    return require.resolve(`${name}/bin/loopkeeper`);
  } catch {
    fail(
      `the package ${name}, which holds the program, is not installed. Hint: install loopkeeper on Linux (x64, glibc), without --omit=optional.`,
    );
  }
}

function fail(message) {
  process.stderr.write(`error: ${message}\n`);
  process.exit(2);
}
