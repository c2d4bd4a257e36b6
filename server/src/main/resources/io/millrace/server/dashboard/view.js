// What every page is made of: a view that loads itself again and again, lists, facts, dialogs.

import { LitElement, html, nothing } from 'lit';
import { live } from 'lit/directives/live.js';
import { repeat, stringify, subscribe } from './http.js';
import { ago, compareNames, count, duration, millis, moment, tone } from './format.js';

/** Who uses the page; set by the shell. */
export const session = { principal: null, roles: new Set(), reach: null };

/** Whether the user has a role. The server decides; this only hides what it would refuse. */
export const can = role => session.roles.has(role);

/**
 * The address of a page within the dashboard: a link that can be shared.
 *
 * @param path the parts of its path
 * @param parameters its filters
 */
export function href(path, parameters = {}) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== '') search.append(name, value);
  }
  const text = search.toString();
  return `#/${path.map(encodeURIComponent).join('/')}${text ? `?${text}` : ''}`;
}

/**
 * Shows a message at the edge of the page for some seconds.
 *
 * @param undo takes back what was done, offered as long as the message is shown; null if it cannot be taken back
 */
export function notify(message, kind = 'good', undo = null) {
  dispatchEvent(new CustomEvent('millrace-notice', { detail: { message, kind, undo } }));
}

/**
 * Does something that may fail and says how it ended.
 *
 * @param done what is said after a success, a text or a function of the result
 * @param undo takes it back; null if that cannot be done
 * @returns a promise of whether it succeeded
 */
export async function attempt(action, done, undo = null) {
  try {
    const result = await action();
    notify(typeof done === 'function' ? done(result) : done, 'good', undo && (() => attempt(undo, 'Undone')));
    return true;
  } catch (failure) {
    notify(failure.message, 'bad');
    return false;
  }
}

/** A page or part of one. Subclasses have `load`, which reads the data, and `content`, which shows it. */
export class View extends LitElement {
  static properties = {
    route: { attribute: false },
    data: { state: true },
    error: { state: true },
  };

  /** How often the data is read again, in ms. */
  interval = 3000;

  createRenderRoot() {
    return this;
  }

  connectedCallback() {
    super.connectedCallback();
    this.refresh = repeat(() => this.#read(), this.interval);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.refresh();
    this.stopEvents?.();
    this.stopEvents = null;
    this.followed = null;
  }

  /** Reads the data anew soon. */
  reload() {
    this.refresh?.now();
  }

  /** Reads the data anew after each event of a stream, at most twice a second. */
  follow(path) {
    if (this.followed === path) return;
    this.stopEvents?.();
    this.followed = path;
    let timer = null;
    this.stopEvents = subscribe(path, () => {
      timer ??= setTimeout(() => {
        timer = null;
        if (this.isConnected) this.reload();
      }, 500);
    });
  }

  updated(changed) {
    if (changed.has('route') && changed.get('route')) this.reload();
  }

  async #read() {
    const route = this.route;
    try {
      const data = await this.load();
      if (route === this.route) {
        this.data = data;
        this.error = null;
      }
    } catch (failure) {
      if (route === this.route) this.error = failure;
      if (!(failure.status >= 0)) console.error(failure);
    }
  }

  /** Changes a filter of the page, which is in its address. */
  filter(changes) {
    const parameters = { ...this.route.parameters, ...changes };
    if (!('after' in changes)) delete parameters.after;
    location.replace(href(this.route.path, parameters));
  }

  render() {
    return html`
      ${this.error
        ? html`<p class="banner bad" role="alert">${this.error.message}</p>`
        : nothing}
      ${this.data === undefined
        ? this.error
          ? nothing
          : html`<p class="calm" aria-busy="true">Loading</p>`
        : this.content()}
    `;
  }
}

/** Defines an element by its name and class, once. */
export const define = (name, type) => customElements.get(name) ?? customElements.define(name, type);

/** A word for a state, with its colour. */
export const status = word => html`<span class="status ${tone(word)}">${word}</span>`;

/** A time, as a distance, with the moment as its tooltip. */
export const time = at =>
  at ? html`<time title=${moment(at)}>${ago(at)}</time>` : html`<span class="calm">–</span>`;

