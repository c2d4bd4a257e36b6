// Jobs, their types and batches.

import { html, nothing } from 'lit';
import { change, download, get, getBytes, parse, query, segment, sendForm } from './http.js';
import { count, duration, millis, moment, size } from './format.js';
import {
  View, ask, attempt, attemptHistory, brief, button, chooser, chosenBar, commandLine, define, edit, empty, facts, field,
  head, href, json, link, pager, quoted, reasons, select, status, table, tabs, time,
} from './view.js';
import { bulkLink } from './bulk.js';

const PAGE = 50;
const MAX_SHOWN = 64 * 1024;
const jobPath = key => `api/jobs/${segment(key)}`;
const STATUSES = ['pending', 'running', 'done', 'failed'];

const progressOf = job =>
  job.progress && job.status === 'running'
    ? html`
        <span class="progress">
          ${job.progress.percent === null
            ? nothing
            : html`<progress max="100" value=${job.progress.percent} aria-label="Progress">${job.progress.percent} %</progress> ${Math.round(job.progress.percent)} %`}
          <span class="calm">${job.progress.info ?? ''}</span>
        </span>`
    : nothing;

const took = job => (job.started && job.ended ? duration(millis(job.ended) - millis(job.started)) : nothing);

export const jobColumns = types => [
  { title: 'Job', value: job => html`<a href=${href(['jobs', job.id])}>${job.display ?? html`<code>${job.key.slice(0, 18)}</code>`}</a>` },
  ...(types.length ? [{ title: 'Type', value: job => job.type }] : []),
  { title: 'Status', value: job => html`${status(job.status)} ${progressOf(job)}` },
  { title: 'Priority', value: job => job.priority },
  { title: 'Worker', value: job => (job.workerId ? link(['workers', job.workerId], job.workerId) : html`<span class="calm">–</span>`) },
  { title: 'Failures', kind: 'number', value: job => job.failures || html`<span class="calm">0</span>` },
  { title: 'Payload', kind: 'number', value: job => size(job.payloadSize) },
  { title: 'Submitted', value: job => time(job.submitted) },
  { title: 'Took', kind: 'number', value: took },
];

/**
 * Asks for a new job.
 *
 * @param like what its fields begin with
 */
async function submitJob(types, done, like = {}) {
  edit(
    'New job',
    [
      ...(types.length ? [{ name: 'type', label: 'Type', kind: 'select', value: like.type, options: types.map(type => [type.name, type.name]) }] : []),
      { name: 'payload', label: 'Payload', kind: 'area', value: like.payload ?? '', help: 'The bytes that a worker gets.' },
      { name: 'priority', label: 'Priority', kind: 'select', value: like.priority, options: [['batch', 'batch'], ['immediate', 'immediate']] },
      { name: 'description', label: 'Description', value: like.description ?? '' },
      { name: 'delay', label: 'Delay', placeholder: 'for example 10m; empty for none' },
      { name: 'key', label: 'Key', placeholder: 'empty for a key of its own' },
    ],
    async values => {
      const form = new FormData();
      form.append('Priority', values.priority);
      if (values.key) form.append('Key', values.key);
      if (values.description) form.append('Description', values.description);
      if (values.delay) form.append('Delay', values.delay);
      form.append('Payload', new Blob([values.payload]));
      done(await sendForm(`api/jobs/submit${values.type ? `/${segment(values.type)}` : ''}`, form));
    },
    { yes: 'Submit' });
}

/** The filters of the address, in the language of bulk actions. */
const wantedJobs = ({ status: word, type, priority, worker }) =>
  Object.fromEntries(Object.entries({ status: word, type, priority, worker }).filter(([, value]) => value));

const jobActions = [
  { text: 'Retry', past: 'offered again', action: key => change('POST', `${jobPath(key)}/retry`) },
  { text: 'Cancel', past: 'cancelled', action: key => change('POST', `${jobPath(key)}/cancel`) },
  { text: 'Delete', past: 'deleted', action: key => change('DELETE', jobPath(key)), kind: 'danger' },
];

class Jobs extends View {
  chosen = new Set();

  async load() {
    const { status: wanted, type, priority, worker, text, order, after } = this.route.parameters;
    const filters = { status: wanted, type, priority, worker, text };
    this.follow(`api/events${query(filters)}`);
    const [types, jobs] = await Promise.all([
      get('api/types'),
      get(`api/jobs${query({ ...filters, after, order: order === 'oldest' ? null : 'newest', limit: PAGE + 1 })}`),
    ]);
    return { types, jobs: jobs.slice(0, PAGE), more: jobs.length > PAGE };
  }

