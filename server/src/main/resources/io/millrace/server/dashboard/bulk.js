// Bulk actions: one thing done to all items that a filter chooses.

import { html, nothing } from 'lit';
import { change, get, query, segment, stringify } from './http.js';
import { count, moment } from './format.js';
import {
  View, ask, attempt, brief, button, can, commandLine, define, empty, facts, field, head, href, json, link, pager, quoted,
  select, status, table, time,
} from './view.js';

/** The kinds of items, their actions, and where a page shows an item. */
export const KINDS = {
  tasks: {
    page: 'tasks',
    command: './millrace bulk tasks',
    actions: {
      retry: 'Retry what has failed', requeue: 'Queue again what is held or over', block: 'Hold what is queued',
      cancel: 'Cancel what waits', terminate: 'Terminate what is not over', delete: 'Delete', move: 'Move to another queue',
    },
  },
  jobs: {
    page: 'jobs',
    command: './millrace bulk jobs',
    actions: { retry: 'Retry what has failed', cancel: 'Cancel what is not over', delete: 'Delete', move: 'Move to another type' },
  },
  nodes: {
    page: 'graph',
    command: './millrace bulk nodes',
    actions: { retry: 'Retry what has failed', kill: 'Kill what is not over', delete: 'Delete' },
  },
};

const REASONED = ['block', 'cancel'];

/** Where items of a kind are moved to. */
const MOVED = { tasks: 'queue', jobs: 'type' };

/** The button of a list that leads to a bulk action on everything that its filters choose. */
export const bulkLink = (kind, filter) =>
  can('operator')
    ? html`<a role="button" class="secondary small" href=${href(['new-bulk'], { kind, filter: stringify(filter) })}>Change all of these</a>`
    : nothing;

const path = id => `bulk/${segment(id)}`;
const isEmpty = filter => Object.keys(filter).length === 0;
const ran = action => (action.total ? Math.min(100, (100 * (action.done + action.skipped)) / action.total) : 100);

const progress = action =>
  action.state === 'running'
    ? html`<span class="progress"><progress max="100" value=${ran(action)} aria-label="Progress">${Math.round(ran(action))} %</progress> ${Math.floor(ran(action))} %</span>`
    : nothing;

/** An order as a command line; parts of it that only the API has are left to the filter. */
const commandOf = ({ kind, action, filter, options }) =>
  [
    `${KINDS[kind].command} ${action}`,
    options.queue || options.type ? `--to ${quoted(options.queue ?? options.type)}` : '',
    options.reason ? `--reason ${quoted(options.reason)}` : '',
    isEmpty(filter) ? '--all' : `--filter ${quoted(stringify(filter))}`,
  ].filter(Boolean).join(' ');

class BulkActions extends View {
  async load() {
    return get(`bulk${query({ after: this.route.parameters.after, limit: 50 })}`);
  }

  content() {
    const { actions, next } = this.data;
    return html`
      ${head('Bulk actions', {
        actions: can('operator') ? html`<a role="button" class="small" href="#/new-bulk">New bulk action</a>` : nothing,
      })}
      ${table(
        [
          { title: 'Id', value: action => html`<a href=${href(['bulk', action.id])}><code>${action.id}</code></a>` },
          { title: 'What', value: action => `${action.action} ${action.kind}` },
          { title: 'Filter', kind: 'wide', value: action => (isEmpty(action.filter) ? 'all' : brief(action.filter)) },
          { title: 'State', value: action => html`${status(action.state)} ${progress(action)}` },
          { title: 'Done', kind: 'number', value: action => `${count(action.done)} of ${count(action.total)}` },
          { title: 'Left alone', kind: 'number', value: action => count(action.skipped) },
          { title: 'By', value: action => action.principal },
          { title: 'Started', value: action => time(action.started) },
        ],
        actions,
        {
          caption: 'Bulk actions',
          none: empty(
            'No bulk actions in the last seven days',
            'A bulk action does one thing to all tasks, jobs or nodes that a filter chooses, in the background.',
            './millrace bulk tasks retry --status failed --dry-run'),
        },
      )}
      ${pager(this, next)}
      ${commandLine('./millrace bulk list')}
    `;
  }
}

class BulkAction extends View {
  interval = 1500;

  async load() {
    return get(path(this.route.path[1]));
  }

