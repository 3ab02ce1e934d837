// Compares a screenshot with the recorded one of the same state. Text that differs from run to run, such as
// durations, and another version of the fonts change few blocks, and each a little; a missing or moved part changes many.

import fs from "node:fs";
import path from "node:path";
import { until } from "./until.mjs";

const folder = path.join(import.meta.dirname, "pictures");
/** Side of the blocks, in pixels of the screenshot. */
const side = 20;
/** Difference of a block's brightness or contrast, of 255, from which it counts. */
const threshold = 12;
/** Share of the blocks that may differ. */
export const tolerance = 0.02;

/** Compares with the recorded screenshot, or records this one if `LOOPKEEPER_BLESS` is set. Returns the share of blocks that differ. */
export async function differenceFromRecorded(page, name, picture) {
  const file = path.join(folder, `${name}.jpg`);
  if (process.env.LOOPKEEPER_BLESS) {
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(file, picture);
  }
  return difference(page, fs.readFileSync(file), picture);
}

/** A screenshot that looks like the one before it. */
export async function steadyScreenshot(decoder, page) {
  const take = () => page.screenshot({ type: "jpeg", quality: 60 });
  let last = await take();
  return until("two equal screenshots", async () => {
    const before = last;
    last = await take();
    return (await difference(decoder, before, last)) === 0 && last;
  });
}

export const recordedPicture = (name) => fs.readFileSync(path.join(folder, `${name}.jpg`));

/** Decodes both in a page of the browser. Pictures of different sizes differ in every block. */
export function difference(page, one, other) {
  const sources = [one, other].map((it) => `data:image/jpeg;base64,${it.toString("base64")}`);
  return page.evaluate(async ({ sources, side, threshold }) => {
    const pixels = async (source) => {
      const image = new Image();
      image.src = source;
      await image.decode();
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext("2d");
      context.drawImage(image, 0, 0);
      return context.getImageData(0, 0, image.width, image.height);
    };
    const block = ({ data, width, height }, left, top) => {
      let [sum, squares, count] = [0, 0, 0];
      for (let y = top; y < Math.min(top + side, height); y += 1) {
        for (let x = left; x < Math.min(left + side, width); x += 1) {
          const at = (y * width + x) * 4;
          const light = 0.3 * data[at] + 0.59 * data[at + 1] + 0.11 * data[at + 2];
          sum += light;
          squares += light * light;
          count += 1;
        }
      }
      const mean = sum / count;
      return [mean, Math.sqrt(Math.max(0, squares / count - mean * mean))];
    };
    const [first, second] = [await pixels(sources[0]), await pixels(sources[1])];
    if (first.width !== second.width || first.height !== second.height) return 1;
    let [differing, all] = [0, 0];
    for (let top = 0; top < first.height; top += side) {
      for (let left = 0; left < first.width; left += side) {
        const [a, b] = [block(first, left, top), block(second, left, top)];
        if (Math.abs(a[0] - b[0]) > threshold || Math.abs(a[1] - b[1]) > threshold) differing += 1;
        all += 1;
      }
    }
    return differing / all;
  }, { sources, side, threshold });
}