  content() {
    const { types, jobs, more } = this.data;
    const parameters = this.route.parameters;
    return html`
      ${head('Jobs', {
        actions: html`
          ${button('New job', () => submitJob(types, () => this.reload()), { role: 'submitter', kind: '' })}
          ${parameters.text ? nothing : bulkLink('jobs', wantedJobs(parameters))}
          ${types.length ? html`<a href="#/types" role="button" class="secondary small">Types and stages</a>` : nothing}
          <a href="#/batches" role="button" class="secondary small">Batches</a>`,
      })}
      ${tabs(this, 'status', [['', 'All'], ...STATUSES.map(word => [word, word[0].toUpperCase() + word.slice(1)])])}
      <div class="filters">
        ${types.length ? select('Type', parameters.type, [['', 'any'], ...types.map(type => [type.name, type.name])], type => this.filter({ type })) : nothing}
        ${select('Priority', parameters.priority, [['', 'any'], ['immediate', 'immediate'], ['batch', 'batch']], priority => this.filter({ priority }))}
        ${field('Worker', parameters.worker, worker => this.filter({ worker }))}
        ${field('Text', parameters.text, text => this.filter({ text }), 'key, description or id')}
        ${select('Order', parameters.order, [['', 'newest first'], ['oldest', 'oldest first']], order => this.filter({ order }))}
      </div>
      ${table([chooser(jobs, job => job.id, this.chosen, () => this.requestUpdate()), ...jobColumns(types)], jobs, {
        caption: 'Jobs',
        none: empty('No such jobs', 'A job has a payload of bytes. A worker gets it and answers with a result.', './millrace jobs submit FILE'),
      })}
      ${pager(this, more ? jobs.at(-1).id : null)}
      ${chosenBar(this.chosen, jobActions, () => this.reload())}
      ${commandLine(`./millrace jobs list${parameters.order === 'oldest' ? '' : ' --newest'}${Object.entries({ ...wantedJobs(parameters), ...(parameters.text ? { text: parameters.text } : {}) }).map(([name, value]) => ` --${name} ${quoted(value)}`).join('')}`)}
    `;
  }
}