/** A link to a page. */
export const link = (path, text, parameters) =>
  html`<a href=${href(path.map(String), parameters)}>${text}</a>`;

/** The head of a page: where it is, what it is, and what can be done. */
export const head = (title, { above = [], note = nothing, actions = nothing } = {}) => html`
  <header class="page-head">
    <div>
      ${above.length
        ? html`<nav class="above" aria-label="Breadcrumb">
            ${above.map(([path, text], index) => html`${index ? html`<span> › </span>` : nothing}${link(path, text)}`)}
          </nav>`
        : nothing}
      <h1>${title}</h1>
      ${note}
    </div>
    <div class="actions">${actions}</div>
  </header>
`;

/** A button for those who have the role. */
export const button = (text, action, { role = 'operator', kind = 'secondary', shown = true, title = '' } = {}) =>
  shown && can(role)
    ? html`<button type="button" class="${kind} small" title=${title} @click=${action}>${text}</button>`
    : nothing;

/** Facts as pairs of a name and a value; those without a value are left out. */
export const facts = pairs => html`
  <dl class="facts">
    ${pairs
      .filter(pair => pair && pair[1] !== null && pair[1] !== undefined && pair[1] !== '' && pair[1] !== nothing)
      .map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>
`;

const RELATED = { task: 'tasks', job: 'jobs', node: 'graph', worker: 'workers' };

/** Why something waits, as `GET /why` says; nothing if it does not wait. */
export const reasons = why =>
  why?.waiting
    ? html`
        <section class="why">
          <h2>Why does it wait?</h2>
          <ul>
            ${why.reasons.map(({ message, related }) => html`
              <li>
                ${message}${related?.ids.length
                  ? html`: ${related.ids.map((id, index) => html`${index ? ', ' : ''}${RELATED[related.kind] ? link([RELATED[related.kind], id], id) : id}`)}`
                  : nothing}${related?.more ? ` and ${count(related.more)} more` : ''}
              </li>`)}
          </ul>
        </section>`
    : nothing;

/**
 * Attempts that did not succeed, the oldest first.
 *
 * @param attempts `{end, started, ended, node, code, reason, log}` each, all but the end and its time if known
 */
export const attemptHistory = attempts =>
  attempts?.length
    ? html`
        <h2>Attempts so far</h2>
        <ol class="timeline">
          ${attempts.map(({ end, started, ended, node, code, reason, log }) => html`
            <li>
              ${status(end)} ${moment(ended)}${started ? ` after ${duration(millis(ended) - millis(started))}` : ''}${node ? ` on ${node}` : ''}${code && !reason?.includes(code) ? html` with code <code>${code}</code>` : nothing}${reason ? `: ${reason}` : ''}
              ${log ? html`<details><summary>Log</summary><pre tabindex="0" role="region" aria-label="Log of the attempt">${log}</pre></details>` : nothing}
            </li>`)}
        </ol>`
    : nothing;

/** What a list shows if it has nothing. */
export const empty = (title, text = nothing, command = null) => html`
  <div class="empty">
    <p><strong>${title}</strong></p>
    <p>${text}</p>
    ${command ? commandLine(command) : nothing}
  </div>
`;

/** A command line, with a button that copies it. */
export const commandLine = command => html`
  <div class="command">
    <code>${command}</code>
    <button type="button" class="plain small" aria-label="Copy the command" @click=${() => copy(command)}>Copy</button>
  </div>
`;

/** Quotes an argument for a shell if it needs to be. */
export const quoted = text => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${String(text).replaceAll("'", `'\\''`)}'`);

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    notify('Copied');
  } catch {
    notify('The browser does not allow copying here', 'bad');
  }
}

/**
 * A table.
 *
 * @param columns each `{title, value: row => what is shown, kind: 'number' or nothing}`
 * @param rows the rows; empty shows `none`
 */
export const table = (columns, rows, { none = empty('Nothing here'), caption = '' } = {}) =>
  rows.length === 0
    ? none
    : html`
        <div class="table-scroll" tabindex="0" role="region" aria-label=${caption || 'Table'}>
          <table>
            ${caption ? html`<caption class="hidden">${caption}</caption>` : nothing}
            <thead>
              <tr>${columns.map(column => html`<th scope="col" class=${column.kind ?? ''}>${column.title}</th>`)}</tr>
            </thead>
            <tbody>
              ${rows.map(row => html`
                <tr>${columns.map(column => html`<td class=${column.kind ?? ''} data-title=${titleOf(column)}>${column.value(row)}</td>`)}</tr>
              `)}
            </tbody>
          </table>
        </div>
      `;

