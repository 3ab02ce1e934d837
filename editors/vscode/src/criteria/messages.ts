// The messages of a failed criterion: its fact, and each place in a source that its output names.

import { DiagnosticSeverity, Location, TestMessage, languages } from "vscode";
import type { TestItem } from "vscode";
import { isOutputOf } from "./results";
import type { TestResult } from "./results";

export function messagesOf(item: TestItem, result: TestResult): TestMessage[] {
  const first = result.expected !== undefined && result.actual !== undefined ? TestMessage.diff(result.message, result.expected, result.actual) : new TestMessage(result.message);
  if (item.uri && item.range) first.location = new Location(item.uri, item.range);
  return [first, ...placesOf(item)];
}

/**
 * The server publishes them with the diagnostic of the criterion. The output itself is not a message, because the run contains it.
 */
function placesOf(item: TestItem): TestMessage[] {
  const { uri, range } = item;
  if (!uri || !range) return [];
  const own = languages.getDiagnostics(uri).filter((it) => it.source === "ralph" && it.severity !== DiagnosticSeverity.Hint && range.contains(it.range.start));
  const related = own.flatMap((it) => it.relatedInformation ?? []).filter((it) => !isOutputOf(item.id, it.location.uri.path));
  return related.map((it) => {
    const message = new TestMessage(it.message);
    message.location = it.location;
    return message;
  });
}
