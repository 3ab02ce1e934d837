// Waiting for a condition outside the browser.

/** The longest wait, for a busy machine. */
export const longest = Number(process.env.LOOPKEEPER_TEST_LIMIT ?? 240) * 1000;

/** Waits for the first truthy result of `condition`; the error contains the result of `report`. */
export async function until(what, condition, report = () => "", limit = longest) {
  const end = Date.now() + limit;
  let last;
  do {
    try {
      const answer = await condition();
      if (answer) return answer;
      last = answer;
    } catch (error) {
      last = error;
    }
    await new Promise((done) => setTimeout(done, 50));
  } while (Date.now() < end);
  throw new Error(`not within ${limit / 1000} s: ${what} (last: ${String(last)})\n${report()}`);
}