/** What stands before a value on a phone, where each row is a card. */
const titleOf = ({ title }) => (typeof title === 'string' ? title : nothing);

/** The title of a column of buttons, for screen readers. */
export const ACTIONS = html`<span class="hidden">Actions</span>`;

/** The columns of a list whose rows can be chosen; `chosen` is a Set of keys, `changed` is called after a change. */
export const chooser = (rows, key, chosen, changed) => ({
  title: html`<input
    type="checkbox"
    aria-label="Choose all rows shown"
    .checked=${live(rows.length > 0 && rows.every(row => chosen.has(key(row))))}
    @change=${event => {
      rows.forEach(row => (event.target.checked ? chosen.add(key(row)) : chosen.delete(key(row))));
      changed();
    }}>`,
  kind: 'choice',
  value: row => html`<input
    type="checkbox"
    aria-label="Choose this row"
    .checked=${live(chosen.has(key(row)))}
    @change=${event => {
      if (event.target.checked) chosen.add(key(row));
      else chosen.delete(key(row));
      changed();
    }}>`,
});

/**
 * The bar below a list with chosen rows: what can be done with them. Each item is changed by a request of
 * its own; those that the server refuses are counted, with the first reason. An action with `undo` can be taken
 * back as long as its message is shown.
 */
export const chosenBar = (chosen, actions, changed) =>
  chosen.size === 0
    ? nothing
    : html`
        <div class="chosen" role="toolbar" aria-label="Actions on chosen rows">
          <strong>${count(chosen.size)} chosen</strong>
          ${actions.map(({ text, past, action, undo, kind = 'secondary', role = 'operator' }) =>
            button(
              text,
              async () => {
                if (kind === 'danger' && !(await ask(`${text} ${chosen.size}?`, 'This cannot be undone.', text))) return;
                const { done, refusal } = await forEach(chosen, action);
                chosen.clear();
                notify(
                  refusal ? `${done.length} ${past}. Refused: ${refusal}` : `${done.length} ${past}`,
                  refusal ? 'bad' : 'good',
                  undo && done.length
                    ? async () => {
                        const back = await forEach(done, undo);
                        notify(back.refusal ? `${back.done.length} undone. Refused: ${back.refusal}` : `${back.done.length} undone`, back.refusal ? 'bad' : 'good');
                        changed();
                      }
                    : null);
                changed();
              },
              { role, kind },
            ))}
          <button type="button" class="plain small" @click=${() => (chosen.clear(), changed())}>Choose none</button>
        </div>
      `;

/** Does an action to each key, and says for which it succeeded and why the first of the others was refused. */
async function forEach(keys, action) {
  const done = [];
  let refusal = null;
  for (const key of [...keys]) {
    try {
      await action(key);
      done.push(key);
    } catch (failure) {
      refusal ??= failure.message;
    }
  }
  return { done, refusal };
}

/** The links below a page of a list: back to its begin, and on. */
export const pager = (view, next) => html`
  <nav class="pager" aria-label="Pages">
    ${view.route.parameters.after
      ? html`<a href=${href(view.route.path, { ...view.route.parameters, after: null })}>First page</a>`
      : nothing}
    ${next
      ? html`<a href=${href(view.route.path, { ...view.route.parameters, after: next })}>Next page</a>`
      : nothing}
  </nav>
`;

/** A choice of a filter: [value, text] pairs. */
export const select = (label, value, options, changed) => html`
  <label class="filter">
    <span>${label}</span>
    <select @change=${event => changed(event.target.value)}>
      ${options.map(([option, text]) => html`
        <option value=${option} ?selected=${String(option) === String(value ?? '')}>${text}</option>
      `)}
    </select>
  </label>
`;

/** A text of a filter, taken on Enter or when the field is left. */
export const field = (label, value, changed, placeholder = '') => html`
  <label class="filter">
    <span>${label}</span>
    <input
      type="search"
      placeholder=${placeholder}
      .value=${value ?? ''}
      @change=${event => changed(event.target.value.trim())}>
  </label>
`;

