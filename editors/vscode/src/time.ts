// Formats the server's times for users. Pure: no clock.

/** The time from now until `at`: `14:32`, `1:14:32`. */
export function left(at: string | undefined, now: number): string | undefined {
  const until = at === undefined ? Number.NaN : Date.parse(at);
  if (Number.isNaN(until)) return undefined;
  const seconds = Math.max(0, Math.ceil((until - now) / 1000));
  const two = (it: number): string => String(it).padStart(2, "0");
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** Hours and minutes in the user's time zone. */
export function clock(at: string | undefined): string | undefined {
  if (at === undefined) return undefined;
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return undefined;
  return `${String(time.getHours()).padStart(2, "0")}:${String(time.getMinutes()).padStart(2, "0")}`;
}
