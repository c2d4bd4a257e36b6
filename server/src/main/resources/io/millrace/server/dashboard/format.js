// How values are shown.

const numbers = new Intl.NumberFormat('en');
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const names = new Intl.Collator('en');
const pad = number => String(number).padStart(2, '0');

/** 12,345. */
export const count = value => (value === null || value === undefined ? '–' : numbers.format(value));

/** Compares names for people, much faster than `localeCompare`. */
export const compareNames = names.compare;

/** 12.3K. */
export const short = value => compact.format(value);

/** A number of bytes. */
export function size(bytes) {
  if (bytes === null || bytes === undefined) return '–';
  if (bytes < 1024) return `${bytes} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes;
  let unit = -1;
  do {
    value /= 1024;
    unit++;
  } while (value >= 1024 && unit < units.length - 1);
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** A duration in milliseconds: 3.2 s, 5 m 12 s, 2 h 5 m, 3 d 4 h. */
export function duration(millis) {
  if (millis === null || millis === undefined || Number.isNaN(millis)) return '–';
  if (millis < 0) return `−${duration(-millis)}`;
  if (millis < 1000) return `${Math.round(millis)} ms`;
  const seconds = millis / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} m ${Math.floor(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} m` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** The milliseconds of a time that is milliseconds or ISO 8601; null for none. */
export function millis(time) {
  if (time === null || time === undefined || time === '' || time === 0) return null;
  return typeof time === 'number' ? time : Date.parse(time);
}

/** A moment in the zone of the browser: 2026-03-29 02:30:05. */
export function moment(time) {
  const at = millis(time);
  if (at === null) return '–';
  const date = new Date(at);
  return (
    `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())} ` +
    `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`
  );
}

/** A moment as the server writes it, in a zone of its own, without parts of seconds: 2026-03-29 02:30:05+02:00. */
export const zoned = text => text.replace('T', ' ').replace(/\.\d+/, '');

/** How long ago or ahead, roughly: 5 s ago, in 2 h. */
export function ago(time, now = Date.now()) {
  const at = millis(time);
  if (at === null) return '–';
  const seconds = Math.round(Math.abs(now - at) / 1000);
  if (seconds === 0) return 'now';
  const [size, unit] = [[86_400, 'd'], [3600, 'h'], [60, 'm'], [1, 's']].find(([size]) => seconds >= size * (size > 60 ? 1.5 : 1));
  const text = `${Math.round(seconds / size)} ${unit}`;
  return now > at ? `${text} ago` : `in ${text}`;
}

/** The words for the status codes of queue tasks. */
export const TASK_STATUSES = new Map([
  [-2, 'queued'],
  [-1, 'claimed'],
  [0, 'running'],
  [1, 'succeeded'],
  [2, 'failed'],
  [-3, 'terminated'],
  [-4, 'blocked'],
  [-5, 'cancelled'],
  [-6, 'orphaned'],
]);

/** The word for the status code of a queue task. */
export const taskStatus = code => TASK_STATUSES.get(code) ?? `held (${code})`;

const TONES = {
  good: ['succeeded', 'done', 'finished', 'alive', 'ok', 'ready', 'active', 'leader'],
  bad: ['failed', 'killed', 'dead', 'halted', 'orphaned', 'terminated', 'unknown', 'refused', 'revoked', 'expired'],
  busy: ['running', 'claimed', 'busy', 'owned'],
  held: ['blocked', 'paused', 'cancelled', 'suspended', 'missed', 'limit', 'no '],
};

/** The tone of a status: good, bad, busy, held or calm. */
export const tone = status =>
  Object.keys(TONES).find(name => TONES[name].some(word => String(status).startsWith(word))) ?? 'calm';
