// Requests to the server, its errors, and its event streams.

const base = new URL('.', document.baseURI);
const STORAGE = 'millrace.credentials';
const signInListeners = new Set();

/** An answer that is not a success. Status 0: there was no answer. */
export class HttpError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** The address of a path of the API, which begins without a slash. */
export const url = path => new URL(path, base).href;

/** Percent-encodes a part of a path. */
export const segment = text => encodeURIComponent(text);

/** A query string of those parameters that are neither null nor empty. */
export function query(parameters) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== '') search.append(name, value);
  }
  const text = search.toString();
  return text ? `?${text}` : '';
}

/** What a page has to show beside the session cookie to change something; null without a session. */
let csrf = null;

/** Takes over what the server says of the session of this browser; null if there is none. */
export const keepSession = token => (csrf = token);

/** Keeps the value of an Authorization header until the tab is closed; null forgets it. */
export function keepCredentials(authorization) {
  if (authorization === null) sessionStorage.removeItem(STORAGE);
  else sessionStorage.setItem(STORAGE, authorization);
}

export const hasCredentials = () => csrf !== null || sessionStorage.getItem(STORAGE) !== null;

/**
 * Exchanges the kept credentials for a session, whose cookie no script can read. Those without a principal, such as the
 * server's token, have no sessions and are kept.
 */
export async function beginSession() {
  try {
    csrf = (await change('POST', 'access/sessions')).csrf;
    keepCredentials(null);
  } catch (failure) {
    if (failure.status === 409) return;
    keepCredentials(null);
    throw failure;
  }
}

/** Ends the session of this browser, and forgets its credentials. */
export async function endSession() {
  keepCredentials(null);
  if (csrf !== null) await change('POST', 'access/sign-out');
}

/** Calls the listener whenever the server asks for other credentials. */
export const onSignInNeeded = listener => signInListeners.add(listener);

/** Reads JSON without rounding large integers: those beyond 2^53 become BigInt. */
export const parse = text =>
  JSON.parse(text, (_, value, context) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '')
      ? BigInt(context.source)
      : value);

/** Writes JSON, with the digits of BigInt as they are. */
export const stringify = (value, indent) =>
  JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? JSON.rawJSON(String(item)) : item), indent);

function messageOf(text, response) {
  try {
    const body = JSON.parse(text);
    const message = body.detail ?? body.error ?? body.problem ?? body.errors?.join('; ');
    if (message) return message;
  } catch {
    // The answer is not JSON: of a proxy, for example.
  }
  return `${response.status} ${response.statusText}`;
}

async function send(method, path, { body, headers = {}, signal } = {}) {
  const authorization = sessionStorage.getItem(STORAGE);
  const sent = { ...headers };
  if (authorization) sent.Authorization = authorization;
  else if (csrf !== null && method !== 'GET') sent['X-CSRF-Token'] = csrf;
  let response;
  try {
    response = await fetch(url(path), {
      method,
      body,
      signal,
      cache: 'no-store',
      headers: sent,
    });
  } catch (failure) {
    if (failure.name === 'AbortError') throw failure;
    throw new HttpError(0, 'The server does not answer.');
  }
  if (response.ok) return response;
  const message = messageOf(await response.text(), response);
  if (response.status === 401) signInListeners.forEach(listener => listener());
  throw new HttpError(response.status, message);
}

/** The JSON of GET. */
export const get = async (path, signal) => parse(await (await send('GET', path, { signal })).text());

/** The bytes of GET, at most the given number of them, and whether there are more. */
export async function getBytes(path, limit) {
  const response = await send('GET', path);
  const reader = response.body.getReader();
  const parts = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { blob: new Blob(parts), more: false };
    parts.push(value);
    size += value.length;
    if (size >= limit) {
      await reader.cancel();
      return { blob: new Blob(parts).slice(0, limit), more: true };
    }
  }
}

/** Sends JSON that is text already. The answer is JSON or null. */
export async function sendJson(method, path, body) {
  const text = await (await send(method, path, { body, headers: { 'Content-Type': 'application/json' } })).text();
  return text ? parse(text) : null;
}

/** Sends a value as JSON; without a value, no body. The answer is JSON or null. */
export async function change(method, path, value) {
  if (value !== undefined) return sendJson(method, path, stringify(value));
  const text = await (await send(method, path)).text();
  return text ? parse(text) : null;
}

/** Sends a form with files. */
export const sendForm = async (path, form) => parse(await (await send('POST', path, { body: form })).text());

/** Saves what GET answers as a file, with the credentials of this page. */
export async function download(path, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await (await send('GET', path)).blob());
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/**
 * Reads an event stream until it is stopped: while the page is visible, and again from its position after
 * the connection was lost.
 *
 * @param path the path of the stream
 * @param onEvent is called with each event: its name and its data, as text
 * @returns stops it
 */
export function subscribe(path, onEvent) {
  let position = null;
  let stopped = false;
  let controller = null;
  let pause = 500;

  async function read() {
    controller = new AbortController();
    const headers = position === null ? {} : { 'Last-Event-ID': position };
    const response = await send('GET', path, { headers, signal: controller.signal });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    pause = 500;
    let rest = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const messages = (rest + value).split('\n\n');
      rest = messages.pop();
      for (const message of messages) {
        const event = { name: 'message', data: '' };
        for (const line of message.split('\n')) {
          if (line.startsWith('data: ')) event.data += line.slice(6);
          else if (line.startsWith('event: ')) event.name = line.slice(7);
          else if (line.startsWith('id: ')) position = line.slice(4);
        }
        if (event.name === 'lost') {
          position = null;
          onEvent({ name: 'start', data: '{}' });
          return;
        }
        if (event.data) onEvent(event);
      }
    }
  }

  async function run() {
    while (!stopped) {
      if (document.hidden) {
        await new Promise(resolve => document.addEventListener('visibilitychange', resolve, { once: true }));
        continue;
      }
      try {
        await read();
      } catch (failure) {
        if (stopped) return;
        if (failure.status === 410 || failure.status === 400) position = null;
        if (failure.status === 401 || failure.status === 403 || failure.status === 404) return;
      }
      await new Promise(resolve => setTimeout(resolve, pause));
      pause = Math.min(pause * 2, 10_000);
    }
  }

  const hide = () => document.hidden && controller?.abort();
  document.addEventListener('visibilitychange', hide);
  run();
  return () => {
    stopped = true;
    document.removeEventListener('visibilitychange', hide);
    controller?.abort();
  };
}

/**
 * Calls a function now and again, while the page is visible; never twice at a time.
 *
 * @returns stops it; its property `now` calls the function soon
 */
export function repeat(action, interval) {
  let timer = null;
  let stopped = false;
  let running = false;
  let again = false;

  async function run() {
    clearTimeout(timer);
    if (stopped || running) {
      again = running;
      return;
    }
    if (document.hidden) return;
    running = true;
    again = false;
    try {
      await action();
    } finally {
      running = false;
    }
    if (!stopped) timer = setTimeout(run, again ? 0 : interval);
  }

  const show = () => document.hidden || run();
  document.addEventListener('visibilitychange', show);
  run();
  const stop = () => {
    stopped = true;
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', show);
  };
  stop.now = run;
  return stop;
}
