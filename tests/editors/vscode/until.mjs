// Waiting for a condition outside the browser.

/** The first true answer of `condition`; what `report` says goes into the error. */
export async function until(what, condition, report = () => "", limit = 90_000) {
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