/** The most rows that a list shows which is read whole. */
const MOST_ROWS = 500;

/**
 * A table of a list that is read whole, with filters by a part of a text and by state, and an order. They are in the
 * address of the page as `text`, `state` and `order`.
 *
 * @param texts the texts of a row that are looked at, of which the first is its name
 * @param state the state of a row; null if rows have none
 * @param orders besides by name: the title of each and the number of a row, of which the greatest is first
 * @param of what the rows are, if a page has several such lists: then this word is part of the names in the address
 */
export const wholeList = (view, columns, rows, { texts, state = null, orders = {}, of = '', ...options }) => {
  const parameter = name => (of ? `${of}-${name}` : name);
  const given = name => view.route.parameters[parameter(name)];
  const change = name => value => view.filter({ [parameter(name)]: value });
  const label = title => (of ? `${title} of ${of}` : title);
  const part = (given('text') ?? '').toLowerCase();
  const [wanted, order] = [given('state'), given('order')];
  const chosen = rows.filter(row =>
    (!wanted || !state || state(row) === wanted) && texts(row).some(each => String(each ?? '').toLowerCase().includes(part)));
  const number = Object.hasOwn(orders, order) ? orders[order] : null;
  const name = row => String(texts(row)[0] ?? '');
  chosen.sort((a, b) => (number ? (number(b) ?? -1) - (number(a) ?? -1) : 0) || compareNames(name(a), name(b)));
  const states = state ? [...new Set([...rows.map(state), ...(wanted ? [wanted] : [])])].sort() : [];
  return rows.length === 0
    ? table(columns, rows, options)
    : html`
        <div class="filters">
          ${field(label('Text'), given('text'), change('text'), 'a part of a name')}
          ${state ? select(label('State'), wanted, [['', 'any'], ...states.map(each => [each, each])], change('state')) : nothing}
          ${select(label('Order'), order, [['', 'by name'], ...Object.keys(orders).map(each => [each, each])], change('order'))}
        </div>
        ${table(columns, chosen.slice(0, MOST_ROWS), { ...options, none: empty('None of them has that') })}
        ${chosen.length > MOST_ROWS
          ? html`<p class="calm">and ${count(chosen.length - MOST_ROWS)} more: filter by a part of the name.</p>`
          : nothing}
      `;
};

/** Tabs: [value, text, count] each. */
export const tabs = (view, name, options) => html`
  <nav class="tabs" aria-label=${name}>
    ${options.map(([value, text, number]) => html`
      <a
        href=${href(view.route.path, { ...view.route.parameters, after: null, [name]: value })}
        aria-current=${(view.route.parameters[name] ?? '') === value ? 'page' : 'false'}>
        ${text}${number === undefined ? nothing : html` <span class="count">${count(number)}</span>`}
      </a>
    `)}
  </nav>
`;

/** Whether values of fields with this name are hidden until they are asked for, as the server is configured. */
const isHidden = (() => {
  const pattern = document.querySelector('meta[name="millrace-hidden-fields"]').content;
  if (!pattern) return () => false;
  try {
    const found = new RegExp(pattern, 'i');
    return name => found.test(String(name));
  } catch (failure) {
    // The server accepts a few forms that browsers do not know: then all of it is hidden.
    console.error(failure);
    return () => true;
  }
})();

/** JSON to fold and unfold. */
export function json(value, name = null, depth = 0) {
  const label = name === null ? nothing : html`<span class="json-key">${name}</span>: `;
  if (value !== null && typeof value === 'object') {
    const entries = Array.isArray(value) ? value.map((item, index) => [index, item]) : Object.entries(value);
    const [open, close] = Array.isArray(value) ? '[]' : '{}';
    if (entries.length === 0) return html`<div class="json">${label}${open}${close}</div>`;
    return html`
      <details class="json" ?open=${depth < 2 && entries.length <= 50}>
        <summary>${label}${open} <span class="calm">${entries.length}</span> ${close}</summary>
        ${entries.slice(0, 1000).map(([key, item]) => json(item, key, depth + 1))}
        ${entries.length > 1000 ? html`<div class="json calm">and ${count(entries.length - 1000)} more</div>` : nothing}
      </details>
    `;
  }
  if (name !== null && isHidden(name) && value !== null) {
    return html`<details class="json secret"><summary>${label}hidden</summary>${scalar(value)}</details>`;
  }
  return html`<div class="json">${label}${scalar(value)}</div>`;
}