  content() {
    const action = this.data;
    const { page } = KINDS[action.kind] ?? {};
    const over = action.state !== 'running';
    // What has been held or cancelled with a reason of its own can be found again by that reason.
    const undo = action.kind === 'tasks' && REASONED.includes(action.action) && action.options.reason && action.done;
    return html`
      ${head(`${action.action} ${action.kind}`, {
        above: [[['bulk'], 'Bulk actions']],
        note: html`${status(action.state)} ${progress(action)} ${action.problem ? html`<span>${action.problem}</span>` : nothing}`,
        actions: html`
          ${undo && can('operator')
            ? html`<a role="button" class="secondary small" href=${href(['new-bulk'], {
                kind: 'tasks', action: 'requeue', filter: stringify({ reason: action.options.reason }),
              })}>Undo</a>`
            : nothing}
          ${over && can('operator')
            ? html`<a role="button" class="secondary small" href=${href(['new-bulk'], {
                kind: action.kind, action: action.action, filter: stringify(action.filter), to: action.options.queue ?? action.options.type,
              })}>Do it again</a>`
            : nothing}
          ${button('Cancel', async () => {
            if (!(await ask('Cancel this action?', 'What it has changed stays changed.', 'Cancel it'))) return;
            await attempt(() => change('POST', `${path(action.id)}/cancel`), 'Cancelled');
            this.reload();
          }, { kind: 'danger', shown: !over })}
          ${button('Forget', async () => {
            if (await attempt(() => change('DELETE', path(action.id)), 'Forgotten')) location.hash = '#/bulk';
          }, { shown: over })}
        `,
      })}
      ${facts([
        ['Chosen', count(action.total)],
        ['Done', count(action.done)],
        ['Left alone', count(action.skipped)],
        ['By', action.principal],
        ['Started', html`${moment(action.started)} · ${time(action.started)}`],
        ['Ended', action.ended && moment(action.ended)],
        ...Object.entries(action.options),
      ])}
      <h2>Filter</h2>
      ${isEmpty(action.filter) ? html`<p>All ${action.kind}.</p>` : json(action.filter)}
      ${Object.keys(action.reasons).length
        ? html`
            <h2>Left alone</h2>
            ${facts(Object.entries(action.reasons).map(([reason, number]) => [reason, count(number)]))}
            ${examples(page, action.examples, example => example.reason)}`
        : nothing}
      ${commandLine(`./millrace bulk show ${action.id}`)}
    `;
  }
}

const examples = (page, items, text) =>
  table(
    [
      { title: 'Id', value: item => (page ? html`<a href=${href([page, item.id])}><code>${item.id}</code></a>` : item.id) },
      { title: 'State', kind: 'wide', value: text },
    ],
    items,
    { caption: 'Examples', none: nothing },
  );

/** The form of a bulk action. It always shows how many items the action would change now. */
class NewBulkAction extends View {
  interval = 5000;

  /** The order that the address states; throws if its filter is not JSON. */
  #order() {
    const { kind = 'tasks', action = 'retry', filter = '{}', reason, to } = this.route.parameters;
    let read;
    try {
      read = JSON.parse(filter);
    } catch (failure) {
      throw new Error(`The filter is not JSON: ${failure.message}`);
    }
    const options = {};
    if (kind === 'tasks' && REASONED.includes(action) && reason) options.reason = reason;
    if (action === 'move' && MOVED[kind] && to) options[MOVED[kind]] = to;
    return { kind, action, filter: read, options, ...(isEmpty(read) ? { all: true } : {}) };
  }

  async load() {
    try {
      const order = this.#order();
      return { order, preview: await change('POST', 'bulk', { ...order, dry_run: true }) };
    } catch (failure) {
      return { failure: failure.message };
    }
  }

  content() {
    const { order, preview, failure } = this.data;
    const { kind = 'tasks', action = 'retry', filter = '{}', reason, to } = this.route.parameters;
    const { page, actions } = KINDS[kind] ?? KINDS.tasks;
    return html`
      ${head('New bulk action', { above: [[['bulk'], 'Bulk actions']] })}
      <div class="filters">
        ${select('Kind', kind, Object.keys(KINDS).map(name => [name, name]), name => this.filter({ kind: name, action: 'retry', filter: null }))}
        ${select('Action', action, Object.entries(actions), name => this.filter({ action: name }))}
        ${kind === 'tasks' && REASONED.includes(action)
          ? field('Reason', reason, text => this.filter({ reason: text }), 'by which it can be undone')
          : nothing}
        ${action === 'move' && MOVED[kind] ? field(`To the ${MOVED[kind]}`, to, text => this.filter({ to: text })) : nothing}
      </div>
      <label>
        Filter (JSON)
        <textarea rows="4" spellcheck="false" .value=${filter} @change=${event => this.filter({ filter: event.target.value.trim() || '{}' })}></textarea>
        <small>For example {"queue": "mail", "status": "failed", "mtime": {"$lt": {"$ago": "2h"}}}. {} chooses all.</small>
      </label>
      ${failure
        ? html`<p class="banner bad" role="alert">${failure}</p>`
        : html`
            <p class="preview">
              <strong>${action} would change ${count(preview.total)} ${preview.total === 1 ? kind.slice(0, -1) : kind}</strong>
              ${isEmpty(order.filter) ? html`<span class="status held">all ${kind}</span>` : nothing}
              ${button(`${action} ${count(preview.total)}`, () => this.#start(order, preview.total), {
                kind: ['delete', 'terminate', 'cancel', 'kill'].includes(action) ? 'danger' : '', shown: preview.total > 0,
              })}
            </p>
            ${examples(page, preview.examples, example => example.summary)}
            ${commandLine(commandOf(order))}`}
    `;
  }

  async #start(order, total) {
    const { kind, action, filter } = order;
    const what = `${action} ${count(total)} ${kind}?`;
    const text = isEmpty(filter) ? `There is no filter: this is for all ${kind}.` : 'It goes on in the background until it is cancelled.';
    if (!(await ask(what, text, action))) return;
    // A reason of its own is what an undo finds the tasks by.
    const named =
      kind === 'tasks' && REASONED.includes(action)
        ? { ...order, options: { reason: `${order.options.reason ?? 'bulk action'}, ${new Date().toISOString()}` } }
        : order;
    await attempt(async () => {
      const { id } = await change('POST', 'bulk', named);
      location.hash = `#/bulk/${segment(id)}`;
    }, 'Started');
  }
}

define('millrace-bulk-actions', BulkActions);
define('millrace-bulk-action', BulkAction);
define('millrace-new-bulk-action', NewBulkAction);
