// The texts of the client in both languages: none is missing, none is left over, none is put together from fragments.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { t, useTranslation } from "../src/l10n";
import { loopRow } from "../src/loops/model";
import type { LoopStatus } from "../src/protocol";
import { progress, situation } from "../src/status";
import { loop } from "./samples";

const read = (path: string): Record<string, string> => JSON.parse(readFileSync(path, "utf8")) as Record<string, string>;
const bundle = read("l10n/bundle.l10n.zh-cn.json");
const sources = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((it) => it.endsWith(".ts"));

/** A literal as it is written in the source, with the call around it. */
const call = /(?<![\w.])t\(\s*("(?:[^"\\]|\\.)*")/g;

function textsOf(source: string): string[] {
  return [...source.matchAll(call)].map(([, literal]) => JSON.parse(literal ?? "") as string);
}

const placeholders = (text: string): string[] => [...new Set(text.match(/\{\d+\}/g) ?? [])].sort();

/** Code without comments and imports. */
function code(source: string): string {
  return source.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/^\s*\/\/.*$/gm, "").replaceAll(/^(?:import|export) [^;]*? from "[^"]*";$/gm, "");
}

/** Faults of one source: texts that are not translated, or of which a part is translated. */
function faults(source: string): string[] {
  const text = code(source);
  const found: string[] = [];
  for (const [whole] of text.matchAll(/(?<![\w.])t\((?!\s*["/)])[^)]*\)/g)) if (whole !== "t(message: string, ...args: (string | number)[])") found.push(`not a literal: ${whole}`);
  // Translated text followed or preceded by words, or by another text.
  for (const [whole] of text.matchAll(/t\("(?:[^"\\]|\\.)*"[^()]*\)\s*\+\s*[^;\n]*/g)) found.push(`joined: ${whole}`);
  for (const [whole] of text.matchAll(/`[^`$]*[A-Za-z]{2,}[^`$]*\$\{t\([^`]*`/g)) if (!whole.startsWith("`$(")) found.push(`in a template: ${whole}`);
  const untranslated = text.replaceAll(call, "t(");
  for (const [whole] of untranslated.matchAll(/"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`/g)) if (isProse(whole)) found.push(`not translated: ${whole}`);
  return found;
}

/** Several words with a space between them, which no identifier, path or class has. */
function isProse(literal: string): boolean {
  const words = literal.slice(1, -1).replaceAll(/\$\{[^}]*\}/g, "").replaceAll(/\$\([\w~-]+\)/g, "");
  return /[A-Za-z]{2,} [a-z]{2,}/.test(words) && !allowed.has(words.trim());
}

/** Not shown to users. */
const allowed = new Set(["Server:  (from )"]);

test("every text has a translation with the same places for values", () => {
  const used = new Set(sources.flatMap((it) => textsOf(readFileSync(join("src", it), "utf8"))));
  assert.ok(used.size > 100, String(used.size));
  assert.deepEqual([...used].filter((it) => bundle[it] === undefined), [], "missing");
  assert.deepEqual(Object.keys(bundle).filter((it) => !used.has(it)), [], "left over");
  for (const [text, translation] of Object.entries(bundle)) assert.deepEqual(placeholders(translation), placeholders(text), text);
  for (const [text, translation] of Object.entries(bundle)) assert.ok(translation !== "" && (/[一-龥]/.test(translation) || !/[a-z]{3}/.test(text.replaceAll(/Ralph|Server/g, ""))), text);
});

test("no text is left out of the translation or put together from fragments", () => {
  for (const it of sources) if (it !== "l10n.ts") assert.deepEqual(faults(readFileSync(join("src", it), "utf8")), [], it);
});

test("no state of a loop leaves a word in English", (context) => {
  useTranslation((message, ...args) => (bundle[message] ?? `untranslated ${message}`).replaceAll(/\{(\d+)\}/g, (_, index) => String(args[Number(index)] ?? "")));
  context.after(() => {
    useTranslation((message, ...args) => message.replaceAll(/\{(\d+)\}/g, (_, index) => String(args[Number(index)] ?? "")));
  });
  const phases: LoopStatus["phase"][] = ["baseline", "iterating", "checking", "waiting", "stopping", "untrusted", "needsAnswer", "interrupted", "damaged", "paused"];
  for (const phase of phases) {
    const it = loop({ phase, criteria: { ...loop().criteria, summary: "3/5" } });
    assert.doesNotMatch([situation(it), progress(it), loopRow(it).description].join(" "), /[a-z]{2}/, phase);
  }
});

test("such texts would be found", () => {
  const check = (source: string, expect: RegExp): void => {
    assert.match(faults(source).join("\n"), expect, source);
  };
  check("show(`stopped after ${count} iterations`);", /not translated/);
  check("show(\"No loop is running\");", /not translated/);
  check("show(t(`stopped after ${count}`));", /not a literal/);
  check("show(t(\"stopped\") + name);", /joined/);
  check("show(`Loop ${t(\"stopped\")}`);", /in a template/);
  assert.deepEqual(faults("show(`$(play) ${t(\"Start Loop\")}`); // a comment with words"), []);
});

test("the manifest has every text in both languages", () => {
  const manifest = readFileSync("package.json", "utf8");
  const [english, chinese] = [read("package.nls.json"), read("package.nls.zh-cn.json")];
  const used = new Set([...manifest.matchAll(/"%([\w.]+)%"/g)].map(([, key]) => key ?? ""));
  assert.deepEqual(Object.keys(english).sort(), [...used].sort());
  assert.deepEqual(Object.keys(chinese), Object.keys(english));
  // Commands in links and code stay as they are.
  const marks = (text: string | undefined): string[] => [...(text ?? "").matchAll(/\(command:[\w.]+\)|`[^`]+`/g)].map(([it]) => it).sort();
  for (const [key, text] of Object.entries(english)) assert.deepEqual(marks(chinese[key]), marks(text), key);
  for (const field of ["title", "description", "markdownDescription", "contents", "altText"]) {
    const texts = [...manifest.matchAll(new RegExp(`"${field}": "((?:[^"\\\\]|\\\\.)*)"`, "g"))].map(([, text]) => text ?? "");
    assert.deepEqual(texts.filter((it) => !it.startsWith("%")), [], field);
  }
});

test("values take their places, in any order", () => {
  assert.equal(t("{0} of {1}", 3, 5), "3 of 5");
  useTranslation((message, ...args) => (message === "{0} of {1}" ? `${String(args[1])} 中的 ${String(args[0])}` : message));
  assert.equal(t("{0} of {1}", 3, 5), "5 中的 3");
});