const scalar = value =>
  html`<span class="json-${value === null ? 'null' : typeof value}">${stringify(value)}</span>`;

/** One line of JSON, cut after some characters. */
export function brief(value, length = 90) {
  const text =
    value !== null && typeof value === 'object'
      ? Object.entries(value)
          .map(([key, item]) => `${key}=${isHidden(key) ? '…' : typeof item === 'string' ? item : stringify(item)}`)
          .join('  ')
      : String(value ?? '');
  return html`<span class="brief" title=${text.slice(0, 2000)}>${text.length > length ? `${text.slice(0, length)}…` : text}</span>`;
}

/**
 * Asks a question in a dialog.
 *
 * @returns a promise of whether the user agreed
 */
export const ask = (title, text, yes = 'OK') =>
  new Promise(resolve => openDialog({ title, text, yes, danger: true, fields: [], done: async () => resolve(true), closed: () => resolve(false) }));

/**
 * Asks for values in a dialog.
 *
 * @param fields each `{name, label, value, kind: 'text', 'area', 'number', 'select' or 'check', options, help, required}`
 * @param action takes the values by name; if it fails, the dialog stays and shows why
 */
export const edit = (title, fields, action, { yes = 'Save', text = '' } = {}) =>
  openDialog({ title, text, yes, fields, done: action, closed: () => {} });

function openDialog(options) {
  const dialog = document.createElement('millrace-dialog');
  dialog.options = options;
  document.body.append(dialog);
}

class Dialog extends LitElement {
  static properties = { options: { attribute: false }, failure: { state: true }, busy: { state: true } };

  createRenderRoot() {
    return this;
  }

  firstUpdated() {
    this.querySelector('dialog').showModal();
  }

  #close() {
    this.options.closed();
    this.remove();
  }

  async #submit(event) {
    event.preventDefault();
    if (this.busy) return;
    const values = {};
    for (const field of this.options.fields) {
      const input = event.target.elements[field.name];
      values[field.name] = field.kind === 'check' ? input.checked : input.value;
    }
    this.busy = true;
    try {
      await this.options.done(values);
      this.remove();
    } catch (failure) {
      this.failure = failure.message;
    } finally {
      this.busy = false;
    }
  }

  #input(field) {
    const value = field.value ?? '';
    switch (field.kind) {
      case 'area':
        return html`<textarea name=${field.name} rows=${field.rows ?? 6} ?required=${field.required} placeholder=${field.placeholder ?? ''} .value=${value}></textarea>`;
      case 'select':
        return html`<select name=${field.name}>
          ${field.options.map(([option, text]) => html`<option value=${option} ?selected=${String(option) === String(value)}>${text}</option>`)}
        </select>`;
      case 'check':
        return html`<input type="checkbox" role="switch" name=${field.name} .checked=${Boolean(field.value)}>`;
      default:
        return html`<input
          type=${field.kind ?? 'text'} name=${field.name} ?required=${field.required} autocomplete="off"
          placeholder=${field.placeholder ?? ''} .value=${String(value)}>`;
    }
  }

  render() {
    const { title, text, yes, fields, danger } = this.options;
    return html`
      <dialog aria-labelledby="dialog-title" @close=${this.#close} @cancel=${this.#close}>
        <article>
          <form @submit=${this.#submit}>
            <h2 id="dialog-title">${title}</h2>
            ${text ? html`<p>${text}</p>` : nothing}
            ${this.failure ? html`<p class="banner bad" role="alert">${this.failure}</p>` : nothing}
            ${fields.map(field => html`
              <label>
                ${field.label}
                ${this.#input(field)}
                ${field.help ? html`<small>${field.help}</small>` : nothing}
              </label>
            `)}
            <footer>
              <button type="button" class="secondary" @click=${this.#close}>Cancel</button>
              <button type="submit" class=${danger ? 'danger' : ''} aria-busy=${this.busy ? 'true' : 'false'}>${yes}</button>
            </footer>
          </form>
        </article>
      </dialog>
    `;
  }
}

define('millrace-dialog', Dialog);
