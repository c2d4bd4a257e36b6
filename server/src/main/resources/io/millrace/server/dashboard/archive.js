// Finished work that has left the store.

import { html, nothing } from 'lit';
import { get, query, segment } from './http.js';
import { duration, millis, taskStatus } from './format.js';
import {
  View, commandLine, define, empty, field, head, json, link, pager, quoted, select, status, table, tabs, time,
} from './view.js';

const COLUMNS = {
  tasks: [
    { title: 'Task', value: task => link(['tasks', task.id], html`<code>${task.id}</code>`) },
    { title: 'Queue', value: task => task.queue },
    { title: 'Status', value: task => status(taskStatus(task.status)) },
    { title: 'Node', value: task => task.node ?? nothing },
    { title: 'Finished', value: task => time(task.finished) },
  ],
  jobs: [
    { title: 'Job', value: job => link(['archive', 'jobs', job.id], html`<code>${job.id}</code>`) },
    { title: 'Type', value: job => job.type ?? nothing },
    { title: 'Status', value: job => status(job.status) },
    { title: 'Worker', value: job => job.worker ?? nothing },
    { title: 'Finished', value: job => time(job.finished) },
    { title: 'Took', kind: 'number', value: job => (job.started ? duration(millis(job.finished) - millis(job.started)) : nothing) },
  ],
  graphs: [
    { title: 'Node', value: node => link(['archive', 'graphs', node.id], node.name ?? node.id) },
    { title: 'Graph', kind: 'number', value: node => node.graph },
    { title: 'Type', value: node => node.type },
    { title: 'State', value: node => status(node.state) },
    { title: 'Why', kind: 'wide', value: node => node.reason ?? '' },
    { title: 'Finished', value: node => time(node.finished) },
  ],
};

/** The filters of each kind: names in the address, in the API and as options of the command line. */
const FILTERS = {
  tasks: ['queue', 'status', 'since', 'until'],
  jobs: ['type', 'status', 'since', 'until'],
  graphs: ['name', 'type', 'state', 'since', 'until'],
};

const CHOICES = {
  tasks: [['', 'any'], ['1', 'succeeded'], ['2', 'failed']],
  jobs: [['', 'any'], ['done', 'done'], ['failed', 'failed']],
  graphs: [['', 'any'], ...['finished', 'failed', 'killed', 'skipped', 'blocked'].map(word => [word, word])],
};

class Archive extends View {
  async load() {
    const { kind = 'tasks', order, after } = this.route.parameters;
    return { kind, ...(await get(`archive/${kind}${query({ ...this.#filters(kind), order, after, limit: 50 })}`)) };
  }

  #filters(kind) {
    // A status of another kind is still in the address when the kind is changed.
    const isOf = (name, value) => !['status', 'state'].includes(name) || CHOICES[kind].some(([choice]) => choice === value);
    return Object.fromEntries(
      FILTERS[kind].map(name => [name, this.route.parameters[name]]).filter(([name, value]) => value && isOf(name, value)));
  }

  content() {
    const { kind, next } = this.data;
    const parameters = this.route.parameters;
    return html`
      ${head('Archive')}
      ${tabs(this, 'kind', [['', 'Tasks'], ['jobs', 'Jobs'], ['graphs', 'Graphs']])}
      <div class="filters">
        ${kind === 'tasks' ? field('Queue', parameters.queue, queue => this.filter({ queue })) : nothing}
        ${kind === 'graphs' ? field('Name', parameters.name, name => this.filter({ name })) : nothing}
        ${kind === 'tasks' ? nothing : field('Type', parameters.type, type => this.filter({ type }))}
        ${kind === 'graphs'
          ? select('State', parameters.state, CHOICES[kind], state => this.filter({ state }))
          : select('Status', parameters.status, CHOICES[kind], status => this.filter({ status }))}
        ${field('Since', parameters.since, since => this.filter({ since }), '2026-12-01T00:00:00Z')}
        ${field('Before', parameters.until, until => this.filter({ until }), '2026-12-02T00:00:00Z')}
        ${select('Order', parameters.order, [['', 'newest first'], ['oldest', 'oldest first']], order => this.filter({ order }))}
      </div>
      ${table(COLUMNS[kind], this.data[kind], {
        caption: 'Archived work',
        none: empty('Nothing archived', 'Finished tasks, jobs and graphs come here when they leave the store, by age or number.', './millrace queues set mail --keep-finished 1d'),
      })}
      ${pager(this, next)}
      ${commandLine([
        `./millrace archive list ${kind}`,
        ...Object.entries(this.#filters(kind)).map(([name, value]) => `--${name} ${quoted(value)}`),
        ...(parameters.order === 'oldest' ? ['--oldest'] : []),
      ].join(' '))}
    `;
  }
}

/** An archived job or node. Archived tasks are shown by the page of tasks. */
class Archived extends View {
  interval = 3_600_000;

  async load() {
    const [, kind, id] = this.route.path;
    return get(`archive/${kind}/${segment(id)}`);
  }

  content() {
    const [, kind, id] = this.route.path;
    const { document, ...row } = this.data;
    return html`
      ${head(row.name ?? document?.description ?? html`<code>${id}</code>`, {
        above: [[['archive'], 'Archive']],
        note: status(row.status ?? row.state),
      })}
      ${json(row)}
      <h2>As it was stored</h2>
      ${json(document)}
      ${commandLine(`./millrace archive show ${kind} ${quoted(id)}`)}
    `;
  }
}

define('millrace-archive', Archive);
define('millrace-archived', Archived);