/** The first bytes of a payload or a result: folded if they are JSON, as text, or their size. */
async function preview(path, bytes) {
  if (bytes === null) return null;
  const { blob, more } = await getBytes(path, MAX_SHOWN);
  const text = await blob.text();
  if (text.includes('\u0000')) return { binary: true, bytes };
  if (!more && /^\s*[[{]/.test(text)) {
    try {
      return { value: parse(text), text, bytes };
    } catch {
      // It only begins like JSON.
    }
  }
  return { text, more, bytes };
}

const content = (title, shown, path) =>
  shown === null
    ? nothing
    : html`
        <h2>${title} <span class="count">${size(shown.bytes)}</span>
          <button type="button" class="plain small" @click=${() => attempt(() => download(path, title.toLowerCase()), 'Saved')}>Save</button>
        </h2>
        ${shown.binary
          ? html`<p class="calm">These are not text.</p>`
          : shown.value !== undefined
            ? json(shown.value)
            : html`<pre tabindex="0" role="region" aria-label=${title}>${shown.text}</pre>${shown.more ? html`<p class="calm">Only its first ${size(MAX_SHOWN)} are shown.</p>` : nothing}`}
      `;

class Job extends View {
  interval = 2000;
  previews = { of: null };

  async load() {
    const path = jobPath(this.route.path[1]);
    const job = await get(path);
    this.follow(`api/events${query({ batch: job.batchId })}`);
    const [failures, returns, waiting] = await Promise.all([
      job.failures ? get(`${path}/failures`) : [],
      job.returns ? get(`${path}/returns`) : [],
      job.status === 'pending' ? get(`why/${segment(job.id)}?kind=job`).catch(() => null) : null,
    ]);
    if (this.previews.of !== `${job.id}/${job.resultSize}`) {
      this.previews = {
        of: `${job.id}/${job.resultSize}`,
        payload: await preview(`${path}/payload`, job.payloadSize).catch(() => null),
        result: await preview(`${path}/result`, job.resultSize).catch(() => null),
      };
    }
    return { job, failures, returns, waiting };
  }

  content() {
    const { job, failures, returns, waiting } = this.data;
    const path = jobPath(job.id);
    const act = (action, done) => async () => {
      await attempt(action, done);
      this.reload();
    };
    const attempts = [
      ...failures.map(({ at, workerId, info, logs }) => ({ end: 'failed', ended: at, node: workerId ?? 'no worker', reason: info ?? 'no reason given', log: logs })),
      ...returns.map(({ at, workerId, reason }) => ({ end: 'returned', ended: at, node: workerId ?? 'no worker', reason })),
    ].sort((one, other) => millis(one.ended) - millis(other.ended));
    return html`
      ${head(job.display ?? html`Job <code>${job.key}</code>`, {
        above: [[['jobs'], 'Jobs']],
        note: html`${status(job.status)} ${progressOf(job)}`,
        actions: html`
          ${button('Retry', act(() => change('POST', `${path}/retry`), 'Offered again'), { shown: job.status === 'failed' })}
          ${button('Cancel', act(() => change('POST', `${path}/cancel`), 'Cancelled'), { shown: job.status === 'pending' || job.status === 'running' })}
          ${button('Edit and submit', () => this.#submitAgain(job), { role: 'submitter', shown: this.previews.payload?.text !== undefined && !this.previews.payload.more })}
          ${button('Delete', async () => {
            if (!(await ask('Delete this job?', 'Its payload, result and history go too.', 'Delete'))) return;
            if (await attempt(() => change('DELETE', path), 'Deleted')) location.hash = '#/jobs';
          }, { kind: 'danger' })}
        `,
      })}
      ${reasons(waiting)}
      ${facts([
        ['Id', html`<code>${job.id}</code>`],
        ['Key', job.key === job.id ? null : html`<code>${job.key}</code>`],
        ['Type', job.type],
        ['Priority', job.priority],
        ['Tags', job.tags],
        ['Batch', link(['batches', job.batchId], job.batchId)],
        ['Worker', job.workerId && link(['workers', job.workerId], job.workerId)],
        ['Submitted', html`${moment(job.submitted)} · ${time(job.submitted)}`],
        ['Waited', job.started && job.failures === 0 && job.returns === 0 ? duration(millis(job.started) - millis(job.submitted)) : null],
        ['Started', job.started && moment(job.started)],
        ['Ended', job.ended && moment(job.ended)],
        ['Took', job.started && job.ended ? took(job) : null],
        ['Not before', job.notBefore && moment(job.notBefore)],
        ['Made from', job.parent && link(['jobs', job.parent], job.parent)],
        ['Became', job.child && link(['jobs', job.child], job.child)],
        ['Schedule', job.schedule && html`${link(['schedules', job.schedule.name], job.schedule.name)}, for ${moment(job.schedule.nominal)}`],
      ])}
      ${attemptHistory(attempts)}
      ${content('Payload', this.previews.payload ?? null, `${path}/payload`)}
      ${content('Result', this.previews.result ?? null, `${path}/result`)}
      ${commandLine(`./millrace jobs show ${quoted(job.key)}`)}
    `;
  }

  /** Another job like this one, with changes. */
  async #submitAgain(job) {
    const like = { type: job.type, payload: this.previews.payload.text, priority: job.priority, description: job.display };
    submitJob(await get('api/types'), made => (location.hash = href(['jobs', made.id ?? made.key])), like);
  }
}

/**
 * Types in the order of their stages: each before the one that its results become.
 *
 * @returns `{type, stage}` each, the stage from 1; types that only lead to each other begin anywhere
 */
export function stages(types) {
  const byName = new Map(types.map(type => [type.name, type]));
  const targets = new Set(types.map(type => type.resultBecomes).filter(Boolean));
  const placed = new Map();
  const follow = (type, stage) => {
    for (let next = type; next && !placed.has(next.name); next = byName.get(next.resultBecomes)) {
      placed.set(next.name, stage++);
    }
  };
  types.filter(type => !targets.has(type.name)).forEach(type => follow(type, 1));
  types.forEach(type => follow(type, 1));
  return [...placed].map(([name, stage]) => ({ type: byName.get(name), stage }));
}

/** Settings as in the configuration: `running=5 starts=9/1m`. */
const settingsLine = settings => Object.entries(settings).map(([name, value]) => `${name}=${value}`).join(' ');

const readSettings = line =>
  Object.fromEntries(line.split(/\s+/).filter(Boolean).map(each => {
    const equals = each.indexOf('=');
    if (equals <= 0) throw new Error(`a setting is name=value, not ${each}`);
    return [each.slice(0, equals), each.slice(equals + 1)];
  }));

const setSettings = (type, done) =>
  edit(
    `Settings of ${type.name}`,
    [
      {
        name: 'line', label: 'Set while the server runs', value: settingsLine(type.set), placeholder: 'running=5 starts=100/1m attempts=3',
        help: 'They take precedence over the configuration; what is not here is as configured.',
      },
    ],
    async values => {
      await change('PUT', `api/types/${segment(type.name)}`, readSettings(values.line));
      done();
    },
    { yes: 'Set' });

class Types extends View {
  async load() {
    const [types, workers, kept] = await Promise.all([
      get('api/types'),
      get('api/workers').catch(() => []),
      get('retention/jobs').catch(() => ({ types: [] })),
    ]);
    return { types, workers, kept: new Map(kept.types.map(one => [one.type, one])) };
  }

  content() {
    const { types, workers, kept } = this.data;
    const connected = name => workers.filter(worker => worker.type === name && worker.state !== 'disconnected').length;
    const rows = stages(types);
    return html`
      ${head('Types and stages', { above: [[['jobs'], 'Jobs']], note: html`<p class="calm">The result of a job may become a job of the next stage.</p>` })}
      ${table(
        [
          { title: 'Type', value: ({ type, stage }) => html`${stage > 1 ? `${'\u2003'.repeat(stage - 2)}↳ ` : ''}${link(['jobs'], type.name, { type: type.name })}` },
          { title: 'Result becomes', value: ({ type }) => type.resultBecomes ?? html`<span class="calm">–</span>` },
          { title: 'Pending', kind: 'number', value: ({ type }) => link(['jobs'], count(type.jobs.pending), { type: type.name, status: 'pending' }) },
          { title: 'Running', kind: 'number', value: ({ type }) => link(['jobs'], count(type.jobs.running), { type: type.name, status: 'running' }) },
          { title: 'Workers', kind: 'number', value: ({ type }) => (connected(type.name) ? count(connected(type.name)) : status('no worker')) },
          { title: 'Settings', kind: 'wide', value: ({ type }) => brief(type.settings) },
          { title: 'Kept', value: ({ type }) => keptText(kept.get(type.name)) },
          { title: 'Description', kind: 'wide', value: ({ type }) => type.description ?? '' },
          { title: '', value: ({ type }) => button('Set', () => setSettings(type, () => this.reload()), { role: 'operator', kind: 'secondary small' }) },
        ],
        rows,
        { caption: 'Types', none: empty('No types', 'Jobs of this server have no types. Types are set in the configuration.') },
      )}
      ${commandLine('./millrace jobs types')}
    `;
  }
}

const keptText = kept => [kept?.keep_finished, kept?.keep_count && `${count(kept.keep_count)} jobs`].filter(Boolean).join(', ');

class Batches extends View {
  async load() {
    const { type, full, order, after } = this.route.parameters;
    const [types, batches] = await Promise.all([
      get('api/types'),
      get(`api/batches${query({ type, full, order: order === 'oldest' ? null : 'newest', after, limit: PAGE + 1 })}`),
    ]);
    return { types, batches: batches.slice(0, PAGE), more: batches.length > PAGE };
  }

  content() {
    const { types, batches, more } = this.data;
    const { type, full, order } = this.route.parameters;
    return html`
      ${head('Batches', { above: [[['jobs'], 'Jobs']] })}
      <div class="filters">
        ${types.length ? select('Type', type, [['', 'any'], ...types.map(({ name }) => [name, name])], type => this.filter({ type })) : nothing}
        ${select('State', full, [['', 'any'], ['true', 'full'], ['false', 'filling']], full => this.filter({ full }))}
        ${select('Order', order, [['', 'newest first'], ['oldest', 'oldest first']], order => this.filter({ order }))}
      </div>
      ${table(
        [
          { title: 'Batch', value: batch => link(['batches', batch.id], batch.id) },
          { title: 'Type', value: batch => batch.type ?? html`<span class="calm">–</span>` },
          { title: 'Jobs', kind: 'number', value: batch => `${count(batch.size)} of ${count(batch.capacity)}` },
          { title: 'State', value: batch => status(batch.full ? 'full' : 'filling') },
        ],
        batches,
        { caption: 'Batches', none: type || full ? empty('None of them has that') : empty('No batches yet', 'Jobs are put into batches as they are submitted.') },
      )}
      ${pager(this, more ? batches.at(-1).id : null)}
      ${commandLine(`./millrace jobs batches${order === 'oldest' ? '' : ' --newest'}${type ? ` --type ${quoted(type)}` : ''}${full ? (full === 'true' ? ' --full' : ' --no-full') : ''}`)}
    `;
  }
}

class Batch extends View {
  async load() {
    const id = this.route.path[1];
    const [batch, jobs] = await Promise.all([get(`api/batches/${segment(id)}`), get(`api/jobs${query({ batch: id, limit: PAGE + 1, after: this.route.parameters.after })}`)]);
    return { batch, jobs: jobs.slice(0, PAGE), more: jobs.length > PAGE };
  }

  content() {
    const { batch, jobs, more } = this.data;
    return html`
      ${head(`Batch ${batch.id}`, { above: [[['jobs'], 'Jobs'], [['batches'], 'Batches']] })}
      ${facts([['Type', batch.type], ...STATUSES.map(word => [word, count(batch.jobs[word])])])}
      ${table(jobColumns([]), jobs, { caption: 'Jobs' })} ${pager(this, more ? jobs.at(-1).id : null)}
      ${commandLine(`./millrace jobs list --batch ${batch.id}`)}
    `;
  }
}

define('millrace-jobs', Jobs);
define('millrace-job', Job);
define('millrace-types', Types);
define('millrace-batches', Batches);
define('millrace-batch', Batch);
